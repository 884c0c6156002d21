/**
 * Verifies addresses of lists with the functions of a single call: what needs no network in one pass, then each domain
 * once, then mailboxes, where recipients of the same hosts share sessions (engine/smtp/pool.ts). Outcomes are reported
 * as they are known.
 */
import { dnsEvidence } from '../../engine/dns/mx-lookup.ts';
import type { DnsEvidence, Evidence } from '../../engine/evidence.ts';
import { decideVerdict, type Verdict } from '../../engine/findings.ts';
import { CATCH_ALL_SKIPPED, resultWithoutDialogue } from '../../engine/smtp/mailbox.ts';
import { type HostOwners, hostOwners, mailOperatorKey } from '../../engine/smtp/operators.ts';
import { selectorOf, testEvidence, testMailHosts, testOutcomeOf } from '../../engine/test-mode.ts';
import {
  checkMailbox,
  dnsExtraWaitMs,
  type EngineDeps,
  isUnfiltered,
  lookUpDomain,
  needsMailboxCheck,
  runFromCache,
  runOffline,
  withBounce,
  withDns,
} from '../../engine/verify.ts';
import { type Clock, MINUTE_MS } from '../../kernel/clock.ts';
import { TIMEOUT_MS } from '../../kernel/facts/limits.ts';
import type { Level } from '../../kernel/facts/plans.ts';
import { FairQueue } from '../../kernel/fair-queue.ts';
import { listResultId, sha256Hex } from '../../kernel/ids.ts';
import type { ListSteps } from '../../kernel/list-work.ts';
import type {
  AccountId,
  AddressHasher,
  FilterKeys,
  FilterMatches,
  FilterRule,
  ListOutcome,
  ListWork,
  RunningList,
} from '../../store/store.ts';
import type { OutcomeMemory, Recalled } from '../learned.ts';
import { filterKeys, hostKeys, mailboxNameOf, matchOf, toRecord, withMatch } from '../verify.ts';
import { GiveWay } from './give-way.ts';
import type { ListOperators } from './operators.ts';

/** Domains that are looked up, and mailboxes that are checked, at the same time. */
const LIST_LOOKUPS = 128;
const LIST_CHECKS = 2_000;
const LIST_OPERATOR_LENGTH = 200;

interface VerifyListParts {
  readonly engine: EngineDeps;
  readonly operators: ListOperators;
  /** See `Filters.matchMany`. */
  readonly matchFilters: (account: AccountId, keys: () => readonly FilterKeys[]) => Promise<FilterMatches | null>;
  readonly outcomes: Pick<OutcomeMemory, 'recall'>;
  /** Null: addresses are kept. */
  readonly keepAs: AddressHasher | null;
  /** Single calls so far: while they come, lists leave them the processor. */
  readonly singleCalls: () => number;
}

/** When work on a list ends. */
export interface ListEnd {
  /** Nothing more is begun. */
  readonly signal: AbortSignal;
  /** Mail servers are not waited for any more; not before `signal`. */
  readonly breakOff: AbortSignal;
}

/** Says where the outcomes of a list go. */
interface Receiver {
  report(outcome: ListOutcome): void;
  /** A fault of the engine; the address it was about is reported all the same, and asked about again later. */
  failed(error: unknown): void;
  /** Nothing is left of the addresses but answers from the network. */
  allUnderWay(): void;
  /** Resolves when fewer outcomes than `waiting` are left that are not recorded. */
  room(waiting: number): Promise<void>;
}

/** Nobody waits, so there is time for servers that are busy, and then for those that answer late. */
const CHECK_MS = { start: 2 * TIMEOUT_MS.max, answer: TIMEOUT_MS.max };
/** A look-up has so long, and one of a domain that could not be looked up before has longer. */
const LOOKUP_MS = { first: TIMEOUT_MS.default, later: TIMEOUT_MS.max };
/** The domains of a pass are waited for so long, until further addresses are judged beside them. */
const PLACE_MS = 100;
/** After so long, an address that was not asked about is tried again: the resolver is down, or the rate has no room. */
const AGAIN_MS = 14_000;
/** After so long, an address may be claimed by the node that checks the mailboxes of its operator. */
const HAND_OVER_MS = 1_000;
/** An address that needs the network. */
interface Open {
  readonly work: ListWork;
  readonly evidence: Evidence;
  readonly started: number;
  /** This filter of the account matched. */
  readonly filter: FilterRule | null;
  readonly recalled: Recalled | null;
}

/** Addresses of one domain; `matchesHosts`: the account has filters of mail hosts. */
interface SameDomain {
  readonly opens: readonly [Open, ...Open[]];
  readonly matchesHosts: boolean;
}

