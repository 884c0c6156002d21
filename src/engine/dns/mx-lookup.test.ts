import { describe, expect, it, onTestFinished } from 'vitest';
import { type Entry, FALSE_ANSWERS, type FalseAnswers, type Zone, zone } from '../../../tests/lab/dns.ts';
import { find, PUBLIC, run, TOOLS, world } from '../../../tests/lab/lookup.ts';
import { systemClock as clock } from '../../kernel/clock.ts';
import type { DnsEvidence, DnsFinding } from '../evidence.ts';
import { lookUpFromCache, lookUpMailServers, type MxLookupOptions, runLookup } from './mx-lookup.ts';
import { createResolver } from './resolver.ts';

describe('runLookup', () => {
  it.each([
    ['servfail', 'servfail'],
    ['refused', 'refused'],
    ['silent', 'timeout'],
    ['garbled', 'malformed'],
    ['referral_ra', 'refused'],
    ['referral_aa', 'refused'],
  ] as const)("calls it the domain's failure (%s) while the resolver answers for others", async (fault, failure) => {
    const expected = { finding: 'dns_failure', failure };
    expect(await find({ 'd.test': { fault } })).toMatchObject(expected);
    expect(await find({ 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { fault } })).toMatchObject(expected);
    expect(await find({ 'd.test': { TXT: ['x'], fault: { A: fault } } })).toMatchObject(expected);
  });

  it.each([
    ['silent', 'timeout'],
    ['servfail', 'servfail'],
    ['refused', 'refused'],
    ['closed', 'network'],
  ] as const)('calls it our resolver when it is %s for everybody, and is right again by itself', async (how, failure) => {
    const { dns, resolver } = await world({ '*.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC] } }, 300);
    expect(await run(resolver, 'a.test')).toMatchObject({ finding: 'mx' });
    await dns.pause(how);
    expect(await run(resolver, 'b.test')).toMatchObject({ finding: 'resolver_unavailable', failure });
    expect(await run(resolver, 'a.test')).toMatchObject({ finding: 'mx' }); // cached
    await dns.resume();
    expect(await run(resolver, 'b.test')).toMatchObject({ finding: 'mx' });
  });

  it('detects that the resolver died between the MX and address lookups', async () => {
    const { dns, resolver } = await world({ 'd.test': { MX: [[1, 'mx.test']] } }, 300);
    await resolver.ask('d.test', 'MX', { deadlineMs: clock.elapsed() + 1000 });
    await dns.pause('silent');
    expect(await run(resolver, 'd.test')).toMatchObject({ finding: 'resolver_unavailable', failure: 'timeout' });
  });

  it('spends no more time on later queries once the first have timed out', async () => {
    const MX = Array.from({ length: 12 }, (_, i) => [i, `mx${i}.test`] as const);
    const { dns, resolver } = await world({ 'd.test': { MX } }, 5000);
    await resolver.ask('d.test', 'MX', { deadlineMs: clock.elapsed() + 1000 });
    await dns.pause('silent');
    expect(await run(resolver, 'd.test', {}, 30_000)).toMatchObject({ finding: 'resolver_unavailable' });
    expect(dns.asked('mx11.test')).toBe(0);
  });

  it('gives a slow domain the time of a caller with a long deadline, at every step', async () => {
    const slow: Zone = {
      'd.test': { MX: [[1, 'mx.test']], fault: { slow: 900 } },
      'mx.test': { A: [PUBLIC], fault: { slow: 900 } },
    };
    const { resolver } = await world(slow, 300);
    expect(await run(resolver, 'd.test')).toMatchObject({ finding: 'dns_failure', failure: 'timeout' });
    expect(await run(resolver, 'd.test', {}, 25_000, 20_000)).toMatchObject({ finding: 'mx' });
    const { resolver: other } = await world({ ...slow, 'd.test': { ...slow['d.test'], fault: { slow: 5_500 } } }, 300);
    expect(await run(other, 'd.test', {}, 25_000, 20_000)).toMatchObject({ finding: 'mx' });
  });

  it('lets a caller with a long deadline wait beyond the query of one with a short deadline', async () => {
    const { dns, resolver } = await world(
      { 'd.test': { MX: [[1, 'mx.test']], fault: { slow: 900 } }, 'mx.test': { A: [PUBLIC] } },
      300,
    );
    const hasty = run(resolver, 'd.test');
    const longer = [run(resolver, 'd.test', {}, 25_000, 20_000), run(resolver, 'd.test', {}, 25_000, 15_000)];
    expect(await hasty).toMatchObject({ finding: 'dns_failure' });
    for (const found of await Promise.all(longer)) expect(found).toMatchObject({ finding: 'mx' });
    expect(dns.asked('d.test')).toBeLessThanOrEqual(4);
    expect(resolver.health().asking).toBe(0);
  });

  it('does not let a caller with a short deadline wait for the query of one with a long deadline', async () => {
    const { resolver } = await world({ 'd.test': { fault: 'silent' } }, 300);
    const longer = run(resolver, 'd.test', {}, 60_000, 50_000);
    expect(await run(resolver, 'd.test', {}, 60_000)).toMatchObject({ finding: 'dns_failure', failure: 'timeout' });
    expect(resolver.health().asking).toBe(1);
    resolver.close();
    await longer;
  });

  it('ends early at a resolver that is silent for everybody', async () => {
    const MX = Array.from({ length: 12 }, (_, i) => [i, `mx${i}.test`] as const);
    const { dns, resolver } = await world({ 'd.test': { MX } }, 300);
    await resolver.ask('d.test', 'MX', { deadlineMs: clock.elapsed() + 1000 });
    await dns.pause('silent');
    // The test would time out.
    const found = await Promise.all(['d.test', 'e.test'].map((name) => run(resolver, name, {}, 300_000, 290_000)));
    expect(found.map(({ finding }) => finding)).toEqual(['resolver_unavailable', 'resolver_unavailable']);
  });

  it("is also the domain's failure when the caller's deadline passes first", async () => {
    const { resolver } = await world({ 'd.test': { fault: 'silent' } }, 2000);
    expect(await run(resolver, 'd.test', {}, 500)).toMatchObject({ finding: 'dns_failure', failure: 'timeout' });
  });

  it('has no verdict after the caller disconnected', async () => {
    const { resolver } = await world({ 'd.test': { fault: 'silent' } }, 2000);
    const gone = new AbortController();
    const limit = { deadlineMs: clock.elapsed() + 10_000, clock, signal: gone.signal };
    const open = runLookup(lookUpMailServers('d.test', TOOLS), resolver, limit);
    gone.abort();
    expect(await open).toMatchObject({ finding: 'resolver_unavailable' });
  });

  it('does not wait long for one address family when the other has arrived', async () => {
    const { resolver } = await world(
      { 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC], fault: { AAAA: 'silent' } } },
      60_000,
    );
    const found = await run(resolver, 'd.test', {}, 4500);
    expect(found).toMatchObject({ finding: 'mx', hosts: [{ addresses: [PUBLIC] }] });
    expect(resolver.health().asking).toBe(1); // still pending
  });

  it('waits for a slow host when nothing else is left', async () => {
    const { resolver } = await world(
      {
        'd.test': {
          MX: [
            [1, 'private.test'],
            [2, 'late.test'],
          ],
        },
        'private.test': { A: ['10.0.0.1'] },
        'late.test': { A: [PUBLIC], fault: { slow: 1700 } },
      },
      4000,
    );
    const found = await run(resolver, 'd.test', { hostsWanted: 2 });
    expect(found).toMatchObject({ finding: 'mx', hosts: [{ host: 'late.test' }] });
  });
});

