import { describe, expect, it, onTestFinished } from 'vitest';
import { type Entry, LIES, type Lie, type Zone, zone } from '../../../tests/lab/dns.ts';
import { find, PUBLIC, run, TOOLS, world } from '../../../tests/lab/lookup.ts';
import { systemClock as clock } from '../../kernel/clock.ts';
import type { DnsFinding } from '../evidence.ts';
import { lookUpMailServers, type MxLookupOptions } from './mx-lookup.ts';
import { createResolver } from './resolver.ts';
import { lookUpFromCache, runLookup } from './run-lookup.ts';

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
    await resolver.ask('d.test', 'MX', { deadline: clock.elapsed() + 1000 });
    await dns.pause('silent');
    expect(await run(resolver, 'd.test')).toMatchObject({ finding: 'resolver_unavailable', failure: 'timeout' });
  });

  it('spends no more time on later queries once the first have timed out', async () => {
    const MX = Array.from({ length: 12 }, (_, i) => [i, `mx${i}.test`] as const);
    const { dns, resolver } = await world({ 'd.test': { MX } }, 5000);
    await resolver.ask('d.test', 'MX', { deadline: clock.elapsed() + 1000 });
    await dns.pause('silent');
    expect(await run(resolver, 'd.test', {}, 30_000)).toMatchObject({ finding: 'resolver_unavailable' });
    expect(dns.asked('mx11.test')).toBe(0);
  });

  it('gives a slow domain the time of a patient caller, at every step', async () => {
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

  it('lets a patient caller wait beyond the query of one who is not', async () => {
    const { dns, resolver } = await world(
      { 'd.test': { MX: [[1, 'mx.test']], fault: { slow: 900 } }, 'mx.test': { A: [PUBLIC] } },
      300,
    );
    const hasty = run(resolver, 'd.test');
    const patient = [run(resolver, 'd.test', {}, 25_000, 20_000), run(resolver, 'd.test', {}, 25_000, 15_000)];
    expect(await hasty).toMatchObject({ finding: 'dns_failure' });
    for (const found of await Promise.all(patient)) expect(found).toMatchObject({ finding: 'mx' });
    expect(dns.asked('d.test')).toBeLessThanOrEqual(4);
    expect(resolver.health().asking).toBe(0);
  });

  it('does not let a hasty caller wait for the query of a patient one', async () => {
    const { resolver } = await world({ 'd.test': { fault: 'silent' } }, 300);
    const patient = run(resolver, 'd.test', {}, 60_000, 50_000);
    expect(await run(resolver, 'd.test', {}, 60_000)).toMatchObject({ finding: 'dns_failure', failure: 'timeout' });
    expect(resolver.health().asking).toBe(1);
    resolver.close();
    await patient;
  });

  it('has no patience with a resolver that is silent for everybody', async () => {
    const MX = Array.from({ length: 12 }, (_, i) => [i, `mx${i}.test`] as const);
    const { dns, resolver } = await world({ 'd.test': { MX } }, 300);
    await resolver.ask('d.test', 'MX', { deadline: clock.elapsed() + 1000 });
    await dns.pause('silent');
    // The test would time out.
    const found = await Promise.all(['d.test', 'e.test'].map((name) => run(resolver, name, {}, 300_000, 290_000)));
    expect(found.map(({ finding }) => finding)).toEqual(['resolver_unavailable', 'resolver_unavailable']);
  });

  it("is also the domain's failure when the caller's deadline passes first", async () => {
    const { resolver } = await world({ 'd.test': { fault: 'silent' } }, 2000);
    expect(await run(resolver, 'd.test', {}, 100)).toMatchObject({ finding: 'dns_failure', failure: 'timeout' });
  });

  it('has no verdict after the caller disconnected', async () => {
    const { resolver } = await world({ 'd.test': { fault: 'silent' } }, 2000);
    const gone = new AbortController();
    const limit = { deadline: clock.elapsed() + 10_000, clock, signal: gone.signal };
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
  async function findingIn(records: Zone, lie: Lie | null = null) {
    const dns = await zone({ ...controls, ...records });
    if (lie) dns.lie(lie);
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

  it.each(LIES)('is not called missing by a resolver that lies: %s', async (lie) => {
    expect((await findingIn({}, lie)).finding).toBe('resolver_unavailable');
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
    await resolver.ask('d.test', 'MX', { deadline: clock.elapsed() + 1000 });
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
    expect(now({ lists })?.provider?.name).toBe('other');
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
    await runLookup(lookUpMailServers('d.test', TOOLS), resolver, { deadline: clock.elapsed() + 10_000, clock: later });
    const first = lookUpFromCache('d.test', TOOLS, resolver);
    expect(first?.finding).toBe('mx');
    ahead = 121_000;
    expect(lookUpFromCache('d.test', TOOLS, resolver)).toBeNull();
    await resolver.ask('mx.test', 'A', { deadline: later.elapsed() + 10_000 });
    await resolver.ask('mx.test', 'AAAA', { deadline: later.elapsed() + 10_000 });
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
