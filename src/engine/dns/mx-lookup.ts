/**
 * The dns stage: which hosts receive a domain's mail (RFC 5321 §5.1, 7505). A coroutine that yields DNS questions, so
 * that it runs either by querying the resolver (`runLookup`) or from its cache alone (`lookUpFromCache`).
 */
import { isIPv4 } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { ProviderKind } from '../../kernel/facts/reasons.ts';
import { unlistedTld } from '../address/parse.ts';
import type { DnsEvidence, DnsFailure, DnsFinding, MailHost, MxRecord, Untrusted, UnusableMx } from '../evidence.ts';
import { type DnsAnswer, type DnsQuestion, isMailHostName, isUntrusted } from './message.ts';
import { QUERY_BUDGET_MS, type QueryLimit, type Resolver } from './resolver.ts';
import { type Routing, routable } from './routable.ts';

export interface MxLookupOptions extends Routing {
  /** Usable hosts after which no further addresses are looked up: 1 shows that mail can be sent, 3 are dialled. */
  readonly hostsWanted: number;
  /** Returns 0 ≤ random < 1 and shuffles hosts of equal preference. */
  readonly random: () => number;
  readonly domainData: { provider(mxHost: string): { name: string; kind: ProviderKind } | null };
}

type MxLookup = Generator<readonly DnsQuestion[], DnsEvidence, readonly DnsAnswer[]>;

/** MX records read; the rest is ignored. */
const MAX_RECORDS = 20;
/** This many addresses are kept per host and family. */
const MAX_ADDRESSES = 8;
/** Hosts looked up at once, after the first ones were unusable. */
const GROUP = 4;

type Unusable = DnsEvidence['unusable'][number];

const NO_ANSWER: DnsAnswer = { kind: 'timeout' };

export const dnsEvidence = (finding: DnsFinding, more: Partial<DnsEvidence> = {}): DnsEvidence => ({
  finding,
  failure: null,
  records: [],
  hosts: [],
  unusable: [],
  provider: null,
  ...more,
});

/**
 * Queries the MX records of `domain` (lower-case ASCII), then the addresses of its hosts, until `hostsWanted` are
 * usable. `dns_failure` here means only that the queries failed; `runLookup` determines whether the resolver is at
 * fault. A top-level domain that no list has is queried as well; there is nothing below one that does not exist (RFC
 * 8020), but records of the domain count whatever is said of it.
 */
export function* lookUpMailServers(domain: string, options: MxLookupOptions): MxLookup {
  const mxQuestion: DnsQuestion = { name: domain, type: 'MX' };
  const tld = unlistedTld(domain);
  // NS, because some resolvers do not pass on address queries for names without a dot.
  const [mx = NO_ANSWER, top] = yield tld === null ? [mxQuestion] : [mxQuestion, { name: tld, type: 'NS' }];
  switch (mx.kind) {
    case 'records':
      return yield* fromRecords(recordsOf(mx), options);
    case 'nxdomain':
      return dnsEvidence(top?.kind === 'nxdomain' ? 'tld_not_found' : 'domain_not_found');
    case 'nodata':
      return yield* implicit(domain, options);
    case 'servfail':
    case 'refused':
    case 'timeout':
    case 'malformed':
    case 'network':
    case 'denies_every_name':
    case 'answers_every_name':
    case 'unconfirmed':
      if (top?.kind === 'nxdomain') return dnsEvidence('tld_not_found');
      return dnsEvidence('dns_failure', { failure: mx.kind });
  }
}

const sorted = new WeakMap<DnsAnswer, readonly MxRecord[]>();

/**
 * Records of an MX answer by preference, then host, each host once; where there are several, computed once per answer.
 */
