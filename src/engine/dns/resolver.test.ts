import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type DnsLab, type Fault, type Zone, type ZoneOptions, zone } from '../../../tests/lab/dns.ts';
import { systemClock as clock } from '../../kernel/clock.ts';
import type { RecordType } from './message.ts';
import { createResolver, type Resolver } from './resolver.ts';
import type { DnsServer } from './transport.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function lab(records: Zone, options?: ZoneOptions): Promise<DnsLab> {
  const made = await zone(records, options);
  opened.push(made);
  return made;
}
function resolverOf(servers: readonly DnsServer[], timeoutMs = 1000): Resolver {
  const made = createResolver({ servers, timeoutMs, clock });
  opened.push(made);
  return made;
}
const inMs = (ms: number) => ({ deadlineMs: clock.elapsed() + ms });
const ask = (resolver: Resolver, name: string, type: RecordType = 'A') => resolver.ask(name, type, inMs(10_000));

/** A closed port. */
async function deadPort(): Promise<DnsServer> {
  const made = await lab({});
  await made.pause('closed');
  return made.servers[0]!;
}

describe('ask', () => {
  it('parses each record type', async () => {
    const dns = await lab({
      'all.test': {
        A: ['192.0.2.1', '192.0.2.2'],
        AAAA: ['2001:db8::1'],
        MX: [[10, 'MX.all.test']],
        TXT: ['v=spf1 -all'],
        NS: ['ns.all.test'],
      },
      '1.2.0.192.in-addr.arpa': { PTR: ['mx.all.test'] },
      'null.test': { MX: [[0, '']] },
    });
    const resolver = resolverOf(dns.servers);
    const records = async (name: string, type: RecordType) => {
      const answer = await ask(resolver, name, type);
      return answer.kind === 'records' ? answer.records : answer;
    };
    expect(await records('all.test', 'A')).toEqual([
      { type: 'A', address: '192.0.2.1' },
      { type: 'A', address: '192.0.2.2' },
    ]);
    expect(await records('ALL.test.', 'AAAA')).toEqual([{ type: 'AAAA', address: '2001:db8::1' }]);
    expect(await records('all.test', 'MX')).toEqual([{ type: 'MX', host: 'mx.all.test', priority: 10 }]);
    expect(await records('all.test', 'TXT')).toEqual([{ type: 'TXT', text: 'v=spf1 -all' }]);
    expect(await records('all.test', 'NS')).toEqual([{ type: 'NS', host: 'ns.all.test' }]);
    expect(await records('1.2.0.192.in-addr.arpa', 'PTR')).toEqual([{ type: 'PTR', host: 'mx.all.test' }]);
    expect(await records('null.test', 'MX')).toEqual([{ type: 'MX', host: '.', priority: 0 }]);
  });

  it('distinguishes NXDOMAIN, NODATA and the kinds of failure', async () => {
    const faults: Record<string, Fault> = {
      servfail: 'servfail',
      refused: 'refused',
      timeout: 'silent',
      malformed: 'garbled',
    };
    const dns = await lab({
      'here.test': { A: ['192.0.2.1'] },
      ...Object.fromEntries(Object.entries(faults).map(([name, fault]) => [name, { fault }])),
    });
    const resolver = resolverOf(dns.servers, 300);
    expect((await ask(resolver, 'here.test')).kind).toBe('records');
    expect(await ask(resolver, 'here.test', 'MX')).toEqual({ kind: 'nodata', ttlSeconds: 60, cname: [] });
    expect(await ask(resolver, 'gone.test')).toEqual({ kind: 'nxdomain', ttlSeconds: 60, cname: [] });
    for (const kind of Object.keys(faults)) {
      expect(await ask(resolver, kind)).toEqual({ kind });
      expect([kind, dns.asked(kind)]).toEqual([kind, 2]); // two attempts with one server
    }
    expect(await ask(resolverOf([await deadPort()]), 'here.test')).toEqual({ kind: 'network' });
  });

  it('rejects names that cannot be queried without sending a query', async () => {
    const dns = await lab({});
    const resolver = resolverOf(dns.servers);
    for (const name of [
      '',
      '..',
      'a..b',
      '.a',
      'a b.test',
      'é.test',
      `${'x'.repeat(64)}.test`,
      'a.'.repeat(127) + 'aa',
    ]) {
      expect([name, (await ask(resolver, name)).kind]).toEqual([name, 'nxdomain']);
    }
    expect(dns.queries).toEqual([]);
  });

  it.each(['truncate', 'split'] as const)('retries over TCP when the reply is truncated (%s)', async (fault) => {
    const dns = await lab({ 'big.test': { A: ['192.0.2.1'], fault } });
    const answer = await ask(resolverOf(dns.servers), 'big.test');
    expect(answer.kind === 'records' && answer.records).toEqual([{ type: 'A', address: '192.0.2.1' }]);
    expect(dns.queries.map(({ over }) => over)).toEqual(['udp', 'tcp']);
  });

  it('reads at most 200 MX records', async () => {
    const MX = Array.from({ length: 250 }, (_, i) => [i, `mx${i}.many.test`] as const);
    const dns = await lab({ 'many.test': { MX } });
    const answer = await ask(resolverOf(dns.servers), 'many.test', 'MX');
    expect(answer.kind === 'records' && answer.records.length).toBe(200);
  });

  it('retries without EDNS if the server rejects it', async () => {
    const dns = await lab({ 'old.test': { A: ['192.0.2.1'], fault: 'no_edns' }, 'worse.test': { fault: 'formerr' } });
    const resolver = resolverOf(dns.servers);
    expect((await ask(resolver, 'old.test')).kind).toBe('records');
    expect(dns.queries.map(({ edns }) => edns)).toEqual([true, false]);
    expect(await ask(resolver, 'worse.test')).toEqual({ kind: 'servfail' });
  });

  it.each([
    'wrong_id',
    'wrong_question',
    'wrong_type',
    'wrong_class',
    'echo',
    'garbage',
  ] as const)('ignores replies to something else: %s', async (fault) => {
    const dns = await lab({ 'forged.test': { A: ['192.0.2.66'], fault } });
    expect(await ask(resolverOf(dns.servers, 40), 'forged.test')).toEqual({ kind: 'timeout' });
  });

  it('waits for the real reply after a forged one', async () => {
    const dns = await lab({ 'true.test': { A: ['192.0.2.1'], fault: 'forged_first' } });
    expect((await ask(resolverOf(dns.servers), 'true.test')).kind).toBe('records');
    expect(dns.asked('true.test')).toBe(1);
  });

  it.each([
    'self_pointer',
    'pointer_loop',
    'pointer_chain',
    'lying_length',
    'long_address',
    'lying_count',
    'truncate_always',
    'cut',
  ] as const)('calls a reply that lies about itself malformed: %s', async (fault) => {
    const dns = await lab({ 'liar.test': { A: ['192.0.2.1'], fault } });
    expect(await ask(resolverOf(dns.servers, 2000), 'liar.test')).toEqual({ kind: 'malformed' });
  });

  it.each([
    'referral',
    'referral_aa',
    'referral_ra',
  ] as const)('treats a %s as REFUSED, for every type, and tries the next server', async (fault) => {
    const dns = await lab({ 'lame.test': { fault } });
    const other = await lab({ 'lame.test': { A: ['192.0.2.1'] } });
    for (const type of ['A', 'AAAA', 'MX', 'NS'] as const) {
      expect(await ask(resolverOf(dns.servers), 'lame.test', type)).toEqual({ kind: 'refused' });
    }
    expect(await ask(resolverOf([...dns.servers, ...other.servers]), 'lame.test')).toMatchObject({ kind: 'records' });
  });

  it('survives arbitrary replies', async () => {
    const dns = await lab({ '*.noise.test': { A: ['192.0.2.1'] } });
    const resolver = resolverOf(dns.servers, 15);
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom<Fault>('garbage', 'garbled'), async (fault) => {
        const name = `n${n++}.noise.test`;
        dns.set(name, { fault });
        expect(['timeout', 'malformed', 'nodata', 'records']).toContain((await ask(resolver, name)).kind);
      }),
      { numRuns: 60 },
    );
    expect((await ask(resolverOf(dns.servers), 'still.noise.test')).kind).toBe('records');
  });
});

