import { networkInterfaces } from 'node:os';
import { watchDomainData } from '../engine/data/domain-data.ts';
import { createResolver } from '../engine/dns/resolver.ts';
import { ownAddresses, routable } from '../engine/dns/routable.ts';
import { systemServers } from '../engine/dns/servers.ts';
import type { DnsServer } from '../engine/dns/transport.ts';
import {
  adviceOf,
  boundBy,
  type DoctorDeps,
  diagnose,
  diagnoseIdentity,
  type Finding,
  fail,
  isFit,
  loadBlocklists,
  pass,
  warn,
} from '../engine/doctor/diagnose.ts';
import { isLoopback } from '../engine/http/post.ts';
import { obeyProxyVariables } from '../engine/http/proxy.ts';
import { probeGreeting } from '../engine/smtp/connectivity-probe.ts';
import { CANARY_DOMAINS } from '../engine/smtp/egress.ts';
import { systemClock as clock } from '../kernel/clock.ts';
import { type Advice, DOCTOR_CHECKS, type DoctorCheck, firstAdvice } from '../kernel/doctor-checks.ts';
import { DEFAULT_EGRESS, type Egress, IP_FAMILIES } from '../kernel/egress.ts';
import { messageOf } from '../kernel/errors.ts';
import { randomInt, randomToken } from '../kernel/ids.ts';
import { ipMatcher, parseCidr } from '../kernel/ip.ts';
import type { Store } from '../store/store.ts';
import { createMailTrial } from './mail.ts';
import { watchStoreClock } from './store-clock.ts';

/** Covers a resolver's full timeout (ASK_MS), and is short enough for interactive use. */
const DOCTOR_CHECK_MS = 5_000;

/** `egress`: whose it is; null: of the host. */
export type EgressFinding = Finding & { readonly egress: string | null };
/** An egress gets one piece of advice: what to fix first, and how; null means that nothing is wrong. */
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

  /** `at` is in `Clock.now()` ms. Null: they are not looked up yet. */
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
  name: DEFAULT_EGRESS,
  helo: null,
  from: null,
  bind: null,
  via: null,
  families: IP_FAMILIES,
};
const OF_SENDER: ReadonlySet<DoctorCheck> = new Set(['port', 'helo', 'egress', 'ptr', 'spf', 'blocklists']);