describe('a top-level domain that no list has', () => {
  const mail: Entry = { MX: [[1, 'mx.com']] };
  const controls: Zone = { com: { NS: ['a.nic.com'] }, 'mx.com': { A: [PUBLIC] } };

  /** The finding for `d.newtld`, and all questions of the look-up. */
  async function findingIn(records: Zone, falseAnswers: FalseAnswers | null = null) {
    const dns = await zone({ ...controls, ...records });
    if (falseAnswers) dns.answerFalsely(falseAnswers);
    const resolver = createResolver({ servers: dns.servers, timeoutMs: 300, clock, controlNames: ['com'] });
    onTestFinished(async () => {
      resolver.close();
      await dns.close();
    });
    const { finding } = await run(resolver, 'd.newtld');
    return { finding, dns, resolver };
  }

  it.each<[string, Zone, DnsFinding]>([
    ['was delegated', { newtld: { NS: ['a.nic.newtld'] }, 'd.newtld': mail }, 'mx'],
    ['was delegated, and the domain has an address only', { 'd.newtld': { A: [PUBLIC] } }, 'implicit_mx'],
    ['was delegated, but without this domain', { newtld: { NS: ['a.nic.newtld'] } }, 'domain_not_found'],
    ['was delegated, for another domain', { 'other.newtld': mail }, 'domain_not_found'],
    ['does not exist', {}, 'tld_not_found'],
    ['cannot be looked up', { newtld: { fault: 'servfail' }, 'd.newtld': { fault: 'servfail' } }, 'dns_failure'],
    ['is refused', { newtld: { fault: 'refused' }, 'd.newtld': { fault: 'refused' } }, 'dns_failure'],
    ['has silent servers', { newtld: { fault: 'silent' }, 'd.newtld': { fault: 'silent' } }, 'dns_failure'],
    ['cannot be looked up, unlike the domain', { newtld: { fault: 'servfail' }, 'd.newtld': mail }, 'mx'],
    ['is silent, unlike the domain', { newtld: { fault: 'silent' }, 'd.newtld': mail }, 'mx'],
  ])('%s', async (_, records, finding) => {
    expect((await findingIn(records)).finding).toBe(finding);
  });

  it.each(FALSE_ANSWERS)('is not called missing by a resolver with false answers: %s', async (falseAnswers) => {
    expect((await findingIn({}, falseAnswers)).finding).toBe('resolver_unavailable');
  });

  it('is answered from the cache as a whole', async () => {
    const { dns, resolver } = await findingIn({});
    const before = dns.queries.length;
    expect(lookUpFromCache('d.newtld', TOOLS, resolver)).toMatchObject({ finding: 'tld_not_found' });
    expect((await run(resolver, 'd.newtld')).finding).toBe('tld_not_found');
    expect(dns.queries.length).toBe(before);
    expect(lookUpFromCache('other.newtld', TOOLS, resolver)).toBeNull();
  });
});

