import { afterEach, describe, expect, it } from 'vitest';
import { CONTROL_ZONE, type DnsLab, type Lie, type Zone, zone } from '../../../tests/lab/dns.ts';
import { type Clock, systemClock as clock } from '../../kernel/clock.ts';
import { DNS_CONTROL_NAMES } from '../../kernel/control-names.ts';
import { createResolver, type RecordType, type TrustChange } from './resolver.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const RECORDS: Zone = { ...CONTROL_ZONE, 'good.com': { A: ['192.0.2.1'], MX: [[1, 'good.com']] } };

async function lab(lie: Lie | null = null, records: Zone = RECORDS): Promise<DnsLab> {
  const made = await zone(records);
  if (lie) made.lie(lie);
  opened.push(made);
  return made;
}

function over(labs: readonly DnsLab[], more: { laboratory?: boolean; clock?: Clock; controlNames?: string[] } = {}) {
  const changes: TrustChange[] = [];
  const resolver = createResolver({
    servers: labs.flatMap(({ servers }) => servers),
    timeoutMs: 1000,
    controlNames: DNS_CONTROL_NAMES,
    onTrust: (change) => changes.push(change),
    clock,
    ...more,
  });
  opened.push(resolver);
  const ask = async (name: string, type: RecordType = 'A') =>
    (await resolver.ask(name, type, { deadline: clock.elapsed() + 30_000 })).kind;
  return { resolver, ask, changes, trust: () => resolver.health().servers.map(({ trust }) => trust) };
}

const controlsOf = (dns: DnsLab) =>
  dns.queries.filter(({ name }) => name in CONTROL_ZONE || name.endsWith('.invalid')).length;

describe('several servers', () => {
  it.each([
    'nxdomain',
    'nodata',
    'one address',
  ] as const)('of which the first lies (%s): the other is used', async (lie) => {
    const [liar, honest] = [await lab(lie), await lab()];
    const { ask, trust } = over([liar, honest]);
    expect(await ask('good.com')).toBe('records');
    expect(await ask('absent.com')).toBe('nxdomain');
    expect(trust()).toEqual([lie === 'one address' ? 'answers_every_name' : 'denies_every_name', 'trusted']);
    const before = liar.asked('absent2.com');
    expect(await ask('absent2.com')).toBe('nxdomain');
    expect(liar.asked('absent2.com')).toBe(before);
  });

  it('of which one begins to lie and the other is silent: no answers', async () => {
    const [liar, silent] = [await lab(), await lab()];
    const { resolver, ask } = over([liar, silent]);
    expect(await ask('good.com')).toBe('records');
    liar.lie('nxdomain');
    await silent.pause('closed');
    expect(await ask('absent.com')).toBe('denies_every_name');
    expect(resolver.problem()).toBe('silent');
    expect(await resolver.alive({ deadline: clock.elapsed() + 5000, since: clock.elapsed() })).toBe(false);
  });
});

it('all replies wait for one round of control queries', async () => {
  const dns = await lab();
  const { ask, resolver } = over([dns]);
  const names = Array.from({ length: 100 }, (_, i) => `absent${i}.com`);
  expect(new Set(await Promise.all(names.map((name) => ask(name))))).toEqual(new Set(['nxdomain']));
  expect(controlsOf(dns)).toBe(DNS_CONTROL_NAMES.length + 1);
  resolver.check();
  expect(controlsOf(dns)).toBe(DNS_CONTROL_NAMES.length + 1);
});

it('a denial waits until control queries that are lost are repeated', async () => {
  const dns = await lab(null, { ...RECORDS, '*.invalid': { fault: 'silent' } });
  const { ask } = over([dns]);
  expect(await ask('absent.com')).toBe('nxdomain');
});

it('an honest server that redirects names that do not exist is not used', async () => {
  const dns = await lab(null, { ...RECORDS, '*': { A: ['192.0.2.99'] } });
  const { ask, trust } = over([dns]);
  expect(await ask('good.com')).toBe('answers_every_name');
  expect(trust()).toEqual(['answers_every_name']);
});

it('knowing one of the control names suffices', async () => {
  const dns = await lab(null, { 'gmail.com': CONTROL_ZONE['gmail.com']! });
  expect(await over([dns]).ask('absent.com')).toBe('nxdomain');
});

it('what a server said before it was caught is forgotten, and each change is reported once', async () => {
  const dns = await lab();
  const { resolver, ask, changes } = over([dns]);
  for (let i = 0; i < 6; i++) expect(await ask(`absent${i}.com`)).toBe('nxdomain');
  dns.lie('nxdomain');
  // After so many denials, one is believed before the next is confirmed.
  expect(await ask('gmail.com', 'MX')).toBe('nxdomain');
  expect(await ask('absent9.com')).toBe('denies_every_name');
  expect(resolver.peek('gmail.com', 'MX')).toBeUndefined();
  expect(resolver.problem()).toBe('denies_every_name');
  expect(await ask('gmail.com', 'MX')).toBe('denies_every_name');
  await dns.resume();
  await expect.poll(() => ask('gmail.com', 'MX'), { timeout: 40_000 }).toBe('records');
  expect(changes.map(({ from, to }) => [from, to])).toEqual([
    ['unchecked', 'trusted'],
    ['trusted', 'denies_every_name'],
    ['denies_every_name', 'trusted'],
  ]);
});

it('without control names every reply is believed', async () => {
  const dns = await lab('nxdomain');
  const { ask, trust } = over([dns], { controlNames: [] });
  expect(await ask('gmail.com')).toBe('nxdomain');
  expect(trust()).toEqual(['unchecked']);
  expect(controlsOf(dns)).toBe(1);
});

it('a laboratory that knows only its own names is believed once one of them was found', async () => {
  const dns = await lab(null, { 'good.com': RECORDS['good.com']! });
  const { resolver, ask } = over([dns], { laboratory: true });
  resolver.check();
  await expect.poll(() => resolver.problem()).toBe('denies_every_name');
  expect(await ask('absent.com')).toBe('denies_every_name');
  expect(await ask('good.com')).toBe('records');
  expect(await ask('absent.com')).toBe('nxdomain');
  dns.lie('nodata');
  expect(await ask('good.com', 'MX')).toBe('denies_every_name');
});

it('closing ends replies that are held', async () => {
  const dns = await lab(null, { ...RECORDS, '*.invalid': { fault: 'silent' } });
  const { resolver, ask } = over([dns]);
  const open = ask('absent.com');
  await expect.poll(() => dns.asked('absent.com')).toBe(1);
  resolver.close();
  expect(await open).toBe('network');
});
