/** Is this host ready to connect to mail servers? */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { within } from '../../kernel/bounded-wait.ts';
import { type Clock, DAY_MS, fromIso } from '../../kernel/clock.ts';
import { type Advice, type DoctorCheck, type EgressProblem, PROBLEM_ROWS } from '../../kernel/doctor-checks.ts';
import { IP_FAMILIES, type IpFamily } from '../../kernel/egress.ts';
import type { DoctorResult } from '../../kernel/facts/checks.ts';
import { CLOCK_TOLERANCE_MS, LISTS_STALE_DAYS } from '../../kernel/facts/limits.ts';
import { dataFile } from '../data-files.ts';
import { isUntrusted } from '../dns/message.ts';
import { RESOLVER_PROBLEMS, type Resolver } from '../dns/resolver.ts';
import type { Greeting } from '../smtp/connectivity-probe.ts';
import { type CanaryHost, resolveCanaryHosts } from '../smtp/egress.ts';
import { isQualifiedName } from '../smtp/mailbox.ts';
import {
  type AskDns,
  answerAddresses,
  isFailedAnswer,
  lookUpAddresses,
  ptrName,
  reversed,
  reverseNames,
  sameIp,
} from './reverse.ts';
import { checkHost } from './spf.ts';

/** The doctor's report has a line for each finding. */
export interface Finding {
  readonly check: DoctorCheck;
  readonly result: DoctorResult;
  /** A sentence. May contain untrusted text, such as a banner. */
  readonly found: string;
  /** The remedy, as a sentence; null when nothing needs fixing. */
  readonly fix: string | null;
  /** What is wrong with the egress; null: nothing, or it is not about that, or could not be found out. */
  readonly problem: EgressProblem | null;
}

/** A blocklist is a row of data/dnsbl.json, and is queried according to RFC 5782. */
interface Blocklist {
  readonly name: string;
  readonly zone: string;
  readonly families: readonly (4 | 6)[];
  /** A listing has this severity. */
  readonly listed: 'fail' | 'warn';
  /** Maps return codes in 127.0.0.0/8 to their meanings. */
  readonly codes: Readonly<Record<string, string>>;
  /** Return codes that mean that the query was refused, not that the address is listed. */
  readonly refusals: Readonly<Record<string, string>>;
  readonly delist: string;
  readonly source: string;
}

export interface DoctorDeps {
  readonly clock: Clock;
  /** Milliseconds that one check may take: `DOCTOR_CHECK_MS`. */
  readonly checkMs: number;
  /** Returns an integer x with 0 ≤ x < n. */
  readonly random: (n: number) => number;
  readonly resolver: Pick<Resolver, 'ask' | 'alive'>;
  readonly sender: {
    /** Null if it is not configured. */
    readonly helo: string | null;
    /** The sender is `user@host` or `<>`; it is null without a HELO name. */
    readonly from: string | null;
    readonly port: number;
    readonly bind: readonly string[];
    /** Mail servers are reached in these; the default is both. */
    readonly families?: readonly IpFamily[];
  };
  /** Calls `probeGreeting` of smtp/connectivity-probe.ts, on the configured port and under our HELO name. */
  readonly probeGreeting: (address: string, options: { withinMs: number; bind: string | null }) => Promise<Greeting>;
  readonly mayDial: (address: string) => boolean;
  /** Whether an address can be our public address: publicly routable, ours or not. */
  readonly isPublic: (address: string) => boolean;
  /** Domains of large providers whose mail hosts are always up. */
  readonly canaryDomains: readonly string[];
  readonly blocklists: readonly Blocklist[];
  /** Version of the disposable list (its date), and why a downloaded one is not in use. */
  readonly lists: { readonly version: string; readonly problem: string | null };
  /** Opens the store and writes to it; throws with a sentence when that fails. Neither creates nor migrates it. */
  readonly store: () => Promise<StoreState | { readonly notReady: string }>;
  /**
   * Returns the Date and Age headers (RFC 9110 §6.6.1, RFC 9111 §5.1) of a fresh reply from the Internet, and its
   * source.
   */
  readonly httpDate: () => Promise<{
    readonly from: string;
    readonly date: string | null;
    readonly age: string | null;
  }>;
}

/** The store accepts writes. */
interface StoreState {
  readonly name: string;
  /** Files with permissions for other users of the host, each with the command that fixes it. */
  readonly looseModes: readonly { readonly path: string; readonly mode: string; readonly fix: string }[];
  /** `aheadMs`: this host's clock against the store's. `stepMs`: the store's against the last time that it was used. */
  readonly clock: { readonly aheadMs: number; readonly stepMs: number };
}

