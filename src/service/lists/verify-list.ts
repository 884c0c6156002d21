/**
 * Verifies addresses of lists with the functions of a single call: what needs no network in one pass, then each domain
 * once, then mailboxes, where recipients of the same hosts share sessions (engine/smtp/pool.ts). Outcomes are reported as
 * they are known.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { registrableDomain } from '../../engine/address/domain.ts';
import { decideVerdict } from '../../engine/decide-verdict.ts';
import type { DnsEvidence, Evidence } from '../../engine/evidence.ts';
import { operatorKey } from '../../engine/smtp/operators.ts';
import { testEvidence } from '../../engine/test-mode/evidence.ts';
import { outcomeOf, selectorOf } from '../../engine/test-mode/outcomes.ts';
import {
  checkMailbox,
  type EngineDeps,
  lookUpDomain,
  needsMailboxCheck,
  runFromCache,
  runOffline,
  withDns,
} from '../../engine/verify.ts';
import { listResultId, sha256Hex } from '../../kernel/ids.ts';
import { LIST_CHECKS, LIST_LOOKUPS, LIST_OPERATOR_LENGTH, TIMEOUT_MS } from '../../kernel/limits.ts';
import type { Level } from '../../kernel/plans.ts';
import type { AccountId, Filter, FilterKeys, ListOutcome, ListWork, RunningList } from '../../store/store.ts';
import { filterKeys, toRecord, withMatch } from '../verdict-record.ts';
import { FairGate } from './fair-gate.ts';
import type { ListOperators } from './operators.ts';
import { retryMs } from './retry.ts';

interface Parts {
  readonly engine: EngineDeps;
  readonly operators: ListOperators;
  /** The account's filter that matches, for each. */
  readonly matchFilters: (account: AccountId, keys: readonly FilterKeys[]) => Promise<readonly (Filter | null)[]>;
  /** Single calls so far: while they come, lists leave them the processor. */
  readonly singleCalls: () => number;
}