describe('lookUpFromCache', () => {
  it('answers only from the cache', async () => {
    const { dns, resolver } = await world({ 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC] } });
    const now = (domain = 'd.test') => lookUpFromCache(domain, TOOLS, resolver);
    expect(now()).toBeNull();
    await resolver.ask('d.test', 'MX', { deadlineMs: clock.elapsed() + 1000 });
    expect(now()).toBeNull();
    const waited = await run(resolver, 'd.test');
    const asked = dns.queries.length;
    expect(now()).toEqual(waited);
    await run(resolver, 'gone.test');
    expect(now('gone.test')).toMatchObject({ finding: 'domain_not_found' });
    expect(dns.queries.length).toBe(asked + 1);
  });

  it('makes the evidence once for the same answers, lists and number of hosts', async () => {
    const { resolver } = await world({
      'd.test': {
        MX: [
          [1, 'mx.test'],
          [2, 'mx2.test'],
        ],
      },
      'mx.test': { A: [PUBLIC] },
      'mx2.test': { A: [PUBLIC] },
    });
    await run(resolver, 'd.test', { hostsWanted: 2 });
    const now = (options: Partial<MxLookupOptions> = {}) =>
      lookUpFromCache('d.test', { ...TOOLS, ...options }, resolver);
    const first = now();
    expect(first?.hosts).toHaveLength(1);
    expect(now()).toBe(first);
    expect(now({ hostsWanted: 2 })?.hosts).toHaveLength(2);
    const lists = { provider: () => ({ name: 'other', kind: 'mailbox' as const }) };
    expect(now({ domainData: lists })?.provider?.name).toBe('other');
  });

  it('does not outlive an answer of which it was made', async () => {
    let ahead = 0;
    const later = { now: () => clock.now() + ahead, elapsed: () => clock.elapsed() + ahead };
    const dns = await zone({ 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC], ttl: 120 } });
    const resolver = createResolver({ servers: dns.servers, timeoutMs: 300, clock: later });
    onTestFinished(async () => {
      resolver.close();
      await dns.close();
    });
    await runLookup(lookUpMailServers('d.test', TOOLS), resolver, {
      deadlineMs: clock.elapsed() + 10_000,
      clock: later,
    });
    const first = lookUpFromCache('d.test', TOOLS, resolver);
    expect(first?.finding).toBe('mx');
    ahead = 121_000;
    expect(lookUpFromCache('d.test', TOOLS, resolver)).toBeNull();
    await resolver.ask('mx.test', 'A', { deadlineMs: later.elapsed() + 10_000 });
    await resolver.ask('mx.test', 'AAAA', { deadlineMs: later.elapsed() + 10_000 });
    const second = lookUpFromCache('d.test', TOOLS, resolver);
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
  });

  it('never answers with a failure', async () => {
    const { resolver } = await world({ 'd.test': { fault: 'servfail' } });
    expect(await run(resolver, 'd.test')).toMatchObject({ finding: 'dns_failure' });
    expect(lookUpFromCache('d.test', TOOLS, resolver)).toBeNull();
  });
});