/**
 * All findings, in the order of the report. The checks run together, each for `checkMs` (5 s) at most; those about our
 * address wait for the look outside that finds it, so that all of it takes twice that at most. Never rejects. A host
 * with several addresses gets a line for each. `about`: `sender` leaves out what is the same for all senders of a host.
 */
export async function diagnose(deps: DoctorDeps, about: 'all' | 'sender' = 'all'): Promise<Finding[]> {
  const survey = surveyEgress(deps);
  const bounded = boundBy(deps.checkMs);
  const ofHost = async (check: DoctorCheck, run: () => Promise<Finding>, steps?: number): Promise<Finding[]> =>
    about === 'sender' ? [] : bounded(check, async () => [await run()], steps);
  const resolver = ofHost('resolver', () => checkResolver(deps));
  const ofAddress = (check: DoctorCheck, of: CheckOfAddress) => async (): Promise<Finding[]> => {
    const addresses = seenAddresses(deps, await survey);
    const each = addresses.map((egress) => bounded(check, async () => [await of(deps, egress)].flat()));
    return addresses.length === 0 ? [withoutEgress(check, deps, await survey)] : (await Promise.all(each)).flat();
  };
  const found = await Promise.all([
    resolver,
    bounded('port', async () => checkPort(deps, await survey)),
    bounded('helo', async () => [await checkHelo(deps)]),
    bounded('egress', ofAddress('egress', checkEgress), 2),
    bounded('ptr', ofAddress('ptr', checkPtr), 2),
    bounded('spf', ofAddress('spf', checkSpf), 2),
    bounded('blocklists', ofAddress('blocklists', checkBlocklists), 2),
    ofHost('lists', async () => checkLists(deps)),
    ofHost(
      'store',
      async () => {
        // Opening a store may block the process for a while, which the network checks would measure as latency.
        await Promise.allSettled([resolver, survey]);
        return checkStoreHealth(deps);
      },
      2,
    ),
    ofHost('clock', () => checkClock(deps)),
  ]);
  return found.flat();
}

/** What the names of an egress say: DNS alone tells it. */
const IDENTITY_CHECKS = ['helo', 'ptr', 'spf', 'blocklists'] as const satisfies readonly DoctorCheck[];
export type IdentityCheck = (typeof IDENTITY_CHECKS)[number];

/**
 * The findings of IDENTITY_CHECKS without a connection to anybody, so about the address that is configured, or else
 * those of the HELO name. Never rejects.
 */
export async function diagnoseIdentity(deps: DoctorDeps): Promise<Finding[]> {
  const bounded = boundBy(deps.checkMs);
  const ofAddress = (of: CheckOfAddress) => async (): Promise<Finding[]> => {
    const addresses = await expectedAddresses(deps);
    return (await Promise.all(addresses.map((address) => of(deps, address)))).flat();
  };
  const checks: Readonly<Record<IdentityCheck, () => Promise<Finding[]>>> = {
    helo: async () => [await checkHelo(deps)],
    ptr: ofAddress(checkPtr),
    spf: ofAddress(checkSpf),
    blocklists: ofAddress(checkBlocklists),
  };
  return (await Promise.all(IDENTITY_CHECKS.map((check) => bounded(check, checks[check], 2)))).flat();
}

type CheckOfAddress = (deps: DoctorDeps, address: SeenAddress) => Promise<Finding | Finding[]>;

async function expectedAddresses(deps: DoctorDeps): Promise<SeenAddress[]> {
  const { helo, bind, families = IP_FAMILIES } = deps.sender;
  const configured = bind.filter(deps.isPublic);
  if (configured.length > 0) return configured.map((ip) => ({ ip, by: 'as configured' }));
  const { addresses } = helo === null ? { addresses: [] } : await lookUpAddresses(helo, queryWithin(deps));
  const isOfFamily = (ip: string): boolean => families.includes(ip.includes(':') ? 6 : 4);
  return addresses
    .filter((ip) => isOfFamily(ip) && deps.isPublic(ip))
    .slice(0, MOST_PATHS)
    .map((ip) => ({ ip, by: `as ${helo} has it` }));
}

/** Nothing failed; warnings do not count. */
export const isFit = (findings: readonly Finding[]): boolean => findings.every(({ result }) => result !== 'fail');

