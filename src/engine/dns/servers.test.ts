import { isIP } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type DnsLab, type Zone, type ZoneOptions, zone } from '../../../tests/lab/dns.ts';
import { systemClock as clock } from '../../kernel/clock.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { attemptInterval, parseServers, systemServers } from './servers.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function lab(records: Zone, options?: ZoneOptions): Promise<DnsLab> {
  const made = await zone(records, options);
  opened.push(made);
  return made;
}
function over(labs: readonly DnsLab[], timeoutMs = 300): Resolver {
  const made = createResolver({ servers: labs.flatMap(({ servers }) => servers), timeoutMs, clock });
  opened.push(made);
  return made;
}
const ask = (resolver: Resolver, name: string, ms = 10_000) =>
  resolver.ask(name, 'A', { deadlineMs: clock.elapsed() + ms });
const GOOD: Zone = { '*.test': { A: ['192.0.2.1'] } };
const alive = (resolver: Resolver, sinceMs = clock.elapsed()) =>
  resolver.alive({ deadlineMs: clock.elapsed() + 2000, sinceMs });

describe('several servers', () => {
  it.each([
    'silent',
    'servfail',
    'refused',
    'closed',
  ] as const)('the second answers when the first is %s, and is asked first from then on', async (how) => {
    const [first, second] = [await lab(GOOD), await lab(GOOD)];
    await first.pause(how);
    // An answer that takes longer, as on a busy machine, would count as none.
    const resolver = over([first, second], 2_000);
    expect((await ask(resolver, 'a.test')).kind).toBe('records');
    const before = first.queries.length;
    for (const name of ['b.test', 'c.test', 'd.test']) expect((await ask(resolver, name)).kind).toBe('records');
    expect(first.queries.length).toBe(before);
    expect(second.queries.length).toBe(4);
    await first.resume();
    await second.pause(how);
    expect((await ask(resolver, 'e.test')).kind).toBe('records');
  });

  it('are all tried twice before a query fails', async () => {
    const labs = [await lab(GOOD), await lab(GOOD), await lab(GOOD)];
    for (const one of labs) await one.pause('silent');
    const resolver = over(labs, 20);
    expect(await ask(resolver, 'a.test')).toEqual({ kind: 'timeout' });
    expect(labs.map((one) => one.asked('a.test'))).toEqual([2, 2, 2]);
    expect(resolver.health()).toMatchObject({
      lastAnswerAt: null,
      servers: labs.map(({ port }) => ({ port, asked: 2, answered: 0, timeouts: 2, failures: 0, lastAnswerAt: null })),
    });
  });

  it('report the most informative of different failures', async () => {
    const [down, silent, failing] = [await lab({}), await lab({}), await lab({})];
    await down.pause('closed');
    await silent.pause('silent');
    await failing.pause('servfail');
    expect(await ask(over([down, silent], 100), 'a.test')).toEqual({ kind: 'timeout' });
    expect(await ask(over([down, silent, failing], 300), 'a.test')).toEqual({ kind: 'servfail' });
  });

  it('accept a late answer while the next server is being tried', async () => {
    const late = await lab({ 'late.test': { A: ['192.0.2.7'], fault: { slow: 150 } } });
    const silent = await lab({ 'late.test': { fault: 'silent' } });
    const answer = await ask(over([late, silent], 400), 'late.test', 500);
    expect(answer.kind).toBe('records');
    expect(silent.asked('late.test')).toBeGreaterThan(0);
  });
});

describe('attemptInterval', () => {
  it.each([
    // One server: the second attempt starts when the first ends.
    [2, 2000, 4800, 2000],
    // Two: all four start early enough for their full timeout.
    [4, 2000, 4800, 2800 / 3],
    [6, 2000, 4800, 560],
    // A short deadlineMs: both servers within half of the time.
    [4, 2000, 900, 150],
    [2, 2000, 1000, 500],
  ])('%i tries of %i ms in %i ms begin every %d ms', (tries, timeoutMs, ms, pace) => {
    expect(attemptInterval(tries, timeoutMs, ms)).toBeCloseTo(pace);
  });

  it('lets every attempt end within the budget, for any number of servers', () => {
    for (let servers = 1; servers <= 8; servers++) {
      const tries = servers * 2;
      expect(attemptInterval(tries, 2000, 4800) * (tries - 1) + 2000).toBeLessThanOrEqual(4800 + 1e-6);
    }
  });
});