/** This gives the place in a FairQueue back. */
type GiveBack = Promise<() => void>;

/** A job verifies a part of a list. */
interface Job extends ListEnd {
  readonly list: RunningList;
  readonly to: Receiver;
}

export function createListVerifier({
  engine,
  operators,
  matchFilters,
  outcomes,
  keepAs,
  singleCalls,
}: VerifyListParts) {
  const owners = hostOwners(engine.domainData);
  const way = new GiveWay(engine.clock, singleCalls);
  const processor = new SharedTurns(engine.clock, way);
  const storage = new SharedTurns(engine.clock, way);
  const lookups = new FairQueue(LIST_LOOKUPS);
  const checks = new FairQueue(LIST_CHECKS);
  /** Goes through all items, in slices of a few ms. */
  async function inSlices<T>({ list, signal }: Job, items: readonly T[], each: (item: T, i: number) => void) {
    for (let next = 0; next < items.length && !signal.aborted; ) {
      await processor.take(list, () => {
        const end = engine.clock.elapsed() + way.steps().sliceMs;
        do {
          const item = items[next];
          if (item !== undefined) each(item, next);
          next++;
        } while (next < items.length && engine.clock.elapsed() < end);
      });
    }
  }

  /** False: there is no verdict, as the resolver is down. */
  function finish({ list, to }: Job, { work, started, filter, recalled }: Open, evidence: Evidence): boolean {
    const judged = decideVerdict(evidence);
    if (judged === null) return false;
    const verdict = list.test ? { ...judged, price: null, credits: 0 } : judged;
    const { level, clientIp, policy } = list;
    const asked = { email: work.email, level, clientIp, policy, withEvidence: false };
    const id = listResultId(list.id, work.address);
    const record = toRecord(engine, asked, { id, started, filter, learned: recalled, keepAs }, evidence, verdict);
    const egress = evidence.smtp?.egress ?? work.egress;
    to.report({ work, record, retryMs: list.test ? null : waitForRetryMs(evidence, verdict, work.attempts), egress });
    return true;
  }

  function finishOrWait(job: Job, open: Open, evidence: Evidence): void {
    if (!finish(job, open, evidence))
      job.to.report({ work: open.work, record: null, operator: null, againMs: AGAIN_MS });
  }

  /** Runs the dns stage of a domain; null when it was aborted. */
  async function lookUp({ signal, to }: Job, { evidence, work }: Open, leave: () => void): Promise<DnsEvidence | null> {
    try {
      if (signal.aborted) return null;
      const ms = work.attempts === 0 ? LOOKUP_MS.first : LOOKUP_MS.later;
      const limit = { deadlineMs: engine.clock.elapsed() + ms, extraWaitMs: dnsExtraWaitMs(ms), signal };
      const dns = await lookUpDomain(evidence, limit, engine).catch((error: unknown) => {
        to.failed(error);
        return dnsEvidence('dns_failure', { failure: 'malformed' });
      });
      return signal.aborted ? null : dns;
    } finally {
      leave();
    }
  }

  /** All addresses of a domain, when there is a place for its lookup. */
  async function goOnline(job: Job, { opens, matchesHosts }: SameDomain, place: GiveBack): Promise<void> {
    const dns = await lookUp(job, opens[0], await place);
    if (dns === null) return;
    const operator = operatorOf(dns, owners);
    const looked = opens.map((open) => ({ ...open, evidence: withDns(open.evidence, dns, engine) }));
    const open = looked.find(({ evidence }) => matchesHosts && isUnfiltered(evidence));
    const hosts = open && (await matchFilters(job.list.account, () => [hostKeys(open.evidence)]));
    const checked: Promise<void>[] = [];
    for (const one of looked) {
      const filtered = withOneFilter(one, hosts?.filters[0] ?? null);
      if (needsMailboxCheck(filtered.evidence)) checked.push(checkHere(job, filtered, operator));
      else finishOrWait(job, filtered, filtered.evidence);
    }
    await Promise.all(checked);
  }

  /** Hands the address over if another node checks the operator's mailboxes. */
  async function checkHere(job: Job, open: Open, operator: string): Promise<void> {
    if (!(await operators.enter(operator)))
      return job.to.report({ work: open.work, record: null, operator, againMs: HAND_OVER_MS });
    try {
      await check(job, open);
    } finally {
      operators.leave(operator);
    }
  }

  async function check(job: Job, open: Open): Promise<void> {
    const { list, signal: lastCall, breakOff: signal, to } = job;
    const { egress } = open.work;
    const leave = await checks.enter(list.account, list.id);
    try {
      if (lastCall.aborted) return;
      const startByMs = engine.clock.elapsed() + CHECK_MS.start;
      const deadlineMs = startByMs + CHECK_MS.answer;
      const limit = {
        startByMs,
        deadlineMs,
        signal,
        lastCall,
        tenant: list.account,
        isBackground: true,
        egress,
      };
      const evidence = await checkMailbox(open.evidence, limit, engine).catch((error: unknown) => {
        to.failed(error);
        return withMailboxFault(open.evidence);
      });
      // Broken off, perhaps between an accepted recipient and the random one: what has no answer is asked again.
      if (lastCall.aborted && decideVerdict(evidence)?.deliverability === 'unknown') return;
      if (evidence.smtp?.decidedBy === 'cancelled') return;
      // Our own rate limit had no room in time: nobody was asked.
      if (evidence.smtp?.rule === 'pace.deadline') {
        return to.report({ work: open.work, record: null, operator: null, againMs: AGAIN_MS });
      }
      finishOrWait(job, open, evidence);
    } finally {
      leave();
    }
  }

  /** The complete evidence of a test account's address; errors and delays are for single calls only. */
  const inTestMode = (email: string, level: Level, filter: FilterRule | null): Evidence =>
    testEvidence(email, level, testOutcomeOf(selectorOf(email)), {
      listVersion: engine.domainData().version,
      now: engine.clock.now(),
      filter: filter && matchOf(filter),
    });

  /** What filters are matched by, before any network is needed: in test mode, all is known. */
  function keysOf({ list }: Job, { work, evidence }: Open): FilterKeys {
    const { syntax } = evidence;
    const known = list.test && syntax.result === 'pass';
    const mxHosts = known ? testMailHosts(syntax.address.domain, testOutcomeOf(selectorOf(work.email))) : null;
    return filterKeys(evidence, list.clientIp, mxHosts);
  }

  /** What needs no network is finished; the others, by domain. */
  async function goOffline(job: Job, works: readonly ListWork[]): Promise<readonly SameDomain[]> {
    const { list, signal } = job;
    const offline: Open[] = [];
    await inSlices(job, works, (work) => {
      const started = engine.clock.elapsed();
      const { email } = work;
      const evidence = list.test ? inTestMode(email, list.level, null) : runOffline(email, list.level, engine);
      offline.push({ work, evidence, started, filter: null, recalled: null });
    });
    if (signal.aborted) return [];
    const matches = await matchFilters(list.account, () => offline.map((open) => keysOf(job, open)));
    const names = offline.map(({ evidence }) => mailboxNameOf(evidence));
    const learned = await outcomes.recall({ account: list.account }, names);
    const matchesHosts = matches?.hasHosts ?? false;
    const byDomain = new Map<string, [Open, ...Open[]]>();
    await inSlices(job, offline, (bare, i) => {
      const filter = matches?.filters[i] ?? null;
      const unfiltered = { ...bare, recalled: learned?.[i] ?? null };
      if (list.test) {
        const evidence = inTestMode(unfiltered.work.email, list.level, filter);
        return finishOrWait(job, { ...unfiltered, filter }, bouncing(unfiltered, evidence));
      }
      const filtered = withOneFilter(unfiltered, filter);
      const open = { ...filtered, evidence: bouncing(filtered, filtered.evidence) };
      // A filter of mail hosts may match, once they are known.
      const waits = matchesHosts && isUnfiltered(open.evidence);
      const known = waits ? null : runFromCache(open.evidence, engine);
      if (known !== null && finish(job, open, known)) return;
      const { syntax } = open.evidence;
      const domain = syntax.result === 'pass' ? syntax.address.domain : '';
      const group = byDomain.get(domain);
      if (group === undefined) byDomain.set(domain, [open]);
      else group.push(open);
    });
    return Array.from(byDomain.values(), (opens) => ({ opens, matchesHosts }));
  }

  /**
   * Resolves when each domain has its place, so that no more is judged meanwhile
   * (docs/architecture.md#what-v8-does). Names whose servers are silent hold others up for `PLACE_MS` at most.
   */
  async function startDomains(job: Job, groups: readonly SameDomain[], to: AllDone): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, PLACE_MS);
    for (const group of groups) {
      const place = lookups.enter(job.list.account, job.list.id);
      to.add(goOnline(job, group, place));
      await Promise.race([place, late.promise]);
    }
    clearTimeout(timer);
  }

  return {
    /**
     * Uses the store when it is the list's turn, between single calls. When there are none, addresses are verified
     * meanwhile.
     */
    inStore<T>(list: RunningList, work: (steps: ListSteps) => Promise<T>) {
      // While calls come, nothing is judged meanwhile: a transaction waits for this thread, and calls for the
      // transaction.
      return (way.isAlone() ? storage : processor).take(list, () => work(way.steps()));
    },
    /** Reports one outcome for each address but those that were under way at the end. Rejects if the store fails. */
    async verify(list: RunningList, works: readonly ListWork[], to: Receiver, end: ListEnd) {
      const { signal } = end;
      const job: Job = { list, to, ...end };
      const online = new AllDone();
      for (let from = 0; from < works.length && !signal.aborted; ) {
        const { pass, outcomesWaiting } = way.steps();
        await to.room(outcomesWaiting);
        const some = works.slice(from, from + pass);
        from += pass;
        await startDomains(job, await goOffline(job, some), online);
      }
      to.allUnderWay();
      await online.end();
    },
  };
}