/** A check that times out or throws is a warning. `steps`: its time limit, in multiples of `checkMs`. */
export const boundBy =
  (checkMs: number) =>
  async (check: DoctorCheck, run: () => Promise<Finding[]>, steps = 1): Promise<Finding[]> => {
    const ms = checkMs * steps;
    const unknown = (why: string) => [warn(check, `Unknown: ${why}.`, 'Run the doctor again.')];
    try {
      return await within({ ms, late: () => unknown(`it took longer than ${ms / 1000} s`) }, run);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return unknown(why);
    }
  };

export const pass = (check: DoctorCheck, found: string): Finding => ({
  check,
  result: 'pass',
  found,
  fix: null,
  problem: null,
});
export const warn = (check: DoctorCheck, found: string, fix: string | null): Finding => ({
  check,
  result: 'warn',
  found,
  fix,
  problem: null,
});
const skip = (check: DoctorCheck, found: string, fix: string): Finding => ({
  check,
  result: 'skip',
  found,
  fix,
  problem: null,
});
export const fail = (check: DoctorCheck, found: string, fix: string): Finding => ({
  check,
  result: 'fail',
  found,
  fix,
  problem: null,
});
type FoundProblem = {
  [P in EgressProblem]: (typeof PROBLEM_ROWS)[P]['check'] extends null ? never : P;
}[EgressProblem];
const problemFinding = (problem: FoundProblem, found: string, fix: string): Finding => ({
  ...PROBLEM_ROWS[problem],
  found,
  fix,
  problem,
});

/** What is to be done about the problems among the findings. */
export const adviceOf = (findings: readonly Finding[]): Advice[] =>
  findings.flatMap(({ problem, fix }) => (problem === null || fix === null ? [] : { problem, fix }));

/** Queries end shortly before the check does, so that it can report their failure. */
function queryWithin(deps: DoctorDeps): AskDns {
  const deadlineMs = deps.clock.elapsed() + deps.checkMs * 0.94;
  return (name, type) => deps.resolver.ask(name, type, { deadlineMs });
}

/** Checks that the resolver answers, how fast, and that it returns NXDOMAIN for a name that does not exist. */
async function checkResolver(deps: DoctorDeps): Promise<Finding> {
  const began = deps.clock.elapsed();
  const first = await askMadeUp(deps);
  // A single slow answer may be chance, or this process still starting.
  const again = first.tookMs > SLOW_RESOLVER_MS && !isFailedAnswer(first.answer) ? await askMadeUp(deps) : first;
  const { name, answer } = first;
  const tookMs = Math.min(first.tookMs, again.tookMs);
  if (isFailedAnswer(answer)) {
    if (isUntrusted(answer.kind)) {
      const { found, fix } = RESOLVER_PROBLEMS[answer.kind];
      return fail('resolver', `${found.charAt(0).toUpperCase()}${found.slice(1)}.`, fix);
    }
    const alive = await deps.resolver.alive({ deadlineMs: began + deps.checkMs * 0.94, sinceMs: began });
    const ended = `a query for a random name ended in "${answer.kind}"`;
    return alive
      ? warn('resolver', `The DNS resolver answers, but ${ended}.`, `Set ${SERVERS} to a resolver that resolves .com.`)
      : fail('resolver', `No DNS resolver answers: ${ended}.`, RESOLVER_PROBLEMS.silent.fix);
  }
  if (answer.kind !== 'nxdomain') {
    return fail(
      'resolver',
      `The DNS resolver does not return NXDOMAIN for a name that does not exist; it answered ${name}.`,
      `Set ${SERVERS} to a resolver that does, such as unbound on this host: with this one, dead domains look alive.`,
    );
  }
  if (tookMs > SLOW_RESOLVER_MS) {
    return warn(
      'resolver',
      `The DNS resolver is slow: ${tookMs} ms for one name.`,
      `Set ${SERVERS} to a caching resolver nearby, such as unbound on this host.`,
    );
  }
  return pass(
    'resolver',
    `It answers in ${tookMs} ms for an uncached name, and returns NXDOMAIN for names that do not exist.`,
  );
}

async function askMadeUp(deps: DoctorDeps) {
  const name = `${Array.from({ length: 24 }, () => NAME_LETTERS[deps.random(26)]).join('')}.com`;
  const began = deps.clock.elapsed();
  const answer = await queryWithin(deps)(name, 'A');
  return { name, answer, tookMs: Math.round(deps.clock.elapsed() - began) };
}

