import { describe, expect, it } from 'vitest';
import { diagnosed, doctorLab, EGRESS, HELO, type IllRow } from '../../../tests/lab/doctor.ts';
import { firstAdvice } from '../../kernel/doctor-checks.ts';
import { adviceOf, type DoctorDeps, diagnoseIdentity, type Finding } from './diagnose.ts';
import { ptrName, reversed } from './reverse.ts';

const PTR = '5.113.0.203.in-addr.arpa';
const V6 = '2001:db8::5';
const GOOD_SPF = [`v=spf1 ip4:${EGRESS} -all`];
const senderOf = (changed: Partial<DoctorDeps['sender']>): Partial<DoctorDeps> => ({
  sender: { helo: HELO, from: `verify@${HELO}`, port: 9, bind: [], ...changed },
});
const withSpf = (text: string) => ({ [HELO]: { A: [EGRESS], TXT: [text] } });

const ROWS: readonly IllRow[] = [
  {
    ill: 'no name',
    problem: 'no_helo_name',
    world: senderOf({ helo: null, from: null }),
    says: 'fail helo',
    found: /no name/,
    fix: /MAILVET_SMTP_HELO/,
  },
  {
    ill: 'an unqualified name',
    problem: 'helo_unqualified',
    world: senderOf({ helo: 'mailhost' }),
    says: 'fail helo',
    found: /"mailhost" is not a fully qualified host name/,
    fix: /MAILVET_SMTP_HELO/,
  },
  {
    ill: 'a name that does not resolve',
    problem: 'helo_unresolved',
    zone: { [HELO]: { TXT: GOOD_SPF } },
    says: 'fail helo',
    found: /does not resolve/,
    fix: /A \(or AAAA\) record/,
  },
  {
    ill: 'a name whose DNS fails',
    zone: { [HELO]: { fault: 'servfail' } },
    says: 'warn helo',
    found: /could not/,
    fix: /resolver/,
  },
  {
    ill: 'a name of another address',
    problem: 'helo_elsewhere',
    zone: { [HELO]: { A: ['203.0.113.6'], TXT: GOOD_SPF } },
    says: 'fail egress',
    found: /203\.0\.113\.5 .*to which check\.lab\.test does not resolve/,
    fix: /Add 203\.0\.113\.5 to the A records/,
  },
  { ill: 'no server says who we are', persona: {}, says: 'skip egress', found: /could not be determined/, fix: /BIND/ },
  {
    ill: 'an address that is not ours',
    problem: 'not_of_this_host',
    world: senderOf({ bind: ['192.0.2.77'] }),
    says: 'fail port',
    found: /192.0.2.77 is not an address of this host/,
    fix: /MAILVET_SMTP_BIND/,
  },
  {
    ill: 'no PTR',
    problem: 'ptr_missing',
    zone: { [PTR]: { TXT: ['x'] } },
    says: 'fail ptr',
    found: /has no PTR record/,
    fix: /5\.113\.0\.203\.in-addr\.arpa, to check\.lab\.test/,
  },
  {
    ill: 'a PTR that does not lead back',
    problem: 'ptr_unconfirmed',
    zone: { [PTR]: { PTR: ['pool-5.isp.test'] } },
    says: 'fail ptr',
    found: /pool-5\.isp\.test, which does not resolve to/,
    fix: /must resolve to 203\.0\.113\.5/,
  },
  {
    ill: 'a PTR of another name',
    problem: 'ptr_differs',
    zone: { [PTR]: { PTR: ['other.lab.test'] }, 'other.lab.test': { A: [EGRESS] } },
    says: 'warn ptr',
    found: /is other\.lab\.test, and EHLO says check\.lab\.test/,
    fix: /MAILVET_SMTP_HELO=other\.lab\.test/,
  },
  {
    ill: 'a PTR whose DNS fails',
    zone: { [PTR]: { fault: 'servfail' } },
    says: 'warn ptr',
    found: /could not/,
    fix: /again/,
  },
  {
    ill: 'SPF forbids us',
    problem: 'spf_denied',
    zone: withSpf('v=spf1 mx -all'),
    says: 'fail spf',
    found: /denies 203\.0\.113\.5 \("-all"/,
    fix: /Add ip4:203\.0\.113\.5/,
  },
  {
    ill: 'SPF is broken',
    problem: 'spf_invalid',
    zone: withSpf('v=spf1 ipv4:1.2.3.4'),
    says: 'fail spf',
    found: /is invalid/,
    fix: /Correct it/,
  },
  {
    ill: 'SPF shrugs',
    problem: 'spf_unauthorized',
    zone: withSpf('v=spf1 ~all'),
    says: 'warn spf',
    found: /not authorize .* softfail/,
    fix: /Add ip4/,
  },
  {
    ill: 'no SPF',
    problem: 'spf_missing',
    zone: withSpf('x'),
    says: 'warn spf',
    found: /has no SPF/,
    fix: /"v=spf1 ip4:203\.0\.113\.5 -all"/,
  },
  {
    ill: 'listed by Spamhaus',
    problem: 'blocklisted',
    zone: { '5.113.0.203.zen.spamhaus.org': { A: ['127.0.0.3', '127.0.0.10'] } },
    says: 'fail blocklists',
    found: /Spamhaus ZEN \(CSS: .*; PBL: /,
    fix: /https:\/\/check\.spamhaus\.org\//,
  },
  {
    ill: 'listed by a lesser list',
    problem: 'blocklisted_minor',
    zone: { '5.113.0.203.bl.mailspike.net': { A: ['127.0.0.11'] } },
    says: 'warn blocklists',
    found: /Mailspike \(very bad reputation\)/,
    fix: /removal/,
  },
  {
    ill: 'a public resolver',
    zone: {
      '5.113.0.203.zen.spamhaus.org': { A: ['127.255.255.254'] },
      '2.0.0.127.zen.spamhaus.org': { A: ['127.255.255.254'] },
    },
    says: 'warn blocklists',
    found: /Spamhaus ZEN \(it does not answer public resolvers\)/,
    fix: /MAILVET_DNS_SERVERS/,
  },
  {
    ill: 'a list that lists everything',
    zone: { '*.bl.spamcop.net': { A: ['127.0.0.2'] } },
    says: 'warn blocklists',
    found: /SpamCop Blocking List \(it lists everything\)/,
    fix: /resolver/,
  },
  {
    ill: 'a list that is gone',
    zone: { '2.0.0.127.zen.spamhaus.org': { A: ['192.0.2.9'] } },
    says: 'warn blocklists',
    found: /Spamhaus ZEN \(its test entry is missing\)/,
    fix: /resolver/,
  },
];

describe('name and address of an unhealthy host', () => {
  it.each(ROWS)('$ill: $says', async ({ says, found, fix, problem = null, ...illness }) => {
    const [result, check] = says.split(' ') as [Finding['result'], Finding['check']];
    const expected = { result, found: expect.stringMatching(found), fix: expect.stringMatching(fix) };
    expect((await diagnosed(illness)).of(check)).toEqual([{ check, ...expected, problem }]);
  });

  it.each([
    ['permits us', `v=spf1 ip4:${EGRESS} -all`, 'pass', null],
    ['forbids us', 'v=spf1 -all', 'fail', 'spf_denied'],
    ['is not there', 'x', 'pass', null],
  ] as const)('the SPF record of a HELO name that is not the domain of the sender %s', async (_, text, result, problem) => {
    const { of } = await diagnosed({
      zone: { ...withSpf(text), 'sender.test': { TXT: GOOD_SPF } },
      world: senderOf({ from: 'verify@sender.test' }),
    });
    expect(of('spf')).toMatchObject(
      [
        { result: 'pass', found: /sender\.test permits/ },
        { result, problem },
      ].map((one) => ({
        ...one,
        ...('found' in one ? { found: expect.stringMatching(one.found) } : {}),
      })),
    );
  });
});

describe('without a connection', () => {
  const connectsToNobody: Partial<DoctorDeps> = {
    probeGreeting: () => {
      throw new TypeError('somebody was connected to');
    },
  };
  const identityOf = async (illness: Parameters<typeof doctorLab>[0]) => {
    const lab = await doctorLab({
      ...illness,
      world: { isPublic: () => true, ...illness?.world, ...connectsToNobody },
    });
    const findings = await diagnoseIdentity(lab.world);
    await lab.close();
    return findings;
  };

  it('the names of the address that HELO has are looked at, or that which is configured', async () => {
    const fit = await identityOf({});
    expect(fit.map(({ check, result }) => `${result} ${check}`)).toEqual([
      'pass helo',
      'pass ptr',
      'pass spf',
      'pass blocklists',
    ]);
    const other = await identityOf({ world: senderOf({ bind: ['203.0.113.9'] }) });
    expect(other.find(({ check }) => check === 'ptr')).toMatchObject({ problem: 'ptr_missing' });
  });

  it('of several problems, that which costs most answers comes first', async () => {
    const found = await identityOf({ zone: { ...withSpf('x'), [PTR]: { TXT: ['x'] } } });
    expect(
      adviceOf(found)
        .map(({ problem }) => problem)
        .toSorted(),
    ).toEqual(['ptr_missing', 'spf_missing']);
    expect(firstAdvice(adviceOf(found))).toMatchObject({
      problem: 'ptr_missing',
      fix: expect.stringContaining('PTR record'),
    });
    expect(firstAdvice(adviceOf(found).toReversed())?.problem).toBe('ptr_missing');
    expect(firstAdvice([])).toBeNull();
  });
});

describe('the address', () => {
  it('each local address has its own lines', async () => {
    const greetedAs = (bind: string | null) => (bind === '127.0.0.1' ? EGRESS : '203.0.113.99');
    const said = { connected: true, banner: '220 hi', code: 250, said: '250 hi', error: null };
    const { of } = await diagnosed({
      world: {
        ...senderOf({ from: '<>', bind: ['127.0.0.1', '127.0.0.2'] }),
        isPublic: () => true,
        probeGreeting: (_, { bind }) =>
          Promise.resolve({ ...said, greetedAs: greetedAs(bind), localAddress: bind, proxyError: null }),
      },
    });
    expect(of('port').map(({ result }) => result)).toEqual(['pass', 'pass']);
    expect(of('spf').map(({ result }) => result)).toEqual(['pass', 'fail']);
    expect(of('ptr').map(({ result }) => result)).toEqual(['pass', 'fail']);
  });

  it('an echoed address that cannot be ours is ignored', async () => {
    const { of } = await diagnosed({ world: { isPublic: (ip) => ip === '127.0.0.1' } });
    expect(of('egress')[0]!.found).toMatch(/^This host connects from 127\.0\.0\.1 \(the local end of the connection\)/);
  });

  it('has a name in the DNS', () => {
    expect(ptrName(EGRESS)).toBe(PTR);
    expect(ptrName(V6)).toBe(`5.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`);
    expect(reversed('::ffff:7f00:2')).toBe(`2.0.0.0.0.0.f.7.f.f.f.f.${'0.'.repeat(19)}0`);
  });
});
