import { networkInterfaces } from 'node:os';
import { watchDomainData } from '../engine/data/domain-data.ts';
import { createResolver } from '../engine/dns/resolver.ts';
import { ownAddresses, routable } from '../engine/dns/routable.ts';
import { systemServers } from '../engine/dns/servers.ts';
import type { DnsServer } from '../engine/dns/transport.ts';
import {
  DOCTOR_CHECK_MS,
  type DoctorDeps,
  diagnose,
  type Finding,
  isFit,
  loadBlocklists,
} from '../engine/doctor/diagnose.ts';
import { probeGreeting } from '../engine/smtp/connectivity-probe.ts';
import { CANARY_DOMAINS } from '../engine/smtp/egress.ts';
import { systemClock as clock } from '../kernel/clock.ts';
import { DOCTOR_CHECKS, type DoctorCheck } from '../kernel/doctor-checks.ts';
import { DEFAULT_EGRESS, type Egress } from '../kernel/egress.ts';
import { randomInt } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';
import { watchStoreClock } from './store-clock.ts';

export { type Finding, isFit };

/** The options that the doctor checks. */
export interface DoctorOptions {
  readonly dnsServers: readonly DnsServer[] | null;
  readonly dnsTimeoutMs: number;
  readonly dnsControlNames: readonly string[];
  readonly allowPrivateNetworks: boolean;
  readonly listsDir: string;
  readonly listsDisposableUrl: string;
  readonly smtpPort: number;
  /** Empty: this host has no HELO name. */
  readonly egresses: () => readonly Egress[];
}

/** Checks whether this host is fit to talk to mail servers. Takes about ten seconds at most; never rejects. */
export async function examine(options: DoctorOptions, store: DoctorDeps['store']): Promise<Finding[]> {
  const {
    dnsServers,
    dnsTimeoutMs,
    dnsControlNames: controlNames,
    allowPrivateNetworks: allowPrivate,
    listsDir,
  } = options;
  const servers = dnsServers ?? systemServers();
  const resolver = createResolver({
    ...{ servers, timeoutMs: dnsTimeoutMs, controlNames, clock },
    laboratory: allowPrivate,
  });
  const own = ownAddresses(networkInterfaces());
  const mayDial = (ip: string) => routable(ip, { allowPrivate, own });
  const lists = watchDomainData(listsDir, clock);
  const { smtpPort: port, egresses } = options;
  const depsOf = ({ helo, from, bind, via }: SenderHost): DoctorDeps => ({
    clock,
    checkMs: DOCTOR_CHECK_MS,
    random: randomInt,
    resolver,
    sender: { helo, from, port, bind },
    probeGreeting: (address, limit) =>
      probeGreeting(address, port, helo, { withinMs: limit.withinMs, egress: { bind: limit.bind, via }, mayDial }),
    mayDial,
    isPublic: (ip) => routable(ip, { allowPrivate, own: new Set() }),
    canaryDomains: CANARY_DOMAINS,
    blocklists: loadBlocklists(),
    lists: { version: lists.current.version, problem: lists.problem },
    store,
    httpDate: () => httpDate(options.listsDisposableUrl),
  });
  const [first = NO_HELO_NAME, ...others] = senderHosts(egresses());
  const all = [diagnose(depsOf(first)), ...others.map((host) => diagnose(depsOf(host)))];
  const found = await Promise.all(all).finally(() => resolver.close());
  if (others.length === 0) return found.flat();
  // What is not about a sender is the same for all of them, and reported once.
  return DOCTOR_CHECKS.flatMap((check) =>
    [first, ...others].flatMap(({ name }, i) => {
      const own = (found[i] ?? []).filter((finding) => finding.check === check);
      if (!OF_SENDER.has(check)) return i === 0 ? own : [];
      return own.map((finding) => ({ ...finding, found: `${name}: ${finding.found}` }));
    }),
  );
}

/** Egresses that ask under one HELO name and sender from this host, or one behind a SOCKS server. */
interface SenderHost extends Pick<Egress, 'name' | 'via'> {
  readonly helo: string | null;
  readonly from: string | null;
  readonly bind: readonly string[];
}
const NO_HELO_NAME: SenderHost = { name: DEFAULT_EGRESS, helo: null, from: null, bind: [], via: null };
const OF_SENDER: ReadonlySet<DoctorCheck> = new Set(['port', 'helo', 'egress', 'ptr', 'spf', 'blocklists']);

function senderHosts(egresses: readonly Egress[]): readonly SenderHost[] {
  const hosts = new Map<string, SenderHost>();
  for (const { name, helo, from, bind, via } of egresses) {
    const key = via === null ? `${helo}\n${from}` : name;
    const known = hosts.get(key);
    const binds = bind === null ? [] : [bind];
    if (known === undefined) hosts.set(key, { name, helo, from, bind: binds, via });
    else hosts.set(key, { ...known, bind: [...known.bind, ...binds] });
  }
  return [...hosts.values()];
}

/** Writes to the store, as the service does, unless it has yet to be migrated. */
export async function checkStore(store: Store): ReturnType<DoctorDeps['store']> {
  const { version, known, pending } = await store.checkSchema();
  if (pending.length > 0)
    return { notReady: `The store is at schema version ${version}; this Mailvet needs ${known}.` };
  await store.ping();
  const name = `${store.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, version ${version}`;
  const clockOfStore = watchStoreClock({ engine: store.engine, clock: { read: store.clock.peek } }, clock);
  const { stepMs } = await clockOfStore.read();
  return { name, looseModes: store.looseModes(), clock: { aheadMs: clockOfStore.aheadMs(), stepMs } };
}

const HEAD_MS = 4_000;

async function httpDate(url: string): Promise<Awaited<ReturnType<DoctorDeps['httpDate']>>> {
  const { headers } = await fetch(url, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(HEAD_MS) });
  return { from: new URL(url).host, date: headers.get('date'), age: headers.get('age') };
}