export interface ListVerifier {
  /**
   * Reports one outcome for each address, but for those that were under way when `signal` was aborted. Rejects if the
   * store fails.
   */
  verify(
    list: RunningList,
    works: readonly ListWork[],
    report: (outcome: ListOutcome) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Does `work` when it is the list's turn, between single calls. */
  inTurn<T>(list: RunningList, work: () => Promise<T> | T): Promise<T>;
}

/** Nobody waits, so there is time for servers that answer late. */
const CHECK_MS = 2 * TIMEOUT_MS.max;
const LOOKUP_MS = TIMEOUT_MS.default;
/** Until an address is tried again that was not asked about: the resolver is down, or the rate has no room. */
const AGAIN_MS = 14_000;
/** Until an address may be claimed by the node that checks the mailboxes of its operator. */
const HAND_OVER_MS = 1_000;
/** What other work may have to wait for. */
const SLICE_MS = 3;

/** An address that needs the network. */
interface Open {
  readonly work: ListWork;
  readonly evidence: Evidence;
  readonly started: number;
}

/** Where the outcomes of a part of a list go. */
interface Job {
  readonly list: RunningList;
  readonly report: (outcome: ListOutcome) => void;
  readonly signal: AbortSignal;
}

export function createListVerifier({ engine, operators, matchFilters, singleCalls }: Parts): ListVerifier {
  const turns = new FairGate(1);
  const lookups = new FairGate(LIST_LOOKUPS);
  const checks = new FairGate(LIST_CHECKS);
  let callsBefore = 0;

  async function inTurn<T>(list: RunningList, work: () => Promise<T> | T): Promise<T> {
    const leave = await turns.enter(list.account, list.id);
    const began = engine.clock.elapsed();
    try {
      return await work();
    } finally {
      const calls = singleCalls();
      // As long as single calls come, they get at least as much of the processor as lists.
      await (calls === callsBefore ? setImmediate() : setTimeout(engine.clock.elapsed() - began));
      callsBefore = calls;
      leave();
    }
  }

  /** Goes through all items, in slices of a few ms. */
  async function inSlices<T>({ list, signal }: Job, items: readonly T[], each: (item: T, i: number) => void) {
    for (let next = 0; next < items.length && !signal.aborted; ) {
      await inTurn(list, () => {
        const end = engine.clock.elapsed() + SLICE_MS;
        do {
          const item = items[next];
          if (item !== undefined) each(item, next);
          next++;
        } while (next < items.length && engine.clock.elapsed() < end);
      });
    }
  }

  function finish({ list, report }: Job, { work, started }: Open, evidence: Evidence): void {
    const judged = decideVerdict(evidence);
    const verdict = judged && list.test ? { ...judged, credits: 0 } : judged;
    if (verdict === null) {
      report({ work, record: null, operator: null, againMs: AGAIN_MS });
      return;
    }
    const asked = { email: work.email, level: list.level, clientIp: list.clientIp, withEvidence: false };
    const id = listResultId(list.id, work.address);
    const record = toRecord(engine, asked, { id, started }, evidence, verdict);
    report({ work, record, retryMs: list.test ? null : retryMs(evidence, verdict, work.attempts) });
  }

  /** The dns stage of a domain; null when it was aborted. */
  async function lookUp({ list, signal }: Job, { evidence }: Open): Promise<DnsEvidence | null> {
    const leave = await lookups.enter(list.account, list.id);
    try {
      if (signal.aborted) return null;
      const limit = { deadline: engine.clock.elapsed() + LOOKUP_MS, signal };
      const dns = await lookUpDomain(evidence, limit, engine);
      return signal.aborted ? null : dns;
    } finally {
      leave();
    }
  }

  /** All addresses of a domain. */
  async function goOnline(job: Job, [first, ...others]: readonly [Open, ...Open[]]): Promise<void> {
    const dns = await lookUp(job, first);
    if (dns === null) return;
    const operator = operatorOf(dns);
    const checked: Promise<void>[] = [];
    for (const open of [first, ...others]) {
      const evidence = withDns(open.evidence, dns, engine);
      if (needsMailboxCheck(evidence)) checked.push(checkHere(job, { ...open, evidence }, operator));
      else finish(job, open, evidence);
    }
    await Promise.all(checked);
  }

  /** Hands the address over if another node checks the operator's mailboxes. */
  async function checkHere(job: Job, open: Open, operator: string): Promise<void> {
    if (!(await operators.enter(operator)))
      return job.report({ work: open.work, record: null, operator, againMs: HAND_OVER_MS });
    try {
      await check(job, open);
    } finally {
      operators.leave(operator);
    }
  }

  async function check(job: Job, open: Open): Promise<void> {
    const { list, signal, report } = job;
    const leave = await checks.enter(list.account, list.id);
    try {
      if (signal.aborted) return;
      const deadline = engine.clock.elapsed() + CHECK_MS;
      const limit = { deadline, signal, tenant: list.account, isBackground: true };
      const evidence = await checkMailbox(open.evidence, limit, engine);
      if (evidence.smtp?.decidedBy === 'cancelled') return;
      // Our own rate limit had no room in time: nobody was asked.
      if (evidence.smtp?.rule === 'pace.deadline') {
        return report({ work: open.work, record: null, operator: null, againMs: AGAIN_MS });
      }
      finish(job, open, evidence);
    } finally {
      leave();
    }
  }

  /** The complete evidence of a test account's address; errors and delays are for single calls only. */
  const inTestMode = (email: string, level: Level): Evidence =>
    testEvidence(email, level, outcomeOf(selectorOf(email)), engine.lists().version);

  const knownOf = ({ test }: RunningList, evidence: Evidence): Evidence | null =>
    test ? evidence : runFromCache(evidence, engine);

  return {
    inTurn,
    async verify(list, works, report, signal) {
      const job: Job = { list, report, signal };
      const offline: Open[] = [];
      await inSlices(job, works, (work) => {
        const started = engine.clock.elapsed();
        const { email } = work;
        const evidence = list.test ? inTestMode(email, list.level) : runOffline(email, list.level, engine);
        offline.push({ work, evidence, started });
      });
      if (signal.aborted) return;
      const keys = offline.map(({ evidence }) => filterKeys(evidence, list.clientIp));
      const filters = await matchFilters(list.account, keys);
      const byDomain = new Map<string, [Open, ...Open[]]>();
      await inSlices(job, offline, (open, i) => {
        const filter = filters[i] ?? null;
        const known = filter !== null ? withMatch(open.evidence, filter) : knownOf(list, open.evidence);
        if (known !== null && (list.test || decideVerdict(known) !== null)) return finish(job, open, known);
        const { syntax } = open.evidence;
        const domain = syntax.result === 'pass' ? syntax.address.domain : '';
        const group = byDomain.get(domain);
        if (group === undefined) byDomain.set(domain, [open]);
        else group.push(open);
      });
      await Promise.all(Array.from(byDomain.values(), (group) => goOnline(job, group)));
    },
  };
}

/** Names that join many mail hosts may be long: their digest does as well. */
function operatorOf(dns: DnsEvidence): string {
  const key = operatorKey(dns, registrableDomain);
  return key.length <= LIST_OPERATOR_LENGTH ? key : sha256Hex(key);
}