export type ListVerifier = ReturnType<typeof createListVerifier>;

/** Nothing is asked of an address to which mail bounces, unless a filter decides. */
const bouncing = ({ recalled }: Open, evidence: Evidence): Evidence =>
  recalled?.bounces ? withBounce(evidence) : evidence;

/** Only the first filter counts; null means that none matched. */
const withOneFilter = (open: Open, filter: FilterRule | null): Open =>
  filter !== null && isUnfiltered(open.evidence)
    ? { ...open, filter, evidence: withMatch(open.evidence, filter) }
    : open;

/** Work under way, of which nothing stays in memory when it is done, unlike with an array for `Promise.all`. */
class AllDone {
  #open = 1;
  readonly #ended = Promise.withResolvers<void>();
  constructor() {
    // Awaited at the end; work may fail before.
    this.#ended.promise.catch(() => undefined);
  }
  add(work: Promise<void>): void {
    this.#open++;
    work.then(() => this.#leave(), this.#ended.reject);
  }
  /** Rejects with the first error. To be called once. */
  end(): Promise<void> {
    this.#leave();
    return this.#ended.promise;
  }
  #leave(): void {
    this.#open--;
    if (this.#open === 0) this.#ended.resolve();
  }
}

/** Names that join many mail hosts may be long: their digest does as well. */
function operatorOf(dns: DnsEvidence, owners: HostOwners): string {
  const key = mailOperatorKey(dns, owners);
  return key.length <= LIST_OPERATOR_LENGTH ? key : sha256Hex(key);
}

/** Minutes until a temporary answer is asked for again; later ones wait as long as the last. */
const USUAL_MINUTES = [5, 15, 30, 60] as const;

/** Milliseconds until a temporary answer is to be asked for again, after so many earlier ones; null: it is final. */
function waitForRetryMs(e: Evidence, verdict: Verdict, earlier: number): number | null {
  if (!isTemporary(e, verdict)) return null;
  const announced = e.smtp?.retryAfterSeconds ?? null;
  const usual = USUAL_MINUTES[Math.min(earlier, USUAL_MINUTES.length - 1)] ?? 0;
  return announced === null ? usual * MINUTE_MS : announced * 1000;
}

/**
 * The domain's name servers fail, or the mail server deferred it; or our own limits, a circuit breaker or this host's
 * network are in the way.
 */
const isTemporary = ({ smtp }: Evidence, { reason }: Verdict): boolean =>
  reason === 'dns_failure' ||
  reason === 'greylisted' ||
  reason === 'smtp_temporary_failure' ||
  smtp?.decidedBy === 'throttle' ||
  smtp?.decidedBy === 'host';

/** One list at a time takes its turn, and single calls come between them. */
class SharedTurns {
  readonly #gate = new FairQueue(1);
  readonly #clock: Clock;
  readonly #way: GiveWay;

  constructor(clock: Clock, way: GiveWay) {
    this.#clock = clock;
    this.#way = way;
  }

  /** Does `work` when it is the list's turn. */
  async take<T>(list: { readonly account: string; readonly id: string }, work: () => Promise<T> | T): Promise<T> {
    const leave = await this.#gate.enter(list.account, list.id);
    const began = this.#clock.elapsed();
    try {
      return await work();
    } finally {
      await this.#way.rest(this.#clock.elapsed() - began);
      leave();
    }
  }
}

/** Evidence of a check that a fault of ours ended: nothing is known, and it can be tried again. */
const withMailboxFault = (e: Evidence): Evidence => ({
  ...e,
  smtp: {
    ...resultWithoutDialogue('host', 'smtp_temporary_failure', 'engine.fault'),
    attempts: [],
    transcript: { lines: [] },
  },
  catchAll: CATCH_ALL_SKIPPED,
});
