import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsLab, zone } from '../../../tests/lab/dns.ts';
import { systemClock as clock } from '../../kernel/clock.ts';
import { createResolver, type Resolver } from '../dns/resolver.ts';
import { checkHost, expand, isSpf, parseSpf } from './spf.ts';

/** Record → the result for 192.0.2.10 (of `v6`: for 2001:db8::10) as jane@<name>. */
const RECORDS: Record<string, readonly [text: string, result: string, v6?: string]> = {
  'all.test': ['v=spf1 -all', 'fail'],
  'soft.test': ['v=spf1 ~all', 'softfail'],
  'neutral.test': ['v=spf1 ?all', 'neutral'],
  'empty.test': ['v=spf1', 'neutral'],
  'ip4.test': ['v=spf1 ip4:192.0.2.10 -all', 'pass', 'fail'],
  'net.test': ['v=spf1 ip4:192.0.2.0/28 -all', 'pass'],
  'othernet.test': ['v=spf1 ip4:192.0.2.16/28 -all', 'fail'],
  'everyone.test': ['v=spf1 ip4:10.0.0.0/0 -all', 'pass', 'fail'],
  'ip6.test': ['v=spf1 ip6:2001:db8::/32 -all', 'fail', 'pass'],
  'mapped.test': ['v=spf1 ip6:2001:db8::10 ip4:192.0.2.10 -all', 'pass', 'pass'],
  'a.test': ['v=spf1 a -all', 'pass', 'pass'],
  'acidr.test': ['v=spf1 a:near.test/24//64 -all', 'pass', 'pass'],
  'mx.test': ['V=SPF1 MX -ALL', 'pass'],
  'mxof.test': ['v=spf1 mx:mx.test -all', 'pass'],
  'include.test': ['v=spf1 include:ip4.test -all', 'pass'],
  'includefail.test': ['v=spf1 include:all.test ip4:192.0.2.10 -all', 'pass'],
  'includenone.test': ['v=spf1 include:near.test -all', 'permerror'],
  'redirect.test': ['v=spf1 redirect=ip4.test', 'pass', 'fail'],
  'redirectnone.test': ['v=spf1 redirect=near.test', 'permerror'],
  'both.test': ['v=spf1 -all redirect=ip4.test', 'fail'],
  'exists.test': ['v=spf1 exists:%{ir}.%{l}.lists.test -all', 'pass'],
  'ptr.test': ['v=spf1 ptr:names.test -all', 'pass'],
  'loop.test': ['v=spf1 include:loop.test -all', 'permerror'],
  'unknown.test': ['v=spf1 modifier=x exp=why.test ip4:192.0.2.10 -all', 'pass'],
  'typo.test': ['v=spf1 ipv4:192.0.2.10 -all', 'permerror'],
  'badnet.test': ['v=spf1 ip4:192.0.2.300 -all', 'permerror'],
  'badbits.test': ['v=spf1 ip4:192.0.2.0/33 -all', 'permerror'],
  'badmacro.test': ['v=spf1 exists:%{z}.test -all', 'permerror'],
  'badafter.test': ['v=spf1 ip4:192.0.2.10 ip4:192.0.2.300 -all', 'permerror'],
  'badmacroafter.test': ['v=spf1 ip4:192.0.2.10 a:%{d0}.test -all', 'permerror'],
  'badredirect.test': ['v=spf1 ip4:192.0.2.10 redirect=%x.test', 'permerror'],
  'lame.test': ['v=spf1 include:broken.test -all', 'temperror'],
  'void.test': ['v=spf1 a:no1.test a:no2.test a:no3.test ip4:192.0.2.10 -all', 'permerror'],
  'twovoid.test': ['v=spf1 a:no1.test a:no2.test ip4:192.0.2.10 -all', 'pass'],
  'ten.test': [`v=spf1 ${'include:all.test '.repeat(10)}ip4:192.0.2.10 -all`, 'pass'],
  'eleven.test': [`v=spf1 ${'include:all.test '.repeat(11)}ip4:192.0.2.10 -all`, 'permerror'],
  'tenmx.test': ['v=spf1 mx:many.test ip4:192.0.2.10', 'permerror'],
};

