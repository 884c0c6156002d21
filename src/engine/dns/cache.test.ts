import { afterEach, describe, expect, it } from 'vitest';
import { type DnsLab, type Zone, type ZoneOptions, zone } from '../../../tests/lab/dns.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import type { RecordType } from './message.ts';
import { createResolver, type Resolver } from './resolver.ts';
import type { DnsServer } from './transport.ts';

const clock = systemClock;
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function lab(records: Zone, options?: ZoneOptions): Promise<DnsLab> {
  const made = await zone(records, options);
  opened.push(made);
  return made;
}
function resolverOf(servers: readonly DnsServer[], timeoutMs = 1000, by: Clock = clock): Resolver {
  const made = createResolver({ servers, timeoutMs, clock: by });
  opened.push(made);
  return made;
}
const inMs = (ms: number) => ({ deadlineMs: clock.elapsed() + ms });
const ask = (resolver: Resolver, name: string, type: RecordType = 'A') => resolver.ask(name, type, inMs(10_000));

describe('cache', () => {
  /** The system's clock, which can be set ahead. */
  function movable(): Clock & { forward(seconds: number): void } {
    let ahead = 0;
    return {
      now: () => clock.now() + ahead,
      elapsed: () => clock.elapsed() + ahead,
      forward(seconds) {
        ahead += seconds * 1000;
      },
    };
  }
  const NAMES = {
    'zero.test': { A: ['192.0.2.1'], ttl: 0 },
    'two.test': { A: ['192.0.2.1'], ttl: 120 },
    'long.test': { A: ['192.0.2.1'], ttl: 86_400 },
  };

  it.each([
    ['zero.test', 60, {}],
    ['two.test', 120, {}],
    ['long.test', 3600, {}],
    ['gone.test', 60, {}],
    ['gone.test', 300, { negativeTtl: 86_400 }],
    ['gone.test', 5, { negativeTtl: 0 }],
    ['gone.test', 5, { negativeTtl: null }],
    ['gone.two.test', 60, {}],
  ])('keeps %s for %i s', async (name, seconds, options) => {
    const dns = await lab(NAMES, options);
    const time = movable();
    const resolver = resolverOf(dns.servers, 1000, time);
    const again = () => resolver.ask(name, 'A', { deadlineMs: time.elapsed() + 10_000 });
    expect(resolver.peek(name, 'A')).toBeUndefined();
    const answer = await again();
    expect(resolver.peek(name.toUpperCase(), 'A')).toBe(answer);
    time.forward(seconds - 1);
    expect(resolver.peek(name, 'A')).toBe(answer);
    expect(await again()).toBe(answer);
    expect(resolver.peek(name, 'AAAA')).toBeUndefined();
    time.forward(2);
    expect(resolver.peek(name, 'A')).toBeUndefined();
    await again();
    expect(dns.asked(name)).toBe(2);
  });

  it('does not cache failures: the name resolves as soon as the server is back', async () => {
    const dns = await lab({ 'back.test': { A: ['192.0.2.1'] } });
    const resolver = resolverOf(dns.servers, 300);
    for (const how of ['silent', 'servfail', 'refused', 'closed'] as const) {
      await dns.pause(how);
      const kind = { silent: 'timeout', servfail: 'servfail', refused: 'refused', closed: 'network' }[how];
      expect(await ask(resolver, 'back.test')).toEqual({ kind });
      expect(resolver.peek('back.test', 'A')).toBeUndefined();
      await dns.resume();
    }
    expect((await ask(resolver, 'back.test')).kind).toBe('records');
  });

  it('respects its capacity', async () => {
    const dns = await lab({ '*.test': { A: ['192.0.2.1'] } });
    const resolver = createResolver({ servers: dns.servers, timeoutMs: 1000, clock, cacheNames: 10 });
    opened.push(resolver);
    for (let i = 0; i < 30; i++) await ask(resolver, `n${i}.test`);
    expect(resolver.health().cached).toBe(10);
    expect(resolver.peek('n0.test', 'A')).toBeUndefined();
    expect(resolver.peek('n29.test', 'A')?.kind).toBe('records');
  });

  it('coalesces fifty concurrent queries into one', async () => {
    const dns = await lab({ 'busy.test': { A: ['192.0.2.1'], fault: { slow: 30 } } });
    const resolver = resolverOf(dns.servers);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(resolver, 'busy.test')));
    expect(new Set(answers).size).toBe(1);
    expect(dns.asked('busy.test')).toBe(1);
    expect(resolver.health().asking).toBe(0);
  });

  it('lets a caller with a short deadline, or an aborted one, leave without affecting others', async () => {
    const dns = await lab({ 'slow.test': { A: ['192.0.2.1'], fault: { slow: 100 } } });
    const resolver = resolverOf(dns.servers);
    const gone = new AbortController();
    const patient = ask(resolver, 'slow.test');
    const hurried = resolver.ask('slow.test', 'A', inMs(10));
    const leaving = resolver.ask('slow.test', 'A', { ...inMs(10_000), signal: gone.signal });
    gone.abort();
    expect(await leaving).toEqual({ kind: 'timeout' });
    expect(await hurried).toEqual({ kind: 'timeout' });
    expect((await patient).kind).toBe('records');
    expect(dns.asked('slow.test')).toBe(1);
  });

  it('caches an answer that arrives after the only caller has left', async () => {
    const dns = await lab({ 'slow.test': { A: ['192.0.2.1'], fault: { slow: 40 } } });
    const resolver = resolverOf(dns.servers);
    expect(await resolver.ask('slow.test', 'A', inMs(5))).toEqual({ kind: 'timeout' });
    await expect.poll(() => resolver.peek('slow.test', 'A')?.kind).toBe('records');
  });

  it('returns immediately for a caller without time left', async () => {
    const dns = await lab({});
    const resolver = resolverOf(dns.servers);
    expect(await resolver.ask('a.test', 'A', inMs(0))).toEqual({ kind: 'timeout' });
    expect(await resolver.ask('a.test', 'A', { ...inMs(1000), signal: AbortSignal.abort() })).toEqual({
      kind: 'timeout',
    });
    expect(dns.queries).toEqual([]);
  });
});
