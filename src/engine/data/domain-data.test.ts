import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explanationLines, loadDomainData, packagedDir } from './domain-data.ts';

const lists = loadDomainData();
const verdict = (domain: string) => lists.disposable(domain).verdict;

describe('disposable domains', () => {
  it('knows the well-known services', () => {
    for (const domain of [
      'mailinator.com',
      'guerrillamail.com',
      'sharklasers.com',
      '10minutemail.com',
      'yopmail.com',
      'temp-mail.org',
      'trashmail.com',
      'maildrop.cc',
      'mailnesia.com',
      'dispostable.com',
      'getnada.com',
      'mohmal.com',
    ]) {
      expect(lists.disposable(domain), domain).toEqual({ verdict: 'disposable', matched: domain });
    }
  });

  it('has more than 15,000 of them, and a date', () => {
    expect(lists.size).toBeGreaterThan(15_000);
    expect(lists.version).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  it('matches parents down to the registrable domain', () => {
    expect(lists.disposable('a.b.mailinator.com')).toEqual({ verdict: 'disposable', matched: 'mailinator.com' });
    expect(verdict('notmailinator-at-all.com')).toBe('none');
  });

  it('knows internationalised names as A-labels', () => {
    expect(verdict('xn--9kq967o.com')).toBe('disposable');
    expect(lists.explain('BÜCHER.example').domain).toBe('xn--bcher-kva.example');
    expect(verdict(lists.explain('foto-en-el-álbum.info').domain)).toBe('suspected');
  });

  it('ignores listed public suffixes and free-subdomain zones, and unrelated domains below them', () => {
    for (const zone of [
      'ddns.net',
      'eu.org',
      'pp.ua',
      'dynu.net',
      'dns.army',
      'mooo.com',
      'us.to',
      'cu.cc',
      'com',
      'co.uk',
    ]) {
      expect(lists.disposable(zone), zone).toEqual({ verdict: 'none', matched: null });
      expect(verdict(`a-stranger-of-ours.${zone}`), zone).toBe('none');
    }
    expect(lists.explain('dns.army').named[0]?.setAside).toBe('suffix');
    expect(lists.explain('mooo.com').named[0]?.setAside).toBe('zone');
  });

  it('keeps domains listed below a zone', () => {
    expect(verdict('0-mailer.dynv6.net')).toBe('disposable');
    expect(verdict('dynv6.net')).toBe('none');
  });

  it('only suspects domains listed by too few sources', () => {
    expect(verdict('0-180.com')).toBe('suspected');
    expect(lists.disposable('mail.0-180.com')).toEqual({ verdict: 'suspected', matched: '0-180.com' });
  });

  it('gives precedence to allowlist and relays', () => {
    expect(lists.disposable('sify.com')).toEqual({ verdict: 'allowed', matched: 'sify.com' });
    expect(lists.disposable('vip.tom.com')).toEqual({ verdict: 'allowed', matched: 'tom.com' });
    for (const relay of ['duck.com', 'mozmail.com', 'jane.anonaddy.com', 'passmail.net', 'privaterelay.appleid.com']) {
      expect(verdict(relay), relay).toBe('allowed');
      expect(lists.relayOperator(relay), relay).not.toBeNull();
      expect(lists.isKnownDomain(relay), relay).toBe(true);
    }
    for (const none of ['appleid.com', 'icloud.com', 'gmail.com', 'mailinator.com'])
      expect(lists.relayOperator(none)).toBeNull();
  });

  it('never throws, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(['disposable', 'suspected', 'allowed', 'none']).toContain(verdict(text));
        lists.disposableHost([text], [text]);
        lists.provider(text);
        lists.role(text);
        lists.isKnownDomain(text);
        expect(explanationLines(lists.explain(text)).length).toBeGreaterThan(1);
      }),
    );
  });

  it('never matches an entry above the registrable domain', () => {
    const label = fc.stringMatching(/^[a-z]{12}$/);
    fc.assert(
      fc.property(
        label,
        fc.constantFrom('com', 'co.uk', 'github.io', 'eu.org', 'edu.pl', 'cloudns.cc'),
        (name, suffix) => {
          expect(verdict(`${name}.${suffix}`)).toBe('none');
        },
      ),
    );
  });
});

describe('disposable mail hosts', () => {
  it('matches a host, a parent of it, or a host in a disposable domain', () => {
    expect(lists.disposableHost(['in.mail.tm'], [])?.service).toContain('mail.tm');
    expect(lists.disposableHost(['mx7.emailfake.com'], [])?.matched).toBe('emailfake.com');
    expect(lists.disposableHost(['mx.example.org', 'mx99.trashmail.com'], [])).toEqual({
      matched: 'trashmail.com',
      service: 'trashmail.com',
    });
  });

  it('never counts shared hosts, relays, or suspicions', () => {
    for (const host of [
      'route1.mx.cloudflare.net',
      'mx1.forwardemail.net',
      'aspmx.l.google.com',
      'mx.duck.com',
      'mx.0-180.com',
    ]) {
      expect(lists.disposableHost([host], ['192.0.2.1']), host).toBeNull();
    }
    expect(lists.disposableHost([], [])).toBeNull();
  });
});