describe('alive', () => {
  it('is true immediately if any query was answered since', async () => {
    const dns = await lab(GOOD);
    const resolver = over([dns]);
    const since = clock.elapsed();
    await ask(resolver, 'a.test');
    const asked = dns.queries.length;
    expect(await alive(resolver, since)).toBe(true);
    expect(dns.queries.length).toBe(asked);
  });

  it('sends control queries otherwise, and accepts any real answer', async () => {
    const dns = await lab({ 'bad.test': { fault: 'servfail' } });
    const resolver = over([dns]);
    const since = clock.elapsed();
    expect(await ask(resolver, 'bad.test')).toEqual({ kind: 'servfail' });
    expect(await alive(resolver, since)).toBe(true); // NXDOMAIN for com
    expect(dns.asked('com', 'NS')).toBe(1);
  });

  it.each(['silent', 'servfail', 'refused', 'closed'] as const)('is false when the resolver is %s', async (how) => {
    const dns = await lab(GOOD);
    const resolver = over([dns], 300);
    await ask(resolver, 'a.test');
    await dns.pause(how);
    const since = clock.elapsed();
    expect(await alive(resolver, since)).toBe(false);
    await dns.resume();
    expect(await alive(resolver, since)).toBe(true);
  });

  it('also queries the last name answered, bypassing the cache: a private resolver may know no others', async () => {
    const dns = await lab({ 'own.test': { A: ['192.0.2.1'] }, '.': { fault: 'refused' } }, { outside: 'refused' });
    const resolver = over([dns]);
    expect(await alive(resolver)).toBe(false);
    await ask(resolver, 'own.test');
    expect(await alive(resolver)).toBe(true);
    expect(dns.asked('own.test')).toBe(2);
  });

  it('shares one round among concurrent callers', async () => {
    const dns = await lab({ com: { fault: { slow: 20 } }, '.': { fault: 'refused' } });
    const resolver = over([dns], 500);
    const answers = await Promise.all(Array.from({ length: 50 }, () => alive(resolver)));
    expect(answers).toEqual(Array(50).fill(true));
    expect(dns.asked('com')).toBe(1);
  });

  it('starts a new round for a late caller before it returns false', async () => {
    const dns = await lab({ com: { fault: 'silent' }, '.': { fault: 'silent' } });
    const resolver = over([dns], 400);
    const first = alive(resolver);
    await expect.poll(() => dns.asked('com'), { interval: 10 }).toBe(2);
    const second = alive(resolver);
    expect(await first).toBe(false);
    expect(await second).toBe(false);
    expect(dns.asked('com')).toBe(4);
  });

  it('is false at its deadline', async () => {
    const dns = await lab(GOOD);
    await dns.pause('silent');
    const resolver = over([dns], 2000);
    expect(await resolver.alive({ deadlineMs: clock.elapsed() + 30, sinceMs: clock.elapsed() })).toBe(false);
    expect(await resolver.alive({ deadlineMs: clock.elapsed() - 1, sinceMs: clock.elapsed() })).toBe(false);
  });
});

describe('parseServers', () => {
  it('reads addresses with and without ports', () => {
    expect(parseServers('192.0.2.1, 192.0.2.2:5353,::1,[2001:db8::1],[2001:db8::2]:54')).toEqual({
      ok: true,
      servers: [
        { address: '192.0.2.1', port: 53 },
        { address: '192.0.2.2', port: 5353 },
        { address: '::1', port: 53 },
        { address: '2001:db8::1', port: 53 },
        { address: '2001:db8::2', port: 54 },
      ],
    });
  });

  it.each([
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4:',
    '1.2.3.4:0',
    '1.2.3.4:65536',
    '1.2.3.4:53:53',
    '[1.2.3.4]:53',
    '[::1',
    '[::1]53',
    '1.2.3.4:+5',
  ])('names the entry it cannot use: %j', (entry) => {
    expect(parseServers(entry)).toEqual({ ok: false, entry });
    expect(parseServers(`192.0.2.1,${entry}`)).toEqual({ ok: false, entry });
  });
});

describe('systemServers', () => {
  it('has at least one address', () => {
    const servers = systemServers();
    expect(servers.length).toBeGreaterThan(0);
    for (const { address } of servers) expect(isIP(address)).toBeGreaterThan(0);
  });
});