let dns: DnsLab;
let resolver: Resolver;
beforeAll(async () => {
  dns = await zone({
    ...Object.fromEntries(Object.entries(RECORDS).map(([name, [text]]) => [name, { TXT: ['other=1', text] }])),
    'a.test': { TXT: ['v=spf1 a -all'], A: ['192.0.2.10'], AAAA: ['2001:db8::10'] },
    'near.test': { A: ['192.0.2.77'], AAAA: ['2001:db8::77'] },
    'mx.test': { TXT: ['V=SPF1 MX -ALL'], MX: [[10, 'a.test']] },
    'many.test': { MX: Array.from({ length: 11 }, (_, i) => [i, `m${i}.test`] as const) },
    'twice.test': { TXT: ['v=spf1 -all', 'v=spf1 +all'] },
    '10.2.0.192.jane.lists.test': { A: ['127.0.0.2'] },
    '10.2.0.192.in-addr.arpa': { PTR: ['mail.names.test', 'liar.other.test'] },
    'mail.names.test': { A: ['192.0.2.10'] },
    'liar.other.test': { A: ['192.0.2.11'] },
    'broken.test': { fault: 'servfail' },
  });
  resolver = createResolver({ servers: dns.servers, timeoutMs: 300, clock });
});
afterAll(async () => {
  resolver.close();
  await dns.close();
});

const check = (domain: string, ip = '192.0.2.10') =>
  checkHost({ ip, sender: `jane@${domain}`, helo: 'check.test' }, (name, type) =>
    resolver.ask(name, type, { deadlineMs: clock.elapsed() + 800 }),
  );

describe('check_host', () => {
  it.each(Object.entries(RECORDS))('%s %j', async (domain, [, result, v6]) => {
    expect(await check(domain)).toMatchObject({ result });
    if (v6) expect(await check(domain, '2001:db8::10')).toMatchObject({ result: v6 });
  });

  it('no record is none, two are a permerror, with a reason', async () => {
    expect(await check('near.test')).toEqual({ result: 'none', why: 'near.test has no SPF record' });
    expect(await check('nowhere.test')).toMatchObject({ result: 'none' });
    expect(await check('twice.test')).toEqual({ result: 'permerror', why: 'twice.test has more than one SPF record' });
    expect(await check('net.test')).toEqual({ result: 'pass', why: '"ip4:192.0.2.0/28" of net.test' });
    expect(await check('broken.test')).toMatchObject({ result: 'temperror' });
  });
});

describe('macros (RFC 7208 §7.4)', () => {
  const values = {
    sender: 'strong-bad@email.example.com',
    ip: '192.0.2.3',
    helo: 'mx.test',
    domain: 'email.example.com',
  };
  it.each([
    ['%{s}', 'strong-bad@email.example.com'],
    ['%{o}', 'email.example.com'],
    ['%{d4}', 'email.example.com'],
    ['%{d2}', 'example.com'],
    ['%{d1}', 'com'],
    ['%{dr}', 'com.example.email'],
    ['%{d2r}', 'example.email'],
    ['%{l}', 'strong-bad'],
    ['%{l-}', 'strong.bad'],
    ['%{lr-}', 'bad.strong'],
    ['%{l1r-}', 'strong'],
    ['%{ir}.%{v}._spf.%{d2}', '3.2.0.192.in-addr._spf.example.com'],
    ['%{lr-}.lp._spf.%{d2}', 'bad.strong.lp._spf.example.com'],
    ['%{p}.%{h}%%', 'unknown.mx.test%'],
    ['%{x}', null],
    ['100%', null],
    ['%{d0}', null],
  ])('%s → %s', (spec, name) => expect(expand(spec, values)).toBe(name));

  it('of IPv6', () => {
    expect(expand('%{ir}.%{v}', { ...values, ip: '2001:db8::cb01' })).toBe(
      '1.0.b.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6',
    );
  });

  it('never throw for any text, and names are never too long', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (spec) => {
        const name = expand(spec, values);
        return name === null || name.length <= 253 || !name.includes('.');
      }),
    );
  });
});

describe('a record', () => {
  it('starts with its version as a separate term', () => {
    expect(['v=spf1', 'v=spf1 -all', 'v=spf10 -all', ' v=spf1'].map(isSpf)).toEqual([true, true, false, false]);
  });

  it('never makes the parser throw', () => {
    const term = fc.constantFrom(
      'a',
      'mx:',
      'ip4:1.2.3.4',
      '/24',
      '//64',
      'redirect=',
      'include:x',
      '-all',
      '%{',
      ' ',
      ':',
      '/',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(term, fc.string()), { maxLength: 30 }), (parts) => {
        parseSpf(`v=spf1 ${parts.join('')}`);
      }),
    );
  });
});