describe('providers', () => {
  it('takes the longest suffix', () => {
    expect(lists.provider('eur.olc.protection.outlook.com')).toEqual({ name: 'outlook.com', kind: 'mailbox' });
    expect(lists.provider('example-com.mail.protection.outlook.com')).toEqual({
      name: 'microsoft365',
      kind: 'mailbox',
    });
    expect(lists.provider('mx0a-001.pphosted.com')?.kind).toBe('gateway');
    expect(lists.provider('mx1.simplelogin.co')).toEqual({ name: 'simplelogin', kind: 'relay' });
    expect(lists.provider('mx.example.org')).toBeNull();
    expect(lists.provider('notgoogle.com')).toBeNull();
  });

  it('knows free providers', () => {
    for (const free of ['gmail.com', 'yahoo.com', 'gmx.de', 'qq.com', 'hush.com', 'dr.com'])
      expect(lists.isFree(free), free).toBe(true);
    for (const none of ['mailinator.com', 'ibm.com', 'eu.org', 'vahoo.com', 'mail.gmail.com']) {
      expect(lists.isFree(none), none).toBe(false);
    }
  });

  it('knows the domains that must not be corrected', () => {
    for (const known of [
      'yahoo.com.br',
      'y7mail.com',
      'hotmail.gr',
      'tuta.com',
      'gmx.ch',
      'yopmail.com',
      'outlook.de',
    ]) {
      expect(lists.isKnownDomain(known), known).toBe(true);
    }
    for (const slip of ['gmial.com', 'gmai.com', 'hotmial.com', 'vahoo.com', 'gnail.com']) {
      expect(lists.isKnownDomain(slip), slip).toBe(false);
    }
  });

  it('suggests known, clean providers only, once each', () => {
    expect(lists.suggestDomains[0]).toBe('gmail.com');
    expect(new Set(lists.suggestDomains).size).toBe(lists.suggestDomains.length);
    for (const domain of lists.suggestDomains) {
      expect(verdict(domain), domain).toBe('none');
      expect(lists.isKnownDomain(domain), domain).toBe(true);
    }
  });
});

describe('free providers', () => {
  it.each([
    'gmx.ch',
    'hotmail.se',
    'yahoo.com.ve',
    'aol.fr',
    'yandex.com.tr',
    'vip.163.com',
    'vp.pl',
    'tutanota.com',
  ])('have national domains: %s', (domain) => expect(lists.isFree(domain)).toBe(true));

  it('are known by their name where their hosts take the mail', () => {
    for (const [domain, provider] of [
      ['hotmail.is', 'outlook.com'],
      ['yahoo.com.ec', 'yahoo'],
      ['gmx.gr', 'gmx/web.de'],
    ] as const) {
      expect(lists.isFree(domain)).toBe(false);
      expect(lists.isFreeAt(domain, provider)).toBe(true);
      expect(lists.isFreeAt(domain, 'microsoft365')).toBe(false);
      expect(lists.isFreeAt(`my${domain}`, provider)).toBe(false);
      expect(lists.isFreeAt(`mail.${domain}`, provider)).toBe(false);
    }
  });
});

describe('roles', () => {
  it.each([
    ['info', 'role'],
    ['info+newsletter', 'role'],
    ['POSTMASTER', 'role'],
    ['no-reply', 'role'],
    ['no_reply', 'role'],
    ['Customer.Service', 'role'],
    ['tools-request', 'role'],
    ['bestellung', 'role'],
    ...['info1', 'info.2', 'no-reply-123', 'Postmaster01', '"info"', 'Büro', 'buero', 'buro'].map((one) => [
      one,
      'role',
    ]),
    ...['info.de', 'us-info', 'sales_dept', 'support.team.emea', 'no-reply-accounts'].map((one) => [one, 'role']),
    ...['инфо', 'ÜGYFÉLSZOLGÁLAT', 'ugyfelszolgalat', 'отдел-продажи', '客服'].map((one) => [one, 'role']),
    ...['sales.john', 'john.info', 'anna.support', 'max1', 'office.of.the.president.of.us'].map((one) => [one, 'none']),
    ['hr', 'perhaps'],
    ['boston', 'perhaps'],
    ['JOHN', 'none'],
    ['john.smith', 'none'],
    ['i.t', 'none'],
    ['+info', 'none'],
    ['', 'none'],
  ])('%s: %s', (localPart, expected) => {
    expect(lists.role(localPart)).toBe(expected);
  });
});

describe('explanations', () => {
  it('list the sources of a listed domain', () => {
    const found = lists.explain('Foo.Mailinator.COM.');
    expect(found).toMatchObject({ registrable: 'mailinator.com', verdict: 'disposable', matched: 'mailinator.com' });
    expect(found.named).toHaveLength(1);
    expect(found.named[0]?.sources).toContain('fakefilter 0.1.1476');
    expect(explanationLines(found).join('\n')).toContain('disposable-email-domains-js 1.26.0');
  });

  it('say why a listed domain is cleared', () => {
    expect(lists.explain('sify.com')).toMatchObject({ verdict: 'allowed', allow: { domain: 'sify.com' } });
    expect(lists.explain('x.duck.com').relay?.operator).toContain('DuckDuckGo');
    expect(explanationLines(lists.explain('duck.com')).join('\n')).toContain('privacy relay');
  });

  it('say that nothing is known', () => {
    expect(lists.explain('example.org')).toMatchObject({ verdict: 'none', matched: null, named: [], known: false });
    expect(lists.explain('not a domain').registrable).toBeNull();
  });
});

describe('the files of data/', () => {
  it('match the manifest', () => {
    const { files, version, counts } = JSON.parse(readFileSync(join(packagedDir(), 'lists.json'), 'utf8'));
    expect(version).toBe(lists.version);
    expect(counts.disposable).toBe(lists.size);
    for (const [name, hash] of Object.entries({ ...files.built, ...files.kept })) {
      const found = createHash('sha256')
        .update(readFileSync(join(packagedDir(), name)))
        .digest('hex');
      expect(found, `${name}: run \`npm run lists\``).toBe(hash);
    }
  });
});