/** Greetings come over one egress path: a local address (null: the system's choice) and a family. */
interface EgressPath {
  readonly bind: string | null;
  readonly family: 4 | 6;
  readonly greetings: readonly (Greeting & { readonly host: string })[];
}

interface EgressSurvey {
  readonly canaries: readonly CanaryHost[];
  readonly paths: readonly EgressPath[];
}

export const loadBlocklists = (path: string = dataFile('dnsbl.json')): readonly Blocklist[] =>
  JSON.parse(readFileSync(path, 'utf8'));

type Standing =
  | { readonly is: 'clear' }
  | { readonly is: 'listed'; readonly why: string }
  /** The list gives no usable answer for any address. */
  | { readonly is: 'mute'; readonly why: string };

async function checkBlocklists(deps: DoctorDeps, { ip }: SeenAddress): Promise<Finding> {
  const ask = queryWithin(deps);
  const family = ip.includes(':') ? 6 : 4;
  const lists = deps.blocklists.filter(({ families }) => families.includes(family));
  const standings = await Promise.all(lists.map(async (list) => ({ list, standing: await standingOn(list, ip, ask) })));
  const listed = standings.flatMap(({ list, standing }) =>
    standing.is === 'listed' ? [{ list, why: standing.why }] : [],
  );
  const mute = standings.flatMap(({ list, standing }) => (standing.is === 'mute' ? [{ list, why: standing.why }] : []));
  const unanswered = mute.map(({ list, why }) => `${list.name} (${why})`).join(', ');
  if (listed.length > 0) {
    const found = `${ip} is on ${listed.map(({ list, why }) => `${list.name} (${why})`).join(', ')}.`;
    const fix = `Find and fix the cause, then request removal: ${listed.map(({ list }) => list.delist).join(' ')}`;
    return problemFinding(
      listed.some(({ list }) => list.listed === 'fail') ? 'blocklisted' : 'blocklisted_minor',
      found,
      fix,
    );
  }
  const clear = lists.filter(({ name }) => !mute.some(({ list }) => list.name === name)).map(({ name }) => name);
  const clean = clear.length === 0 ? '' : `${ip} is not on ${clear.join(', ')}. `;
  if (clear.length === 0 || mute.some(({ list }) => list.listed === 'fail')) {
    return warn(
      'blocklists',
      `${clean}Not answered by ${unanswered || 'any list'}.`,
      'Set MAILVET_DNS_SERVERS to a resolver of your own (such as unbound on this host): the lists do not answer public ones.',
    );
  }
  return pass('blocklists', `${clean}${mute.length > 0 ? `Not answered by ${unanswered}.` : ''}`.trim());
}

/** 127.0.0.2 is on every list and 127.0.0.1 on none (RFC 5782 §5): a list that answers otherwise does not work. */
async function standingOn(list: Blocklist, ip: string, ask: AskDns): Promise<Standing> {
  const v4 = list.families.includes(4);
  const [answer, positive, negative] = await Promise.all([
    ask(`${reversed(ip)}.${list.zone}`, 'A'),
    ask(`${reversed(v4 ? '127.0.0.2' : '::ffff:7f00:2')}.${list.zone}`, 'A'),
    ask(`${reversed(v4 ? '127.0.0.1' : '::ffff:7f00:1')}.${list.zone}`, 'A'),
  ]);
  if (isFailedAnswer(answer)) return { is: 'mute', why: `the query ended in "${answer.kind}"` };
  const codes = answerAddresses(answer);
  const refusal = [...codes, ...answerAddresses(positive)].find((code) => isRefusedQuery(code, list));
  if (refusal !== undefined) return { is: 'mute', why: list.refusals[refusal] ?? `it answered ${refusal}` };
  if (!answerAddresses(positive).some(isListingCode)) return { is: 'mute', why: 'its test entry is missing' };
  if (answerAddresses(negative).some(isListingCode)) return { is: 'mute', why: 'it lists everything' };
  const meant = codes.filter(isListingCode).map((code) => list.codes[code] ?? `code ${code}`);
  return meant.length === 0 ? { is: 'clear' } : { is: 'listed', why: [...new Set(meant)].join('; ') };
}

const isListingCode = (address: string): boolean => address.startsWith('127.');
/** Spamhaus and others return 127.255.255.0/24 when they refuse a query. */
const isRefusedQuery = (code: string, { refusals }: Blocklist): boolean =>
  code in refusals || code.startsWith('127.255.255.');

const SET_HELO = 'Set MAILVET_SMTP_HELO to a fully qualified name of your own, such as check.example.net';

