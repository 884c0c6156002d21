/** Mail hosts that are learned from a zone of 2,000 domains on 40 hosts, served by a real DNS server. */
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DisposableEntry, formatDisposable, LETTER_BIT } from '../../src/engine/data/disposable-file.ts';
import { hostLines, packagedDir, type WatchedDomainData, watchDomainData } from '../../src/engine/data/domain-data.ts';
import { createResolver } from '../../src/engine/dns/resolver.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createHostLearning, type StepOutcome } from '../../src/service/host-learning.ts';
import { createSharedLists } from '../../src/service/shared-lists.ts';
import type { Store } from '../../src/store/store.ts';
import { type DnsLab, type Zone, zone } from '../lab/dns.ts';
import { describeStores } from '../lab/stores.ts';

const DOMAINS = 2_000;
const HOSTS = 40;
/** Hosts from here on are shared with known good domains, and from there on they are a registrar's. */
const SHARED = 28;
const REGISTRAR = 36;

const net: Record<string, Zone[string]> = {};
const listed: string[] = [];
const good: string[] = [];
/** Neither listed nor known: the domain and its host. */
const others: { domain: string; host: string; disposable: boolean }[] = [];

const hostOf = (n: number): string => (n >= REGISTRAR ? `eforward${n}.registrar-servers.com` : `mx.operator-${n}.com`);
for (let n = 0; n < HOSTS; n++) net[hostOf(n)] = { A: [`203.0.113.${n + 1}`] };
for (let i = 0; i < DOMAINS; i++) {
  const n = i % HOSTS;
  const domain = `zone-${i}.com`;
  net[domain] = { MX: [[10, hostOf(n)]] };
  const turn = Math.floor(i / HOSTS) % 5;
  if (turn < 3) listed.push(domain);
  else if (turn === 3 && n >= SHARED && n < REGISTRAR) good.push(domain);
  else others.push({ domain, host: hostOf(n), disposable: n < SHARED });
}
const list = (domain: string, entry: Zone[string]) => {
  net[domain] = entry;
  listed.push(domain);
};
for (let i = 0; i < 20; i++) {
  // Listed domains that point at others: a company's own host, Google, a sister of a shared host, a vanity name.
  list(`points-at-victim-${i}.com`, { MX: [[10, 'mail.victim-company.com']] });
  list(`points-at-google-${i}.com`, { MX: [[10, 'aspmx.l.google.com']] });
  list(`points-at-sister-${i}.com`, { MX: [[10, 'second.operator-30.com']] });
  list(`vanity-${i}.com`, { MX: [[10, `mx.vanity-${i}.com`]] });
  net[`mx.vanity-${i}.com`] = { A: ['198.51.100.7'] };
  // A farm with a name of its own for each domain, on one address that has no name.
  list(`farm-${i}.com`, { MX: [[10, `mx.farm-${i}.com`]] });
  net[`mx.farm-${i}.com`] = { A: ['198.51.100.8'] };
  // Subdomains of one domain cost nothing.
  list(`sub-${i}.one-owner.com`, { MX: [[10, 'mx.elsewhere-only.com']] });
}
Object.assign(net, {
  'victim-company.com': { MX: [[10, 'mail.victim-company.com']] },
  'mail.victim-company.com': { A: ['198.51.100.7'] },
  '7.100.51.198.in-addr.arpa': { PTR: ['mail.victim-company.com'] },
  'aspmx.l.google.com': { A: ['198.51.100.9'] },
  'second.operator-30.com': { A: ['198.51.100.10'] },
  'mx.elsewhere-only.com': { A: ['198.51.100.11'] },
  'gmail.com': { MX: [[10, 'aspmx.l.google.com']] },
} satisfies Zone);