function recordsOf(answer: DnsAnswer): readonly MxRecord[] {
  if (answer.kind !== 'records') return [];
  const [only] = answer.records;
  if (answer.records.length === 1 && only?.type === 'MX') return [{ host: only.host, priority: only.priority }];
  const known = sorted.get(answer);
  if (known) return known;
  const all = answer.records.flatMap((record) =>
    record.type === 'MX' ? [{ host: record.host, priority: record.priority }] : [],
  );
  all.sort((a, b) => a.priority - b.priority || (a.host < b.host ? -1 : a.host > b.host ? 1 : 0));
  const hosts = new Set<string>();
  const records = all.filter(({ host }) => !hosts.has(host) && hosts.add(host)).slice(0, MAX_RECORDS);
  sorted.set(answer, records);
  return records;
}

function* fromRecords(records: readonly MxRecord[], options: MxLookupOptions): MxLookup {
  if (records.length === 1 && records[0]?.host === '.') return dnsEvidence('null_mx', { records });
  const candidates: MxRecord[] = [];
  const unusable: Unusable[] = [];
  for (const record of records) {
    const why = unusableName(record.host);
    if (why) unusable.push({ host: record.host, why });
    else candidates.push(record);
  }
  const provider = candidates[0] ? options.domainData.provider(candidates[0].host) : null;
  const found = yield* usableHosts(shuffleEqual(candidates, options.random), options);
  unusable.push(...found.unusable);
  if (found.hosts.length > 0) return dnsEvidence('mx', { records, hosts: found.hosts, unusable, provider });
  const finding = found.failure ? 'dns_failure' : 'mx_unusable';
  return dnsEvidence(finding, { failure: found.failure, records, unusable, provider });
}

/** No MX: the domain itself is its mail host, if it has an address (RFC 5321 §5.1). */
function* implicit(domain: string, options: MxLookupOptions): MxLookup {
  const records = [{ host: domain, priority: 0 }];
  const { hosts, unusable, failure } = yield* usableHosts(records, options);
  const provider = options.domainData.provider(domain);
  if (hosts.length > 0) return dnsEvidence('implicit_mx', { records, hosts, provider });
  if (failure) return dnsEvidence('dns_failure', { failure });
  if (unusable[0]?.why === 'not_routable') return dnsEvidence('mx_unusable', { records, unusable, provider });
  return dnsEvidence('no_mx_records');
}

