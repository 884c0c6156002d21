import { networkInterfaces } from 'node:os';
import { watchDomainData } from '../engine/data/domain-data.ts';
import { createResolver } from '../engine/dns/resolver.ts';
import { ownAddresses, routable } from '../engine/dns/routable.ts';
import { systemServers } from '../engine/dns/servers.ts';
import type { DnsServer } from '../engine/dns/transport.ts';
import {
  adviceOf,
  DOCTOR_CHECK_MS,
  type DoctorDeps,
  diagnose,
  diagnoseIdentity,
  type Finding,
  isFit,
  loadBlocklists,
} from '../engine/doctor/diagnose.ts';
import { obeyProxyVariables } from '../engine/http/proxy.ts';
import { probeGreeting } from '../engine/smtp/connectivity-probe.ts';
import { CANARY_DOMAINS } from '../engine/smtp/egress.ts';
import { systemClock as clock } from '../kernel/clock.ts';
import { type Advice, DOCTOR_CHECKS, type DoctorCheck, firstAdvice } from '../kernel/doctor-checks.ts';
import { DEFAULT_EGRESS, type Egress, IP_FAMILIES } from '../kernel/egress.ts';
import { randomInt } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';
import { watchStoreClock } from './store-clock.ts';

/** `egress`: whose it is; null: of the host. */
export type EgressFinding = Finding & { readonly egress: string | null };
/** Of an egress: what to fix first, and how; null: nothing is wrong. */
export interface EgressAdvice {
  readonly egress: string;
  readonly first: Advice | null;
}
export interface Examination {
  readonly findings: readonly EgressFinding[];
  readonly advice: readonly EgressAdvice[];
}
export { isFit };

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
export async function examine(options: DoctorOptions, store: DoctorDeps['store']): Promise<Examination> {
  const { egresses } = options;
  const [depsOf, close] = openDoctor(options, store);
  const [first = NO_HELO_NAME, ...others] = egresses();
  const found = await Promise.all(
    [first, ...others].map(async (sender, i) => ({
      egress: sender.name,
      findings: await diagnose(depsOf(sender), i === 0 ? 'all' : 'sender'),
    })),
  ).finally(close);
  const findings = DOCTOR_CHECKS.flatMap((check) =>
    found.flatMap(({ egress, findings: own }) =>
      own
        .filter((finding) => finding.check === check)
        .map((finding) => ({ ...finding, egress: OF_SENDER.has(check) && first !== NO_HELO_NAME ? egress : null })),
    ),
  );
  const advice = found.map(({ egress, findings: own }) => ({ egress, first: firstAdvice(adviceOf(own)) }));
  return { findings, advice };
}

/** What the names of each egress say, by DNS alone: nobody is connected to. */
export class Identities {
  readonly #options: DoctorOptions;
  #found: ReadonlyMap<string, { readonly at: number; readonly findings: readonly Finding[] }> = new Map();

  constructor(options: DoctorOptions) {
    this.#options = options;
  }

  /** `at`: `Clock.now()` ms. Null: not looked up yet. */
  of(egress: string): { readonly at: number; readonly findings: readonly Finding[] } | null {
    return this.#found.get(egress) ?? null;
  }

  /** Looks all of them up again. */
  async lookUp(): Promise<void> {
    const [depsOf, close] = openDoctor(this.#options, () => Promise.resolve({ notReady: 'not examined' }));
    const found = this.#options.egresses().map(async (egress) => {
      const findings = await diagnoseIdentity(depsOf(egress));
      return [egress.name, { at: clock.now(), findings }] as const;
    });
    this.#found = new Map(await Promise.all(found).finally(close));
  }
}

/** As who it asks: an egress, or a host without a HELO name. */
interface Sender extends Pick<Egress, 'name' | 'via' | 'bind' | 'families'> {
  readonly helo: string | null;
  readonly from: string | null;
}
const NO_HELO_NAME: Sender = {
  ...{ name: DEFAULT_EGRESS, helo: null, from: null },
  ...{ bind: null, via: null, families: IP_FAMILIES },
};
const OF_SENDER: ReadonlySet<DoctorCheck> = new Set(['port', 'helo', 'egress', 'ptr', 'spf', 'blocklists']);

function openDoctor(
  options: DoctorOptions,
  store: DoctorDeps['store'],
): [depsOf: (sender: Sender) => DoctorDeps, close: () => void] {
  const { dnsServers, dnsTimeoutMs, dnsControlNames: controlNames, allowPrivateNetworks: allowPrivate } = options;
  const servers = dnsServers ?? systemServers();
  const resolver = createResolver({
    ...{ servers, timeoutMs: dnsTimeoutMs, controlNames, clock },
    laboratory: allowPrivate,
  });
  const own = ownAddresses(networkInterfaces());
  const mayDial = (ip: string) => routable(ip, { allowPrivate, own });
  const lists = watchDomainData(options.listsDir, clock);
  const { smtpPort: port } = options;
  const blocklists = loadBlocklists();
  const depsOf = ({ helo, from, bind, via, families }: Sender): DoctorDeps => ({
    clock,
    checkMs: DOCTOR_CHECK_MS,
    random: randomInt,
    resolver,
    sender: { helo, from, port, bind: bind === null ? [] : [bind], families },
    probeGreeting: (address, limit) =>
      probeGreeting(address, port, helo, { withinMs: limit.withinMs, egress: { bind: limit.bind, via }, mayDial }),
    mayDial,
    isPublic: (ip) => routable(ip, { allowPrivate, own: new Set() }),
    canaryDomains: CANARY_DOMAINS,
    blocklists,
    lists: { version: lists.current.version, problem: lists.problem },
    store,
    httpDate: () => httpDate(options.listsDisposableUrl),
  });
  return [depsOf, () => resolver.close()];
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
  obeyProxyVariables();
  const { headers } = await fetch(url, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(HEAD_MS) });
  return { from: new URL(url).host, date: headers.get('date'), age: headers.get('age') };
}