describeStores('learned mail hosts', (lab) => {
  const packaged = mkdtempSync(join(tmpdir(), 'mailvet-learn-packaged-'));
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-learn-'));
  let dns: DnsLab;
  beforeAll(async () => {
    cpSync(packagedDir(), packaged, { recursive: true });
    appendFileSync(join(packaged, 'known.txt'), good.map((domain) => `${domain}\tof this test\n`).join(''));
    // Names of the package that are not in the zone do not exist, which is an answer, too.
    const entries = new Map<string, DisposableEntry>(
      listed.map((domain) => [domain, { bits: LETTER_BIT.a, reason: null }]),
    );
    writeFileSync(join(dir, 'disposable.txt'), formatDisposable('2099-01-01', new Map(), entries));
    dns = await zone(net);
  });
  afterAll(async () => {
    await dns.close();
    for (const made of [packaged, dir]) rmSync(made, { recursive: true, force: true });
  });

  /** A process: what it knows of earlier steps is in the store. */
  const learning = (store: Store, lists: WatchedDomainData) =>
    createHostLearning({
      store,
      lists,
      openDns() {
        const resolver = createResolver({
          servers: dns.servers,
          timeoutMs: 2_000,
          clock: systemClock,
          laboratory: true,
        });
        return { resolver, clock: systemClock, mayCount: () => true, close: () => resolver.close() };
      },
      perSecond: 4_000,
    });

  async function learn(store: Store, lists: WatchedDomainData): Promise<StepOutcome> {
    const running = new AbortController();
    for (let steps = 0; ; steps++) {
      const stopped = new AbortController();
      if (steps === 2) {
        // A process that stops in the middle of a step: the next one repeats it.
        const ending = learning(store, lists).step(stopped.signal);
        stopped.abort();
        await expect(ending).rejects.toThrow();
      }
      const outcome = await learning(store, lists).step(running.signal);
      if (outcome !== 'more') return outcome;
    }
  }

  it('find every unlisted domain on a disposable host, and nobody else', async () => {
    const store = await lab.open();
    const watched = watchDomainData(dir, systemClock, { packaged, checkEveryMs: 0 });
    expect(await learn(store, watched)).toBe('done');
    expect(await learning(store, watched).step(new AbortController().signal)).toBe('not_due');
    await createSharedLists({ store, lists: watched, dir }).exchange();

    const { current } = watched;
    const isDisposable = (host: string, address = '192.0.2.1') => current.disposableHost([host], [address]) !== null;
    expect(others.length).toBeGreaterThan(600);
    expect(others.filter(({ host, disposable }) => isDisposable(host) !== disposable)).toEqual([]);
    expect(good.length).toBeGreaterThan(70);
    for (const host of [
      'mail.victim-company.com',
      'aspmx.l.google.com',
      'second.operator-30.com',
      'mx.elsewhere-only.com',
    ])
      expect([host, isDisposable(host)]).toEqual([host, false]);
    expect(isDisposable('mx.unrelated.com', '198.51.100.7')).toBe(false);
    expect(isDisposable('mx.unrelated.com', '198.51.100.8')).toBe(true);
    // Whoever has a mailbox at Google is not judged by an address.
    expect(isDisposable('aspmx.l.google.com', '198.51.100.8')).toBe(false);
    const off = watchDomainData(dir, systemClock, { packaged, learned: false }).current;
    expect(off.disposableHost([hostOf(0)], [])).toBeNull();

    const evidence = (host: string) => hostLines(current.explainHost(host)).join('\n');
    expect(evidence(hostOf(0))).toMatch(
      /disposable\nlearned: it serves 30 listed domains, such as zone-\d+\.com.*and no known/,
    );
    expect(evidence('mail.victim-company.com')).toMatch(/not learned: it serves 20 listed domains.* its own domain/);
    expect(evidence('second.operator-30.com')).toMatch(/not learned: .*another host of its domain/);
    expect(evidence(hostOf(30))).toMatch(/not learned: .*known good domains \(zone-\d+\.com/);
    expect(evidence('198.51.100.7')).toMatch(/not learned: .*the owner of the address/);
  });

  it('are not learned while known good domains cannot be looked up', async () => {
    const store = await lab.open();
    await dns.pause('refused');
    try {
      const watched = watchDomainData(dir, systemClock, { packaged, checkEveryMs: 0 });
      expect(await learn(store, watched)).toBe('unsure');
      expect(await store.sharedFiles.list('')).toEqual([]);
    } finally {
      await dns.resume();
    }
  });
});