/** Checks that there is an EHLO name, that it is fully qualified, and that it resolves (RFC 5321 §2.3.5). */
async function checkHelo(deps: DoctorDeps): Promise<Finding> {
  const { helo } = deps.sender;
  if (helo === null) {
    const found = "There is no name for EHLO: the system's host name is not fully qualified.";
    return problemFinding('no_helo_name', found, `${SET_HELO}, which resolves to the address that mail servers see.`);
  }
  if (!isQualifiedName(helo))
    return problemFinding(
      'helo_unqualified',
      `"${helo}" is not a fully qualified host name; strict servers reject it.`,
      `${SET_HELO}.`,
    );
  const { addresses, unknown } = await lookUpAddresses(helo, queryWithin(deps));
  if (addresses.length > 0) return pass('helo', `${helo} resolves to ${addresses.slice(0, 4).join(', ')}.`);
  if (unknown) return warn('helo', `${helo} could not be looked up.`, RESOLVER_FIRST);
  return problemFinding(
    'helo_unresolved',
    `${helo} does not resolve.`,
    `Give ${helo} an A (or AAAA) record with the address that mail servers see.`,
  );
}

/** Checks that the HELO name resolves to the egress address. */
async function checkEgress(deps: DoctorDeps, { ip, by }: SeenAddress): Promise<Finding> {
  const { helo } = deps.sender;
  if (helo === null) return warn('egress', `This host connects from ${ip} (${by}), without a name.`, `${SET_HELO}.`);
  const { addresses, unknown } = await lookUpAddresses(helo, queryWithin(deps));
  if (addresses.some((a) => sameIp(a, ip)))
    return pass('egress', `This host connects from ${ip} (${by}); ${helo} resolves to it.`);
  const found = `This host connects from ${ip} (${by}), to which ${helo} does not resolve.`;
  if (unknown)
    return warn('egress', `This host connects from ${ip} (${by}); ${helo} could not be looked up.`, RESOLVER_FIRST);
  return problemFinding(
    'helo_elsewhere',
    found,
    `Add ${ip} to the ${ip.includes(':') ? 'AAAA' : 'A'} records of ${helo}, or set MAILVET_SMTP_HELO to a name that has it.`,
  );
}

/** Checks reverse DNS: that there is a PTR record, that it resolves back, and that it is the HELO name. */
async function checkPtr(deps: DoctorDeps, { ip }: SeenAddress): Promise<Finding> {
  const { helo } = deps.sender;
  const wanted = helo ?? 'the HELO name';
  const { names, confirmed, unknown } = await reverseNames(ip, queryWithin(deps));
  const toSet = `Have the owner of ${ip} (your provider) set its PTR record, ${ptrName(ip)}, to ${wanted}.`;
  if (unknown)
    return warn(
      'ptr',
      `The PTR record of ${ip} could not be checked.`,
      'Try again; if the problem persists, repair the DNS resolver.',
    );
  if (names.length === 0)
    return problemFinding('ptr_missing', `${ip} has no PTR record; many mail servers reject such hosts.`, toSet);
  if (confirmed.length === 0) {
    return problemFinding(
      'ptr_unconfirmed',
      `The PTR of ${ip} is ${names[0]}, which does not resolve to ${ip}.`,
      `${toSet} That name must resolve to ${ip}.`,
    );
  }
  if (helo !== null && !confirmed.includes(helo.toLowerCase())) {
    return problemFinding(
      'ptr_differs',
      `The PTR of ${ip} is ${confirmed[0]}, and EHLO says ${helo}.`,
      `${toSet} Or set MAILVET_SMTP_HELO=${confirmed[0]}.`,
    );
  }
  return pass(
    'ptr',
    `The PTR of ${ip} is ${confirmed.find((n) => n === helo?.toLowerCase()) ?? confirmed[0]}, which resolves to it.`,
  );
}

/** The finding of a check that needs the egress address when that is unknown. */
const RESOLVER_FIRST = 'Repair the DNS resolver first.';

function withoutEgress(check: DoctorCheck, { sender }: DoctorDeps, { canaries, paths }: EgressSurvey): Finding {
  const isReached = paths.some(({ greetings }) => reached(greetings) > 0);
  const otherwise = isReached
    ? 'Run the doctor again; if it stays so, set MAILVET_SMTP_BIND to the public address of this host.'
    : `Open port ${sender.port} first, then run the doctor again.`;
  return skip(
    check,
    'Not checked: the address that mail servers see could not be determined.',
    canaries.length === 0 ? RESOLVER_FIRST : otherwise,
  );
}