describe('CNAME', () => {
  it('is followed to its end, within a reply and across replies', async () => {
    const chain = { 'a.test': { CNAME: 'b.test' }, 'b.test': { CNAME: 'c.test', ttl: 120 } };
    const dns = await lab({ ...chain, 'c.test': { A: ['192.0.2.1'] } });
    const found = { kind: 'records', records: [{ type: 'A', address: '192.0.2.1' }], ttlSeconds: 120 };
    expect(await ask(resolverOf(dns.servers), 'a.test')).toEqual({ ...found, cname: ['b.test', 'c.test'] });

    // A server that returns only the first link: one more query.
    dns.set('a.test', { CNAME: 'b.test', fault: 'first_link' });
    dns.set('b.test', { CNAME: 'c.test', ttl: 120, fault: 'first_link' });
    dns.queries.length = 0;
    expect(await ask(resolverOf(dns.servers), 'a.test')).toEqual({ ...found, cname: ['b.test', 'c.test'] });
    expect(dns.queries.map(({ name }) => name)).toEqual(['a.test', 'b.test', 'c.test']);
    dns.set('c.test', { CNAME: 'a.test', fault: 'first_link' });
    expect(await ask(resolverOf(dns.servers), 'a.test')).toEqual({ kind: 'malformed' });
  });

  it('to nowhere is NXDOMAIN, to a name without such records NODATA', async () => {
    const dns = await lab({
      'a.test': { CNAME: 'gone.test' },
      'b.test': { CNAME: 'empty.test' },
      'empty.test': { TXT: ['x'] },
    });
    const resolver = resolverOf(dns.servers);
    expect(await ask(resolver, 'a.test')).toEqual({ kind: 'nxdomain', ttlSeconds: 60, cname: ['gone.test'] });
    expect(await ask(resolver, 'b.test')).toEqual({ kind: 'nodata', ttlSeconds: 60, cname: ['empty.test'] });
  });

  it('in a loop or too long is malformed, after a bounded number of queries', async () => {
    const links = Array.from({ length: 12 }, (_, i) => [`l${i}.test`, { CNAME: `l${i + 1}.test` }]);
    const dns = await lab({
      'a.test': { CNAME: 'b.test' },
      'b.test': { CNAME: 'a.test' },
      'self.test': { CNAME: 'self.test' },
      ...Object.fromEntries(links),
    });
    const resolver = resolverOf(dns.servers);
    for (const name of ['a.test', 'self.test', 'l0.test']) {
      expect(await ask(resolver, name)).toEqual({ kind: 'malformed' });
    }
    expect(dns.queries.length).toBe(3);
  });
});

it('ends pending queries when it is closed, and sends no more', async () => {
  const dns = await lab({ 'quiet.test': { fault: 'silent' } });
  const resolver = createResolver({ servers: dns.servers, timeoutMs: 2000, clock });
  const open = ask(resolver, 'quiet.test');
  await expect.poll(() => dns.queries.length).toBe(1);
  resolver.close();
  expect(await open).toEqual({ kind: 'network' });
  expect(await ask(resolver, 'other.test')).toEqual({ kind: 'network' });
  expect(await resolver.alive({ deadlineMs: clock.elapsed() + 500, sinceMs: clock.elapsed() })).toBe(false);
  expect(dns.queries.length).toBe(1);
});