describe('mailServers', () => {
  it('returns hosts by preference, with the addresses that may be dialled', async () => {
    const found = await find({
      'd.test': {
        MX: [
          [20, 'b.big.test'],
          [10, 'a.big.test'],
        ],
      },
      'a.big.test': { A: [PUBLIC, '10.0.0.1'], AAAA: ['2a00:1450::1', '::1'] },
      'b.big.test': { A: ['8.8.4.4'] },
    });
    expect(found).toEqual({
      finding: 'mx',
      failure: null,
      records: [
        { host: 'a.big.test', priority: 10 },
        { host: 'b.big.test', priority: 20 },
      ],
      hosts: [{ host: 'a.big.test', priority: 10, addresses: [PUBLIC, '2a00:1450::1'] }],
      unusable: [],
      provider: { name: 'big', kind: 'mailbox' },
    });
  });

  it('looks up only as many hosts as wanted', async () => {
    const { dns, resolver } = await world({
      'd.test': {
        MX: [
          [1, 'a.test'],
          [2, 'b.test'],
          [3, 'c.test'],
          [4, 'e.test'],
        ],
      },
      '*.test': { A: [PUBLIC] },
    });
    const found = await run(resolver, 'd.test', { hostsWanted: 3 });
    expect(found.hosts.map(({ host }) => host)).toEqual(['a.test', 'b.test', 'c.test']);
    expect(dns.queries.map(({ name, type }) => `${name} ${type}`).sort()).toEqual(
      ['d.test MX', 'a.test A', 'a.test AAAA', 'b.test A', 'b.test AAAA', 'c.test A', 'c.test AAAA'].sort(),
    );
  });

  it('shuffles hosts of equal preference, and only those; the records stay sorted', async () => {
    const { resolver } = await world({
      'd.test': {
        MX: [
          [5, 'z.test'],
          [1, 'first.test'],
          [5, 'a.test'],
          [5, 'm.test'],
          [9, 'last.test'],
        ],
      },
      '*.test': { A: [PUBLIC] },
    });
    const orders = new Set<string>();
    for (let i = 0; i < 36; i++) {
      let n = 0;
      const random = () => ((i >> (n++ % 3)) % 6) / 6;
      const found = await run(resolver, 'd.test', { hostsWanted: 5, random });
      const hosts = found.hosts.map(({ host }) => host.split('.')[0]);
      expect([hosts[0], hosts[4]]).toEqual(['first', 'last']);
      expect(found.records.map(({ host }) => host.split('.')[0])).toEqual(['first', 'a', 'm', 'z', 'last']);
      orders.add(hosts.join());
    }
    expect(orders.size).toBe(6);
  });

  it.each<[string, Zone, Partial<DnsEvidence>]>([
    ['a domain that does not exist', {}, { finding: 'domain_not_found', records: [] }],
    ['no MX and no address', { 'd.test': { TXT: ['x'] } }, { finding: 'no_mx_records', records: [], unusable: [] }],
    [
      'no MX but an address',
      { 'd.test': { A: [PUBLIC] } },
      {
        finding: 'implicit_mx',
        records: [{ host: 'd.test', priority: 0 }],
        hosts: [{ host: 'd.test', priority: 0, addresses: [PUBLIC] }],
      },
    ],
    [
      'no MX but an IPv6 address',
      { 'd.test': { AAAA: ['2a00:1450::1'] } },
      { finding: 'implicit_mx', hosts: [{ host: 'd.test', priority: 0, addresses: ['2a00:1450::1'] }] },
    ],
    [
      'no MX but a private address',
      { 'd.test': { A: ['10.0.0.1'] } },
      { finding: 'mx_unusable', unusable: [{ host: 'd.test', why: 'not_routable' }], hosts: [] },
    ],
    ['a null MX', { 'd.test': { MX: [[0, '']], A: [PUBLIC] } }, { finding: 'null_mx', hosts: [], unusable: [] }],
    [
      'a null MX beside a real one',
      {
        'd.test': {
          MX: [
            [0, ''],
            [10, 'mx.test'],
          ],
        },
        'mx.test': { A: [PUBLIC] },
      },
      { finding: 'mx', unusable: [{ host: '.', why: 'invalid_name' }] },
    ],
    [
      'a CNAME at the domain',
      { 'd.test': { CNAME: 'e.test' }, 'e.test': { MX: [[10, 'mx.test']] }, 'mx.test': { A: [PUBLIC] } },
      { finding: 'mx', records: [{ host: 'mx.test', priority: 10 }] },
    ],
    [
      'a CNAME at the mail host',
      { 'd.test': { MX: [[10, 'mx.test']] }, 'mx.test': { CNAME: 'real.test' }, 'real.test': { A: [PUBLIC] } },
      { finding: 'mx', hosts: [{ host: 'mx.test', priority: 10, addresses: [PUBLIC] }] },
    ],
    ['a CNAME to nowhere', { 'd.test': { CNAME: 'gone.test' } }, { finding: 'domain_not_found' }],
    [
      'the same host twice',
      {
        'd.test': {
          MX: [
            [20, 'mx.test'],
            [10, 'MX.test'],
          ],
        },
        'mx.test': { A: [PUBLIC] },
      },
      { finding: 'mx', records: [{ host: 'mx.test', priority: 10 }] },
    ],
  ])('finds, with %s, %o', async (_name, records, expected) => {
    expect(await find(records)).toMatchObject({ failure: null, ...expected });
  });

  it('reports why each unusable host is unusable', async () => {
    const MX = [
      [1, '192.0.2.1'],
      [2, 'localhost'],
      [3, 'mx.localhost'],
      [4, 'bad!name.test'],
      [5, 'gone.test'],
      [6, 'empty.test'],
      [7, 'private.test'],
      [8, 'special.test'],
    ] as const;
    const zone: Zone = {
      'd.test': { MX },
      'empty.test': { TXT: ['x'] },
      'private.test': { A: ['127.0.0.1', '192.168.1.1'], AAAA: ['fe80::1'] },
      'special.test': { AAAA: ['::ffff:10.0.0.1', '64:ff9b::7f00:1'] },
    };
    const found = await find(zone);
    expect(found.finding).toBe('mx_unusable');
    expect(Object.fromEntries(found.unusable.map(({ host, why }) => [host, why]))).toEqual({
      '192.0.2.1': 'ip_literal',
      localhost: 'localhost',
      'mx.localhost': 'localhost',
      'bad!name.test': 'invalid_name',
      'gone.test': 'no_address',
      'empty.test': 'no_address',
      'private.test': 'not_routable',
      'special.test': 'not_routable',
    });
    const allowed = await find(zone, { allowPrivate: true, hostsWanted: 3 });
    expect(allowed.hosts.map(({ host }) => host)).toEqual(['private.test', 'special.test']);
  });

  it('rejects targets with invalid octets', async () => {
    const found = await find({ 'd.test': { fault: 'odd_names' }, 'mx.good.test': { A: [PUBLIC] } });
    expect(found).toMatchObject({
      finding: 'mx_unusable',
      unusable: [{ why: 'invalid_name' }, { why: 'invalid_name' }],
    });
  });

  it('evaluates a cached answer again for callers with other options', async () => {
    const { resolver } = await world({ 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC, '10.0.0.1'] } });
    const addresses = async (engine: Partial<MxLookupOptions>) =>
      (await run(resolver, 'd.test', engine)).hosts[0]?.addresses;
    expect(await addresses({})).toEqual([PUBLIC]);
    expect(await addresses({ allowPrivate: true })).toEqual([PUBLIC, '10.0.0.1']);
    expect(await addresses({ own: new Set(['2056:2056']) })).toBeUndefined();
    expect(await addresses({})).toEqual([PUBLIC]);
  });

  it('refuses our own addresses', async () => {
    const own = new Set(['2056:2056']); // 8.8.8.8 as ownAddresses spells it
    const found = await find({ 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC] } }, { own });
    expect(found).toMatchObject({ finding: 'mx_unusable', unusable: [{ host: 'mx.test', why: 'not_routable' }] });
  });

  it('reads the first 20 of 200 MX records, and 8 addresses per family', async () => {
    const MX = Array.from({ length: 200 }, (_, i) => [i + 1, `mx${i}.test`] as const);
    const { dns, resolver } = await world({ 'd.test': { MX }, '*.test': { A: ['10.0.0.1'] } });
    const found = await run(resolver, 'd.test');
    expect(found.finding).toBe('mx_unusable');
    expect(found.records.length).toBe(20);
    expect(found.unusable.length).toBe(20);
    expect(dns.asked('mx20.test')).toBe(0);

    const many = await find({ 'd.test': { A: Array.from({ length: 60 }, (_, i) => `8.8.8.${i}`) } });
    expect(many.hosts[0]?.addresses.length).toBe(8);
  });

  it('skips hosts whose lookup fails, and is inconclusive only when none is left', async () => {
    const zone: Zone = {
      'd.test': {
        MX: [
          [1, 'fails.test'],
          [2, 'gone.test'],
          [3, 'good.test'],
        ],
      },
      'fails.test': { fault: 'servfail' },
      'good.test': { A: [PUBLIC] },
    };
    expect(await find(zone)).toMatchObject({
      finding: 'mx',
      failure: null,
      hosts: [{ host: 'good.test' }],
      unusable: [
        { host: 'fails.test', why: 'dns_failure' },
        { host: 'gone.test', why: 'no_address' },
      ],
    });
    expect(await find({ ...zone, 'good.test': { A: ['10.0.0.1'] } })).toMatchObject({
      finding: 'dns_failure',
      failure: 'servfail',
    });
  });

  it('needs one address family only', async () => {
    const zone: Zone = { 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC], fault: { AAAA: 'servfail' } } };
    expect(await find(zone)).toMatchObject({ finding: 'mx', hosts: [{ addresses: [PUBLIC] }] });
  });
});