const SLOW_RESOLVER_MS = 1_000;
const NAME_LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const SERVERS = 'MAILVET_DNS_SERVERS';

/**
 * Checks that the SPF records of the sender's domain and of the HELO name permit the egress address; servers may check
 * either (RFC 7208 §2.3).
 */
async function checkSpf(deps: DoctorDeps, seen: SeenAddress): Promise<Finding[]> {
  const { helo, from } = deps.sender;
  if (helo === null || from === null)
    return [skip('spf', 'Not checked: without a HELO name there is no sender.', `${SET_HELO} first.`)];
  const sender = from === '<>' ? `postmaster@${helo}` : from.replace(/^<|>$/g, '');
  // RFC 7208 §2.4: for the null sender, postmaster at the HELO name is checked.
  const senders = sender.endsWith(`@${helo}`) ? [sender] : [sender, `postmaster@${helo}`];
  return Promise.all(senders.map((one) => checkSpfOf(one, helo, deps, seen)));
}

async function checkSpfOf(sender: string, helo: string, deps: DoctorDeps, { ip }: SeenAddress): Promise<Finding> {
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  const isOfHelo = sender === `postmaster@${helo}` && deps.sender.from !== '<>' && deps.sender.from !== sender;
  const { result, why } = await checkHost({ ip, sender, helo }, queryWithin(deps));
  const term = `ip${ip.includes(':') ? 6 : 4}:${ip}`;
  switch (result) {
    case 'pass':
      return pass('spf', `The SPF record of ${domain} permits ${ip} (${why}).`);
    case 'none':
      if (isOfHelo) return pass('spf', `${domain} has no SPF record: that of the sender's domain decides.`);
      return problemFinding(
        'spf_missing',
        `${domain} has no SPF record.`,
        `Publish one: ${domain}. TXT "v=spf1 ${term} -all".`,
      );
    case 'temperror':
      return warn(
        'spf',
        `SPF could not be checked: ${why}.`,
        'Try again; if the problem persists, repair the DNS resolver.',
      );
    case 'permerror':
      return problemFinding(
        'spf_invalid',
        `The SPF record of ${domain} is invalid: ${why}.`,
        `Correct it so that it permits ${term}.`,
      );
    case 'fail':
      return problemFinding(
        'spf_denied',
        `The SPF record of ${domain} denies ${ip} (${why}).`,
        `Add ${term} to it, or set MAILVET_SMTP_FROM to a sender of another domain.`,
      );
    case 'neutral':
    case 'softfail':
      return problemFinding(
        'spf_unauthorized',
        `The SPF record of ${domain} does not authorize ${ip}: ${result} (${why}).`,
        `Add ${term} to it.`,
      );
  }
}

const USELESS_DAYS = 180;
const NOT_READY =
  '`mailvet serve` and `mailvet migrate` create and migrate it. Check MAILVET_DATABASE_URL if it is elsewhere.';
const UPDATE = 'Run `mailvet disposable update`, every day.';

/** Whole days since a list's date; 0 if the date is invalid. */
export const ageInDays = (version: string, now: number): number =>
  Math.max(0, Math.floor((now - (fromIso(version) ?? now)) / DAY_MS));

function checkLists(deps: DoctorDeps): Finding {
  const { version, problem } = deps.lists;
  const days = ageInDays(version, deps.clock.now());
  const found = `The disposable list is dated ${version}, ${days} ${days === 1 ? 'day' : 'days'} old.`;
  if (days > USELESS_DAYS) return fail('lists', found, UPDATE);
  if (problem !== null) return warn('lists', `${found} A newer one is not in use: ${problem}.`, UPDATE);
  return days > LISTS_STALE_DAYS ? warn('lists', found, UPDATE) : pass('lists', found);
}

const isOff = (ms: number): boolean => Math.abs(ms) > CLOCK_TOLERANCE_MS;
const differenceOf = (ms: number): string => `${Math.round(Math.abs(ms) / 1000)} s ${ms < 0 ? 'behind' : 'ahead of'}`;

