import { describe, expect, it } from 'vitest';
import { find, PUBLIC, run, TOOLS, world } from '../../../tests/lab/lookup.ts';
import { systemClock as clock } from '../../kernel/clock.ts';
import { lookUpMailServers } from './mx-lookup.ts';
import { runLookup, runLookupFromCache } from './run-lookup.ts';

describe('runLookup', () => {
  it.each([
    ['servfail', 'servfail'],
    ['refused', 'refused'],
    ['silent', 'timeout'],
    ['garbled', 'malformed'],
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

describe('runLookupFromCache', () => {
  it('answers only from the cache', async () => {
    const { dns, resolver } = await world({ 'd.test': { MX: [[1, 'mx.test']] }, 'mx.test': { A: [PUBLIC] } });
    const now = (domain = 'd.test') => runLookupFromCache(lookUpMailServers(domain, TOOLS), resolver);
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

  it('never answers with a failure', async () => {
    const { resolver } = await world({ 'd.test': { fault: 'servfail' } });
    expect(await run(resolver, 'd.test')).toMatchObject({ finding: 'dns_failure' });
    expect(runLookupFromCache(lookUpMailServers('d.test', TOOLS), resolver)).toBeNull();
  });
});