function openDoctor(
  options: DoctorOptions,
  store: DoctorDeps['store'],
): [depsOf: (sender: Sender) => DoctorDeps, close: () => void] {
  const { dnsServers, dnsTimeoutMs, dnsControlNames: controlNames, allowPrivateNetworks: allowPrivate } = options;
  const servers = dnsServers ?? systemServers();
  const resolver = createResolver({
    servers,
    timeoutMs: dnsTimeoutMs,
    controlNames,
    clock,
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

/** They surround the service: the way to it and out of it. */
interface Surroundings {
  /** Null: MAILVET_PUBLIC_URL is not set. */
  readonly publicUrl: string | null;
  readonly host: string;
  readonly trustedProxies: readonly string[];
  readonly listsDisposableUrl: string;
  /** The proxy of downloads is shown without its password. */
  readonly httpsProxy: string | null;
  readonly mail: { readonly server: string; readonly from: string; readonly url: string } | null;
  /** Whom to send a mail; null: none is sent. */
  readonly mailTo: string | null;
}

/**
 * What concerns people and proxies rather than mail servers. There is no finding about an option that is not set and
 * need not be. Takes as long as a mail may take; never rejects.
 */
export async function examineSurroundings(about: Surroundings): Promise<EgressFinding[]> {
  const canProxy = obeyProxyVariables();
  const bounded = boundBy(DOCTOR_CHECK_MS);
  const found = await Promise.all([
    bounded('url', () => checkPublicUrl(about)),
    bounded('proxies', async () => checkProxies(about)),
    bounded('downloads', async () => [await checkDownloads(about, canProxy)]),
    checkMail(about),
  ]);
  return found.flat().map((finding) => ({ ...finding, egress: null }));
}

/** The error of `fetch` says only that it failed: its cause says why. */
const fetchCause = (error: unknown): string =>
  messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);

async function checkPublicUrl({ publicUrl: url }: Surroundings): Promise<Finding[]> {
  if (url === null) return [];
  const set = 'Set MAILVET_PUBLIC_URL to the address at which people reach the service';
  const asked = { redirect: 'manual', signal: AbortSignal.timeout(HEAD_MS) } as const;
  try {
    const reply = await fetch(`${url}/readyz`, asked);
    const moved = reply.headers.get('location');
    if (moved !== null) return [fail('url', `${url} redirects to ${moved}.`, `${set}, without redirects.`)];
    const body: unknown = await reply.json().catch(() => null);
    const isOurs = typeof body === 'object' && body !== null && 'status' in body && 'checks' in body;
    if (!isOurs)
      return [fail('url', `Something else than Mailvet answers at ${url} (status ${reply.status}).`, `${set}.`)];
    const found = `A Mailvet service answers at ${url} (${String(body.status)}).`;
    const isOpen = url.startsWith('http:') && !isLoopback(new URL(url));
    if (isOpen) return [warn('url', `${found} Keys and passwords are sent unencrypted.`, 'Serve it over HTTPS.')];
    return [pass('url', found)];
  } catch (error) {
    const fix = `Start the service and its proxy. Where this host cannot reach its own public address, ask from another. ${set}.`;
    return [warn('url', `Nothing answers at ${url} (${fetchCause(error)}).`, fix)];
  }
}

/** Prefixes that are shorter cover more than one organization. */
const SHORTEST_PREFIX = { ofV4: 8, ofV6: 24 } as const;
const UNIQUE_LOCAL = 'fc00::/7';

function isTooWide(cidr: string): boolean {
  const block = parseCidr(cidr);
  if (block === null || cidr === UNIQUE_LOCAL) return false;
  return block.bits < (block.groups.length === 2 ? SHORTEST_PREFIX.ofV4 : SHORTEST_PREFIX.ofV6);
}

/** Who can say in X-Forwarded-For where a request comes from. */
function checkProxies({ trustedProxies, host, publicUrl }: Surroundings): Finding[] {
  const isTrusted = ipMatcher(trustedProxies);
  const own = host === 'localhost' ? '127.0.0.1' : host;
  const listensLocally = own === '::1' || own.startsWith('127.');
  const isProxied = publicUrl?.startsWith('https:') === true;
  const wide = trustedProxies.filter(isTooWide);
  if (wide.length > 0) {
    const found = `X-Forwarded-For is believed from ${wide.join(', ')}, where callers can claim any address.`;
    return [fail('proxies', found, 'Set MAILVET_TRUSTED_PROXIES to the addresses of your own proxies.')];
  }
  if (isProxied && listensLocally && !isTrusted(own)) {
    const found = `Only a proxy on this host can reach ${host}, but it is not trusted: all callers seem to come from it.`;
    return [warn('proxies', found, 'Add 127.0.0.1,::1 to MAILVET_TRUSTED_PROXIES.')];
  }
  if (isProxied && trustedProxies.length === 0) {
    const found = 'X-Forwarded-For is believed from nobody: all callers seem to come from the address of the proxy.';
    return [warn('proxies', found, 'Set MAILVET_TRUSTED_PROXIES to the address of the proxy.')];
  }
  if (trustedProxies.length === 0) return [];
  return [pass('proxies', `X-Forwarded-For is believed from ${trustedProxies.join(', ')}, and from nobody else.`)];
}

async function checkDownloads(
  { listsDisposableUrl: url, httpsProxy }: Surroundings,
  canProxy: boolean,
): Promise<Finding> {
  const { host } = new URL(url);
  if (httpsProxy !== null && !canProxy)
    return warn(
      'downloads',
      `HTTPS_PROXY is ${httpsProxy}, which Node ${process.version} does not obey.`,
      'Use Node 24.14 or newer.',
    );
  const way =
    httpsProxy === null ? 'directly' : `with the proxy ${httpsProxy}, which webhooks and mail servers do not use`;
  try {
    await fetch(url, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(HEAD_MS) });
    return pass('downloads', `${host} answers, asked ${way}.`);
  } catch (error) {
    return warn(
      'downloads',
      `${host} does not answer, asked ${way} (${fetchCause(error)}): the disposable list cannot be updated.`,
      'Set HTTPS_PROXY to your proxy, or point MAILVET_LISTS_DISPOSABLE_URL at a copy.',
    );
  }
}

async function checkMail({ mail, mailTo }: Surroundings): Promise<Finding[]> {
  if (mail === null) {
    if (mailTo === null) return [];
    return [fail('mail', 'No mail was sent: there is no mail server.', 'Set MAILVET_MAIL_URL.')];
  }
  const { server, from, url } = mail;
  const { host } = new URL(server);
  const trial = createMailTrial({ server: () => server, from, url: () => url });
  try {
    if (mailTo === null) await trial.connect();
    else await trial.send(mailTo, randomToken(MESSAGE_ID_LENGTH));
  } catch (error) {
    return [fail('mail', `${host}: ${messageOf(error)}`, 'Check MAILVET_MAIL_URL and MAILVET_MAIL_FROM.')];
  }
  const sent = `${host} took a mail from ${from} to ${mailTo}. Look whether it arrives, and not as spam.`;
  return [pass('mail', mailTo === null ? `${host} can be signed in to. --mail-to sends a mail.` : sent)];
}

const MESSAGE_ID_LENGTH = 22;