async function checkStoreHealth(deps: DoctorDeps): Promise<Finding> {
  try {
    const state = await deps.store();
    if ('notReady' in state) return warn('store', state.notReady, NOT_READY);
    const { name, looseModes, clock } = state;
    const found = `It accepts writes (${name}).`;
    if (isOff(clock.aheadMs))
      return fail(
        'store',
        `${found} The clock of this host is ${differenceOf(clock.aheadMs)} that of the store.`,
        SYNCHRONIZE,
      );
    if (isOff(clock.stepMs))
      return warn(
        'store',
        `${found} Its clock is ${differenceOf(clock.stepMs)} the last time it was used.`,
        `${SYNCHRONIZE} After a long downtime this is normal.`,
      );
    if (looseModes.length === 0) return pass('store', found);
    const paths = looseModes.map(({ path, mode }) => `${path} (mode ${mode})`).join(', ');
    const fix = `Run ${looseModes.map((loose) => `\`${loose.fix}\``).join(', ')}.`;
    return warn('store', `${found} Other users of this host can read or change ${paths}.`, fix);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const fix = 'Check MAILVET_DATABASE_URL, the free space, and the permissions of its folder.';
    return fail('store', `The store does not accept writes: ${why.replace(/\.$/, '')}.`, fix);
  }
}

const OFF_WARN_SECONDS = 30;
const OFF_FAIL_SECONDS = 300;
const SYNCHRONIZE = 'Synchronize the clock by NTP: `timedatectl set-ntp true`, or chrony.';

/** Compares the clock with the Date header of an HTTP reply, which is accurate to a second or two. */
async function checkClock(deps: DoctorDeps): Promise<Finding> {
  const before = deps.clock.now();
  const answer = await deps.httpDate().catch(() => null);
  const ours = (before + deps.clock.now()) / 2;
  const theirs = parseHttpDate(answer?.date ?? '');
  if (answer === null || theirs === null) {
    const why = answer === null ? 'no web server answered' : `${answer.from} sent no date`;
    return warn('clock', `The clock could not be compared: ${why}.`, 'Make sure that it is synchronized by NTP.');
  }
  // A cache may have kept the date for `Age` seconds, or written its own: the smaller difference is the real one.
  const ageSeconds = /^\d{1,9}$/.test(answer.age ?? '') ? Number(answer.age) : 0;
  const differences = [0, ageSeconds].map((seconds) => (ours - theirs) / 1000 - 0.5 - seconds);
  const off = differences.reduce((a, b) => (Math.abs(b) < Math.abs(a) ? b : a));
  const apart = Math.round(Math.abs(off));
  const found = `The clock is ${apart} s ${off < 0 ? 'behind' : 'ahead of'} that of ${answer.from}.`;
  if (apart > OFF_FAIL_SECONDS) return fail('clock', found, SYNCHRONIZE);
  return apart > OFF_WARN_SECONDS
    ? warn('clock', found, SYNCHRONIZE)
    : pass('clock', `The clock agrees with that of ${answer.from}.`);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const HTTP_DATE = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;

/** Reads the milliseconds of an IMF-fixdate (RFC 9110 §5.6.7), or null. */
export function parseHttpDate(text: string): number | null {
  const match = HTTP_DATE.exec(text);
  const month = MONTHS.indexOf(match?.[2] ?? '');
  if (match === null || month < 0) return null;
  const [, day, , year = 0, hour, minute, second] = match.map(Number);
  return Date.UTC(year, month, day, hour, minute, second);
}

/** Share of a check's time for DNS; the rest is for the greetings. */
const RESOLVE_SHARE = 0.4;
/** At most this many local addresses are checked. */
const MOST_PATHS = 16;

async function surveyEgress(deps: DoctorDeps): Promise<EgressSurvey> {
  const began = deps.clock.elapsed();
  const canaries = await resolveCanaryHosts(deps.canaryDomains, deps, began + deps.checkMs * RESOLVE_SHARE);
  const { bind, families = IP_FAMILIES } = deps.sender;
  const egresses: readonly { bind: string | null; family: IpFamily }[] =
    bind.length === 0
      ? families.map((family) => ({ bind: null, family }))
      : bind.slice(0, MOST_PATHS).map((ip) => ({ bind: ip, family: isIP(ip) === 6 ? 6 : 4 }));
  const withinMs = deps.checkMs * 0.9 - (deps.clock.elapsed() - began);
  const paths = await Promise.all(egresses.map((egress) => probePath(deps, canaries, egress, withinMs)));
  return { canaries, paths };
}

async function probePath(
  deps: DoctorDeps,
  canaries: readonly CanaryHost[],
  { bind, family }: { bind: string | null; family: 4 | 6 },
  withinMs: number,
): Promise<EgressPath> {
  const greetings = await Promise.all(
    canaries.flatMap(({ host, v4, v6 }) => {
      const address = (family === 4 ? v4 : v6)[0];
      return address === undefined
        ? []
        : [deps.probeGreeting(address, { withinMs, bind }).then((greeting) => ({ ...greeting, host }))];
    }),
  );
  return { bind, family, greetings };
}

/** Checks that mail servers can be reached and send a greeting. */
function checkPort(deps: DoctorDeps, { canaries, paths }: EgressSurvey): Finding[] {
  const { port } = deps.sender;
  if (canaries.length === 0) {
    const asked = deps.canaryDomains.join(', ');
    return [skip('port', `Not tried: no mail host of ${asked} could be found.`, RESOLVER_FIRST)];
  }
  // Without MAILVET_SMTP_BIND a host may have no IPv6 at all, and needs none.
  const needed = paths.filter(
    ({ bind, family, greetings }) => bind !== null || family === 4 || paths.length === 1 || reached(greetings) > 0,
  );
  return needed.map((path) => portFinding(path, port));
}

const reached = (greetings: EgressPath['greetings']): number => greetings.filter(({ connected }) => connected).length;

function portFinding({ bind, family, greetings }: EgressPath, port: number): Finding {
  const from = bind === null ? (family === 6 ? ' over IPv6' : '') : ` from ${bind}`;
  const connected = greetings.filter((g) => g.connected);
  const names = greetings.map(({ host }) => host).join(', ');
  if (greetings.length === 0) return warn('port', `Not tried${from}: the canary hosts have no such address.`, null);
  if (greetings.every(({ error }) => error === 'EADDRNOTAVAIL')) {
    return problemFinding(
      'not_of_this_host',
      `${bind} is not an address of this host.`,
      'Set MAILVET_SMTP_BIND to addresses of this host.',
    );
  }
  const proxyErrors = greetings.flatMap(({ proxyError }) => proxyError ?? []);
  if (proxyErrors.length === greetings.length) {
    const why = [...new Set(proxyErrors)].join(', ');
    const fix = 'See that it runs, can be reached from here, and takes the user and password.';
    return problemFinding('proxy_fails', `The SOCKS server connects to no mail server (${why}).`, fix);
  }
  if (connected.length === 0) {
    const why = [...new Set(greetings.map(({ error }) => (error === 'deadline' ? 'no answer' : error)))].join(', ');
    const found = `No mail server can be reached on port ${port}${from} (${names}: ${why}).`;
    const fix = `Have your provider open outbound port ${port}, and check this host's firewall. Until then only the mx level works.`;
    return greetings.length >= 2 ? problemFinding('port_closed', found, fix) : warn('port', found, fix);
  }
  const welcome = connected.filter(({ code }) => code !== null && code < 400);
  if (welcome.length === 0) {
    const said = connected.find((g) => g.said !== null)?.said;
    const found =
      said === undefined
        ? `Port ${port} opens${from}, but no mail server sends a banner (${names}).`
        : `Every mail server tried${from} rejects this host: "${said}".`;
    return problemFinding(
      said === undefined ? 'port_intercepted' : 'refused_everywhere',
      found,
      said === undefined
        ? `Something between this host and the Internet intercepts the connections; ask your provider to open port ${port}.`
        : 'See the reply, and ptr and blocklists below; or connect from another address with MAILVET_SMTP_BIND.',
    );
  }
  return pass('port', `Open${from}: ${welcome.length} of ${greetings.length} mail servers greeted this host.`);
}

/** An address under which mail servers see us. */
interface SeenAddress {
  readonly ip: string;
  /** How it was determined, as a phrase. */
  readonly by: string;
}

/** One address per working egress path: as a server echoed it, else the local one if that is public. */
function seenAddresses(deps: DoctorDeps, { paths }: EgressSurvey): SeenAddress[] {
  const found = new Map<string, SeenAddress>();
  for (const { bind, family, greetings } of paths) {
    const connected = greetings.filter((g) => g.connected);
    const isOne = (ip: string | null): ip is string => ip !== null && isIP(ip) === family && deps.isPublic(ip);
    const [echo] = connected.flatMap(({ greetedAs: ip, host }) =>
      isOne(ip) ? [{ ip, by: `as seen by ${host}` }] : [],
    );
    const local = connected.find(({ localAddress }) => isOne(localAddress))?.localAddress ?? null;
    if (echo) found.set(echo.ip, echo);
    else if (isOne(bind)) found.set(bind, { ip: bind, by: 'from MAILVET_SMTP_BIND' });
    else if (isOne(local)) found.set(local, { ip: local, by: 'the local end of the connection' });
  }
  return [...found.values()];
}