function unusableName(host: string): UnusableMx | null {
  if (isIPv4(host) || /^\\?\[/.test(host)) return 'ip_literal';
  if (host === 'localhost' || host.endsWith('.localhost') || host === 'localhost.localdomain') return 'localhost';
  return isMailHostName(host) ? null : 'invalid_name';
}

/** A copy in which hosts of equal preference are shuffled, to share the load (RFC 5321 §5.1). */
function shuffleEqual(records: readonly MxRecord[], random: () => number): MxRecord[] {
  const order = [...records];
  for (let i = order.length - 1; i > 0; i--) {
    let first = i;
    while (first > 0 && order[first - 1]?.priority === order[i]?.priority) first--;
    const j = first + Math.floor(random() * (i - first + 1));
    const [one, other] = [order[i], order[j]];
    if (one && other) [order[i], order[j]] = [other, one];
  }
  return order;
}

interface HostResult {
  readonly record: MxRecord;
  /** The addresses that may be dialled, or why there are none. */
  readonly addresses: readonly string[];
  readonly why: UnusableMx | null;
  readonly failure: DnsFailure | null;
}

/** Looks hosts up in groups, in order, until enough are usable. `failure`: of the last failed lookup. */
function* usableHosts(
  candidates: readonly MxRecord[],
  options: MxLookupOptions,
): Generator<
  readonly DnsQuestion[],
  { hosts: MailHost[]; unusable: Unusable[]; failure: DnsFailure | null },
  readonly DnsAnswer[]
> {
  const hosts: MailHost[] = [];
  const useless: HostResult[] = [];
  const sort = (looked: readonly HostResult[]): void => {
    for (const one of looked) {
      if (one.why) useless.push(one);
      else hosts.push({ host: one.record.host, priority: one.record.priority, addresses: one.addresses });
    }
  };
  for (let next = 0; next < candidates.length && hosts.length < options.hostsWanted; ) {
    const size = next === 0 ? options.hostsWanted : GROUP;
    sort(yield* lookUpAddressesOf(candidates.slice(next, next + size), options));
    next += size;
  }
  // Slow lookups were dropped because others answered first; now they are the only ones left.
  const late = hosts.length > 0 ? [] : useless.filter(({ failure }) => failure === 'timeout').slice(0, GROUP);
  if (late.length > 0) {
    for (const one of late) useless.splice(useless.indexOf(one), 1);
    sort(
      yield* lookUpAddressesOf(
        late.map(({ record }) => record),
        options,
      ),
    );
  }
  const unusable = useless.flatMap(({ record, why }) => (why === null ? [] : [{ host: record.host, why }]));
  return { hosts, unusable, failure: useless.reduce<DnsFailure | null>((last, { failure }) => failure ?? last, null) };
}

/** Both address families of some hosts at once. */
function* lookUpAddressesOf(
  records: readonly MxRecord[],
  options: MxLookupOptions,
): Generator<readonly DnsQuestion[], HostResult[], readonly DnsAnswer[]> {
  const questions: DnsQuestion[] = [];
  for (const { host } of records) questions.push({ name: host, type: 'A' }, { name: host, type: 'AAAA' });
  const answers = yield questions;
  return records.map((record, i) => hostResult(record, answers.slice(2 * i, 2 * i + 2), options));
}

interface Dialable {
  /** These may be dialled; there are at most MAX_ADDRESSES. */
  readonly addresses: readonly string[];
  readonly published: number;
  /** The options that decide which addresses may be dialled. */
  readonly by: Routing;
}

const dialable = new WeakMap<DnsAnswer, Dialable>();

/** Reads the addresses of an A or AAAA answer; they are computed once per cached answer. */
function dialableAddresses(answer: DnsAnswer, { own, allowPrivate }: Routing): Dialable {
  const known = dialable.get(answer);
  if (known?.by.own === own && known.by.allowPrivate === allowPrivate) return known;
  const by = { own, allowPrivate };
  const all = answer.kind === 'records' ? answer.records.flatMap((r) => ('address' in r ? [r.address] : [])) : [];
  const addresses: string[] = [];
  for (const address of all) {
    if (addresses.length === MAX_ADDRESSES) break;
    if (routable(address, by)) addresses.push(address);
  }
  const found = { addresses, published: all.length, by };
  dialable.set(answer, found);
  return found;
}

function hostResult(record: MxRecord, answers: readonly DnsAnswer[], options: MxLookupOptions): HostResult {
  const addresses: string[] = [];
  let published = 0;
  let failure: DnsFailure | null = null;
  for (const answer of answers) {
    if (answer.kind === 'records') {
      const found = dialableAddresses(answer, options);
      published += found.published;
      for (const address of found.addresses) addresses.push(address);
    } else if (answer.kind !== 'nodata' && answer.kind !== 'nxdomain') failure = answer.kind;
  }
  if (addresses.length > 0) return { record, addresses, why: null, failure: null };
  const why = failure ? 'dns_failure' : published > 0 ? 'not_routable' : 'no_address';
  return { record, addresses, why, failure };
}

/** Milliseconds to wait for the other lookups of a batch once one address has arrived. */
const GRACE_MS = 1500;
/** Milliseconds of waiting after which the resolver's liveness is probed in parallel. */
const LIVENESS_PROBE_AFTER_MS = 1000;

const TIMED_OUT_ANSWER: DnsAnswer = { kind: 'timeout' };

const isFailure = ({ kind }: DnsAnswer): boolean => kind !== 'records' && kind !== 'nodata' && kind !== 'nxdomain';

/**
 * Runs the lookup with `resolver.ask`; rejects only with a fault of ours. Timeouts cost at most 5 s in total, and the
 * caller's extra wait as long as the resolver is alive: time spent on one is subtracted from what later queries may
 * wait. If queries failed and the others were inconclusive, `dns_failure` means that the resolver is alive, so this
 * domain's servers are failing; `resolver_unavailable` that it is not, that its answers
 * are false, or that the caller disconnected.
 */
export async function runLookup(
  lookup: MxLookup,
  resolver: Resolver,
  limit: QueryLimit & { clock: Clock },
): Promise<DnsEvidence> {
  const { clock, signal } = limit;
  let remainingMs = QUERY_BUDGET_MS;
  let extraWaitMs = limit.extraWaitMs ?? 0;
  // Probed once, when the first queries fail; later failures share the result.
  const asked: { alive: Promise<boolean> | null } = { alive: null };
  let hadFailure = false;
  let untrusted: Untrusted | null = null;
  let step = lookup.next();
  while (!step.done) {
    // Most hosts are known already: nothing to wait for, nor to time.
    const cached = answersFromCache(step.value, resolver);
    if (cached !== null) {
      step = lookup.next(cached.map(({ answer }) => answer));
      continue;
    }
    const sinceMs = clock.elapsed();
    const probeLiveness = (): Promise<boolean> => {
      asked.alive ??= resolver
        .alive({ deadlineMs: Math.min(limit.deadlineMs, sinceMs + QUERY_BUDGET_MS), sinceMs })
        .then(
          (isAlive) => {
            // A resolver that is silent for everybody is not waited for any longer.
            if (!isAlive) extraWaitMs = 0;
            return isAlive;
          },
          (fault: unknown) => {
            warnOfFault(fault);
            return false;
          },
        );
      return asked.alive;
    };
    const usualDeadlineMs = Math.min(limit.deadlineMs, sinceMs + remainingMs);
    const deadlineMs = Math.min(limit.deadlineMs, sinceMs + remainingMs + extraWaitMs);
    const how = { deadlineMs, usualDeadlineMs, extraWaitMs, clock, signal, probeLiveness };
    const answers = await askBatch(step.value, resolver, how);
    hadFailure ||= answers.some(isFailure);
    for (const { kind } of answers) untrusted = isUntrusted(kind) ? kind : untrusted;
    asked.alive = hadFailure ? probeLiveness() : null;
    if (answers.some(({ kind }) => kind === 'timeout')) {
      remainingMs -= clock.elapsed() - sinceMs;
      extraWaitMs = Math.max(0, extraWaitMs + Math.min(0, remainingMs));
      remainingMs = Math.max(0, remainingMs);
    }
    step = lookup.next(answers);
  }
  if (step.value.finding !== 'dns_failure') return step.value;
  if (untrusted !== null) return { ...step.value, finding: 'resolver_unavailable', failure: untrusted };
  const theirs = !signal?.aborted && (await asked.alive) === true;
  return theirs ? step.value : { ...step.value, finding: 'resolver_unavailable' };
}

type AnsweredQuestion = DnsQuestion & { readonly answer: DnsAnswer };

/** Evidence that the cache gave, and what it was made of. */
interface KnownEvidence {
  readonly options: MxLookupOptions;
  readonly used: readonly AnsweredQuestion[];
  readonly evidence: DnsEvidence;
}

/** By the domain data, so that replaced ones are not kept, and by the answer about the domain. */
const knownEvidence = new WeakMap<MxLookupOptions['domainData'], WeakMap<DnsAnswer, KnownEvidence>>();

/**
 * The evidence if everything is cached; null at the first miss. For the same answers it is made once, so hosts of equal
 * preference keep their order meanwhile.
 */
export function lookUpFromCache(domain: string, options: MxLookupOptions, resolver: Resolver): DnsEvidence | null {
  const mx = resolver.peek(domain, 'MX');
  if (mx === undefined) return null;
  const ofDomainData = knownEvidence.get(options.domainData) ?? new WeakMap<DnsAnswer, KnownEvidence>();
  const before = ofDomainData.get(mx);
  if (before !== undefined && isCurrent(before, options, resolver)) return before.evidence;
  const used: AnsweredQuestion[] = [];
  const lookup = lookUpMailServers(domain, options);
  let step = lookup.next();
  while (!step.done) {
    const answers = answersFromCache(step.value, resolver);
    if (answers === null) return null;
    // The answer about the domain is the one by which this is found.
    used.push(...answers.filter(({ answer }) => answer !== mx));
    step = lookup.next(answers.map(({ answer }) => answer));
  }
  knownEvidence.set(options.domainData, ofDomainData.set(mx, { options, used, evidence: step.value }));
  return step.value;
}

const isCurrent = ({ options: by, used }: KnownEvidence, options: MxLookupOptions, resolver: Resolver): boolean =>
  by.hostsWanted === options.hostsWanted &&
  by.own === options.own &&
  by.allowPrivate === options.allowPrivate &&
  used.every(({ name, type, answer }) => resolver.peek(name, type) === answer);

/** Returns null at the first miss. */
function answersFromCache(questions: readonly DnsQuestion[], resolver: Resolver): AnsweredQuestion[] | null {
  const answers: AnsweredQuestion[] = [];
  for (const { name, type } of questions) {
    const answer = resolver.peek(name, type);
    if (answer === undefined) return null;
    answers.push({ name, type, answer });
  }
  return answers;
}

interface BatchOptions {
  readonly deadlineMs: number;
  /** The deadline without the extra wait, which is not for a resolver that is silent for everybody. */
  readonly usualDeadlineMs: number;
  readonly extraWaitMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Called when the answers are slow. */
  readonly probeLiveness: () => Promise<boolean>;
}

/** Sends all queries at once. Those that exceed the grace period count as timed out. */
function askBatch(questions: readonly DnsQuestion[], resolver: Resolver, how: BatchOptions): Promise<DnsAnswer[]> {
  const answers = questions.map(() => TIMED_OUT_ANSWER);
  const { deadlineMs, extraWaitMs, signal } = how;
  const limit = signal ? { deadlineMs, extraWaitMs, signal } : { deadlineMs, extraWaitMs };
  let open = questions.length;
  let grace: NodeJS.Timeout | undefined;
  let usualEnd: NodeJS.Timeout | undefined;
  // The liveness probe needs time too: half of a short deadline.
  const probeAfterMs = Math.max(0, Math.min(LIVENESS_PROBE_AFTER_MS, (how.deadlineMs - how.clock.elapsed()) / 2));
  return new Promise((resolve, reject) => {
    let done = false;
    const giveUpUnless = (isAlive: boolean): void => {
      if (isAlive || done || extraWaitMs === 0) return;
      usualEnd = setTimeout(finish, Math.max(0, how.usualDeadlineMs - how.clock.elapsed()));
    };
    const probe = (): void => {
      how.probeLiveness().then(contain(reject, giveUpUnless), reject);
    };
    const probeTimer = setTimeout(contain(reject, probe), probeAfterMs);
    const finish = contain(reject, (): void => {
      done = true;
      clearTimeout(probeTimer);
      clearTimeout(grace);
      clearTimeout(usualEnd);
      resolve([...answers]);
    });
    const fail = (fault: unknown): void => {
      clearTimeout(probeTimer);
      reject(fault);
    };
    questions.forEach(({ name, type }, i) => {
      const onAnswer = (answer: DnsAnswer): void => {
        answers[i] = answer;
        open--;
        if (open === 0) finish();
        else if (answer.kind === 'records') grace ??= setTimeout(finish, GRACE_MS);
      };
      resolver.ask(name, type, limit).then(contain(fail, onAnswer), fail);
    });
  });
}
