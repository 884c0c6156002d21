import { setTimeout as sleep } from 'node:timers/promises';
import { mailboxAt } from '../engine/address/mailbox.ts';
import { type Address, canonicalAddress, parentDomains, parseAddress } from '../engine/address/parse.ts';
import { RESOLVER_PROBLEMS, resolverProblem } from '../engine/dns/resolver.ts';
import type { Evidence, MatchedFilter } from '../engine/evidence.ts';
import type { Verdict } from '../engine/findings.ts';
import { decideVerdict } from '../engine/findings.ts';
import { type Learned, type Report, report } from '../engine/report.ts';
import { delayOf, outOfTime, selectorOf, testEvidence, testMailHosts, testOutcomeOf } from '../engine/test-mode.ts';
import { type EngineDeps, runFromCache, runOffline, runOnline, withBounce, withFilter } from '../engine/verify.ts';
import { trimBlanks } from '../kernel/blanks.ts';
import { ApiError } from '../kernel/errors.ts';
import { FILTER_ACTION_FACTS } from '../kernel/facts/filter-types.ts';
import { HASH } from '../kernel/facts/kept-addresses.ts';
import { TEST_WAITING_MAX } from '../kernel/facts/limits.ts';
import type { Level } from '../kernel/facts/plans.ts';
import { type Decision, decide, type PolicyRules } from '../kernel/facts/policies.ts';
import { newId } from '../kernel/ids.ts';
import type { Via } from '../kernel/log-origins.ts';
import { FILTER_KINDS } from '../store/filter-kinds.ts';
import type {
  AccountId,
  AddressHasher,
  Admission,
  AdmissionRequest,
  Caller,
  Charging,
  CompletedReply,
  FilterKeys,
  FilterMatches,
  FilterRule,
  IdempotencyRef,
  Sighting,
  Store,
  VerificationRecord,
} from '../store/store.ts';
import { actorFor, type ChangedBy } from './audit-log.ts';
import type { MailboxName, OutcomeMemory, Recalled } from './learned.ts';
import { simulatedError } from './test-errors.ts';

// How an address is checked: in live mode by the engine, in test mode by what its local part selects.

interface CheckRequest {
  readonly email: string;
  readonly level: Level;
  readonly timeoutMs: number;
  readonly signal: () => AbortSignal;
}

interface Check {
  /** What filters are matched by. */
  readonly offline: Evidence;
  /** The domain has these mail hosts; null: they are not known yet. */
  readonly mxHosts: readonly string[] | null;
  /** The complete evidence with this filter, or with none, where nothing has to be waited for; else null. */
  known(filter: FilterRule | null): Evidence | null;
  /** The complete evidence. Throws ApiError. `tenant`: see MailboxLimit. */
  finish(tenant: string, filter: FilterRule | null, matchHosts: MatchHosts | null): Promise<Evidence>;
}
/** Finds the account's filter for mail hosts. */
type MatchHosts = (mxHosts: readonly string[]) => Promise<FilterRule | null>;

interface VerifyMode {
  begin(request: CheckRequest): Check;
  /** Maximum of checks that wait. */
  readonly maxRunning: number;
  /** Whether verdicts have a price. */
  readonly charges: boolean;
}

const liveMode = (engine: EngineDeps, maxRunning: number): VerifyMode => ({
  begin({ email, level, timeoutMs, signal }) {
    const offline = runOffline(email, level, engine);
    const unfiltered = runFromCache(offline, engine);
    const filtered = (filter: FilterRule | null) => (filter === null ? offline : withMatch(offline, filter));
    return {
      offline,
      mxHosts: mailHostsOf(unfiltered ?? offline),
      known(filter) {
        if (filter === null) return unfiltered;
        const blocksHost = FILTER_ACTION_FACTS[filter.action].blocks && filter.filterType === 'mx_host';
        return blocksHost && unfiltered !== null
          ? withMatch(unfiltered, filter)
          : runFromCache(filtered(filter), engine);
      },
      finish(tenant, filter, matchHosts) {
        const limit = { timeoutMs, signal: signal(), tenant };
        return runOnline(filtered(filter), limit, engine, hostMatcher(matchHosts));
      },
    };
  },
  maxRunning,
  charges: true,
});

const testMode = ({ clock, domainData }: Pick<EngineDeps, 'clock' | 'domainData'>): VerifyMode => ({
  begin({ email, level, timeoutMs, signal }) {
    const selector = selectorOf(email);
    const delayMs = delayOf(selector);
    const outcome = delayMs > timeoutMs ? outOfTime(level) : testOutcomeOf(selector);
    const evidence = (filter: FilterRule | null) =>
      testEvidence(email, level, outcome, {
        listVersion: domainData().version,
        now: clock.now(),
        filter: filter && matchOf(filter),
      });
    const offline = evidence(null);
    const error = simulatedError(selector);
    const waits = delayMs > 0 || error !== null;
    return {
      offline,
      mxHosts: offline.syntax.result === 'pass' ? testMailHosts(offline.syntax.address.domain, outcome) : [],
      known(filter) {
        if (filter === null) return waits ? null : offline;
        return waits && !FILTER_ACTION_FACTS[filter.action].blocks ? null : evidence(filter);
      },
      async finish(_tenant, filter) {
        if (error !== null) throw error;
        await wait(Math.min(delayMs, timeoutMs), signal());
        return evidence(filter);
      },
    };
  },
  maxRunning: TEST_WAITING_MAX,
  charges: false,
});

/** Ends early when the client has disconnected. */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

// Evidence goes to the store this way, for single verifications and those of lists alike.

interface AskedVerification {
  readonly email: string;
  readonly level: Level;
  /** The address is canonical; null means that it is unknown. */
  readonly clientIp: string | null;
  readonly withEvidence: boolean;
  /** The request has these warnings; none by default. */
  readonly warnings?: readonly string[];
  /** Null, the default, means our own contract. */
  readonly via?: Via | null;
  /** What decides from the verdict; null by default: nothing. */
  readonly policy?: PolicyRules | null;
  /** Chooses the language of the decision's message: a tag or the value of an Accept-Language header. */
  readonly language?: string | null;
  /** Where the mailbox is to be remembered; null by default: nowhere. */
  readonly scope?: string | null;
}

/** The reply is sent as JSON. */
export type VerificationReply = Report & { readonly decision: Decision | null };

/** `started` is in `Clock.elapsed()` ms. `filter` is the filter of the account that matched. */
export function toRecord(
  engine: EngineDeps,
  {
    email,
    level,
    clientIp,
    withEvidence,
    warnings,
    via = null,
    policy = null,
    language = null,
    scope = null,
  }: AskedVerification,
  {
    id,
    started,
    filter,
    learned = null,
    keepAs = null,
  }: {
    readonly id: string;
    readonly started: number;
    readonly filter: FilterRule | null;
    /** Null, the default, means nothing. */
    readonly learned?: Learned | null;
    /** Null by default: the address is kept. */
    readonly keepAs?: AddressHasher | null;
  },
  e: Evidence,
  verdict: Verdict,
): VerificationRecord {
  const durationMs = engine.clock.elapsed() - started;
  const result = report(e, verdict, { id, durationMs, at: engine.clock.now(), withEvidence, warnings, learned });
  const decision: Decision | null = policy && decide(policy, result, language);
  const ifSeen =
    scope === null || policy === null ? null : decide(policy, { ...result, seen: { before: true } }, language);
  return {
    id,
    email,
    requested: level,
    validationType: verdict.level,
    status: verdict.status,
    deliverability: verdict.deliverability,
    reason: verdict.reason,
    credits: verdict.credits,
    price: verdict.price,
    clientIp,
    durationMs: Math.round(durationMs),
    via,
    filterId: filter?.id ?? null,
    decision: decision?.action ?? null,
    decisionIfSeen: ifSeen,
    keptAs: keepAs?.(email, mailboxNameOf(e)?.mailbox ?? null) ?? null,
    body: JSON.stringify({ ...result, decision } satisfies VerificationReply),
  };
}

/** Returns the record as the store has completed it. */
function completedRecord(record: VerificationRecord, completed: CompletedReply | undefined): VerificationRecord {
  if (completed === undefined) return record;
  const { keptAs = null, decisionIfSeen = null } = record;
  if (keptAs === null || !isKeptReply(completed.body)) return { ...record, ...completed };
  // It was recorded before, and is read from the store, which has less than was to be sent.
  const { credits_used, seen }: Pick<Report, 'credits_used' | 'seen'> = JSON.parse(completed.body);
  const reply: VerificationReply = JSON.parse(record.body);
  const decision = completed.decision === record.decision ? reply.decision : decisionIfSeen;
  const body = JSON.stringify({ ...reply, credits_used, seen, decision } satisfies VerificationReply);
  return { ...record, ...completed, body };
}

/** Whether the store has kept this reply without the address. */
const isKeptReply = (body: string): boolean => body.startsWith(`{"email":"${HASH}`);

/** A reply that was kept without the address, for whoever sends the same request again. */
function withAddress(body: string, { email, didYouMean, syntax }: Evidence): string {
  if (!isKeptReply(body)) return body;
  const reply: VerificationReply = JSON.parse(body);
  const address = syntax.result === 'pass' ? syntax.address : null;
  const mailbox = address && mailboxAt(address, reply.checks.mx.provider ?? null);
  const parts = {
    email,
    did_you_mean: didYouMean,
    normalized_email: address?.normalized ?? null,
    canonical_email: mailbox?.address ?? null,
    local_part: address?.localPart ?? null,
    tag: address?.tag ?? null,
  };
  return JSON.stringify({ ...reply, ...parts } satisfies VerificationReply);
}

export const matchOf = ({ id, filterType, value, action }: FilterRule): MatchedFilter => ({
  id,
  action,
  filter_type: FILTER_KINDS[filterType].type,
  value,
});
export const withMatch = (e: Evidence, filter: FilterRule): Evidence => withFilter(e, matchOf(filter));

/** Outcomes of its mail are found by this name; null means that it is malformed. */
export const mailboxNameOf = ({ syntax }: Evidence): MailboxName | null =>
  syntax.result === 'fail' ? null : { mailbox: canonicalMailbox(syntax.address), domain: syntax.address.domain };

/** Nothing is asked of an address to which mail bounces, unless a filter allows it. */
const bouncedCheck = (check: Check): Check => {
  const offline = withBounce(check.offline);
  return {
    offline,
    // So that no filter of mail hosts is waited for.
    mxHosts: [],
    known: (filter) => (filter === null ? offline : check.known(filter)),
    finish: (tenant, filter, matchHosts) => check.finish(tenant, filter, matchHosts),
  };
};

const NO_KEYS: FilterKeys = { email: null, mailbox: null, domains: [], ip: null, mxHosts: [] };

/** A malformed address has no canonical form to match, so no filter applies. `mxHosts`: null if they are not known. */
export function filterKeys(
  e: Evidence,
  clientIp: string | null,
  mxHosts: FilterKeys['mxHosts'],
  name: MailboxName | null = mailboxNameOf(e),
): FilterKeys {
  if (e.syntax.result === 'fail') return NO_KEYS;
  const { address } = e.syntax;
  return {
    email: canonicalAddress(address),
    mailbox: name?.mailbox ?? null,
    domains: parentDomains(address.domain),
    ip: clientIp,
    mxHosts,
  };
}

/** What filters of mail hosts alone are matched by. */
export const hostKeys = (e: Evidence): FilterKeys => ({ ...NO_KEYS, mxHosts: mailHostsOf(e) ?? [] });

/** The names of the domain's mail hosts; null: DNS was not asked. */
const mailHostsOf = ({ syntax, dns }: Evidence): readonly string[] | null =>
  syntax.result === 'fail' ? [] : (dns?.records.map(({ host }) => host) ?? null);

/** As a stage of the engine, which asks once the mail hosts are known. */
const hostMatcher = (match: MatchHosts | null) =>
  match &&
  (async (e: Evidence) => {
    const filter = await match(mailHostsOf(e) ?? []);
    return filter && matchOf(filter);
  });

/** Mail hosts are not considered, so that a mailbox is the same whether or not its domain could be looked up. */
export const canonicalMailbox = (address: Address): string => mailboxAt(address).address;

/** Returns null for a malformed address. */
function sightingOf(scope: string | null, { syntax }: Evidence): Sighting | null {
  if (scope === null || syntax.result === 'fail') return null;
  return { scope, mailbox: canonicalMailbox(syntax.address), spelling: syntax.address.normalized };
}

interface ServiceVerifyRequest {
  /** The request goes by the hash of the API key, or by the account for a verification in the dashboard. */
  readonly keyHash: AdmissionRequest['keyHash'];
  /** Whether the key or account is one of test mode. */
  readonly test: boolean;
  /** The caller's IP address is canonical. */
  readonly ip: string;
  readonly idempotency: IdempotencyRef | null;
  readonly email: string;
  readonly level: Level;
  /** The address is canonical, and by default the caller's IP. */
  readonly clientIp: string;
  readonly timeoutMs: number;
  readonly withEvidence: boolean;
  /** The call came through this contract; null, the default, means our own. */
  readonly via?: Via | null;
  /** Where the mailbox is to be remembered; null by default: nowhere. */
  readonly scope?: string | null;
  /** The warnings of the request, for its reply; none by default. */
  readonly warnings?: readonly string[];
  /** See Asked. */
  readonly policy?: PolicyRules | null;
  readonly language?: string | null;
  /**
   * Aborted when the client disconnects: the dialogue ends with QUIT, the evidence so far is recorded and charged.
   * Called only by a check that has to wait.
   */
  readonly signal: () => AbortSignal;
  /** Whether the client has disconnected. */
  readonly hasDisconnected: () => boolean;
}

type Admitted = Extract<Admission, { outcome: 'admitted' }>;

type VerifyOutcome =
  | Extract<Admission, { outcome: 'refused' | 'replay' }>
  | {
      readonly outcome: 'answered';
      readonly admission: Exclude<Admission, { outcome: 'refused' }>;
      readonly record: VerificationRecord;
      readonly balance: number;
    }
  /** Authenticated and counted, but without a verdict; nothing was charged. */
  | {
      readonly outcome: 'failed';
      readonly admission: Exclude<Admission, { outcome: 'refused' }>;
      readonly error: unknown;
    };

interface VerifyRun {
  readonly request: ServiceVerifyRequest;
  readonly mode: VerifyMode;
  readonly check: Check;
  readonly recalled: Recalled | null;
  readonly id: string;
  /** `Clock.elapsed()`. */
  readonly started: number;
}

interface Checked {
  readonly evidence: Evidence;
  readonly record: VerificationRecord;
}

/** Added to the time limit of the check: time to queue and commit the settlement before the hold expires. */
const HOLD_GRACE_MS = 30_000;

/**
 * Admission → engine → verdict → settlement. An immediate verdict is decided inside the admission's transaction;
 * otherwise the price is held until settlement. Any error in between releases the hold.
 */
export function createVerifyService(options: {
  charging: Charging;
  tools: EngineDeps;
  /** Maximum of concurrent checks; beyond it, verify throws `overloaded` before anything is held. */
  maxRunning: number;
  matchFilters: (account: AccountId, keys: () => readonly FilterKeys[]) => Promise<FilterMatches | null>;
  /** Whether requests may have a scope. */
  remembersMailboxes: boolean;
  outcomes: Pick<OutcomeMemory, 'recall'>;
  /** Null: addresses are kept. */
  keepAs: AddressHasher | null;
  onVerdict?: (record: VerificationRecord, evidence: Evidence, caller: Caller) => void;
}) {
  const {
    charging,
    tools: engine,
    maxRunning,
    matchFilters,
    remembersMailboxes,
    outcomes,
    keepAs,
    onVerdict,
  } = options;
  const modes = { live: liveMode(engine, maxRunning), test: testMode(engine) };
  const running = new Map<VerifyMode, number>();
  let calls = 0;
  const runningIn = (mode: VerifyMode): number => running.get(mode) ?? 0;

  function recordOf(run: VerifyRun, e: Evidence, verdict: Verdict, filter: FilterRule | null): VerificationRecord {
    const { request, mode, id, started, recalled } = run;
    return toRecord(
      engine,
      request,
      { id, started, filter, learned: recalled, keepAs },
      e,
      mode.charges ? verdict : { ...verdict, price: null, credits: 0 },
    );
  }

  async function runChecks(run: VerifyRun, { caller, filter, matchesHosts }: Admitted): Promise<Checked> {
    const { accountId } = caller;
    let matched = filter;
    const matchHosts: MatchHosts = async (mxHosts) => {
      const found = await matchFilters(accountId, () => [{ ...NO_KEYS, mxHosts }]);
      matched = found?.filters[0] ?? null;
      return matched;
    };
    const evidence = await run.check.finish(accountId, filter, matchesHosts ? matchHosts : null);
    const verdict = decideVerdict(evidence);
    if (verdict === null) {
      const { found } = RESOLVER_PROBLEMS[resolverProblem(evidence.dns?.failure ?? null)];
      throw new ApiError('verification_unavailable', `There is no verdict: ${found}. Nothing was charged.`, {
        retry_after: 5,
      });
    }
    return { evidence, record: recordOf(run, evidence, verdict, matched) };
  }

  async function settle(run: VerifyRun, admission: Admitted) {
    const { mode, request } = run;
    const { caller } = admission;
    const settlement = { caller, holdId: run.id, idempotency: request.idempotency };
    running.set(mode, runningIn(mode) + 1);
    try {
      const { evidence, record } = await runChecks(run, admission).catch(async (error: unknown) => {
        await charging.settle({ ...settlement, record: null });
        throw error;
      });
      // That there is no such top-level domain may have been found out meanwhile.
      const seen = sightingOf(request.scope ?? null, evidence);
      const { balance, completed } = await charging.settle({ ...settlement, record, seen });
      onVerdict?.(record, evidence, caller);
      return { record: completedRecord(record, completed), balance };
    } finally {
      running.set(mode, runningIn(mode) - 1);
    }
  }

  /** Judged and counted like a request that cannot be used. */
  async function refuseScope({ keyHash, ip, hasDisconnected }: ServiceVerifyRequest): Promise<VerifyOutcome> {
    const request = {
      keyHash,
      scope: 'verify',
      ip,
      hasDisconnected,
      invalid: true,
      idempotency: null,
      verify: null,
    } as const;
    const admission = await charging.admit(request);
    if (admission.outcome === 'refused') return admission;
    return { outcome: 'failed', admission, error: new ApiError('seen_disabled', undefined, { field: 'scope' }) };
  }

  return {
    /** Checks waiting for DNS or a mail server, without those of test mode. */
    get running() {
      return runningIn(modes.live);
    },
    /** `verify` was called this often so far. */
    get calls() {
      return calls;
    },
    async verify(request: ServiceVerifyRequest): Promise<VerifyOutcome> {
      calls += 1;
      const { scope = null } = request;
      if (scope !== null && !remembersMailboxes) return refuseScope(request);
      const started = engine.clock.elapsed();
      const mode = request.test ? modes.test : modes.live;
      const asked = mode.begin(request);
      const name = mailboxNameOf(asked.offline);
      const recalling = outcomes.recall(request.keyHash, [name]);
      const [recalled = null] = (recalling instanceof Promise ? await recalling : recalling) ?? [];
      const check = recalled?.bounces ? bouncedCheck(asked) : asked;
      const { offline, mxHosts } = check;
      const known = check.known(null);
      if (known === null && runningIn(mode) >= mode.maxRunning)
        throw new ApiError('overloaded', undefined, { retry_after: 1 });
      const id = newId('ver', engine.clock.now());
      const run: VerifyRun = { request, mode, check, recalled, id, started };
      let decided: Evidence | null = null;
      const decide = (filter: FilterRule | null) => {
        decided = check.known(filter);
        const verdict = decided && decideVerdict(decided);
        return decided && verdict && recordOf(run, decided, verdict, filter);
      };
      const admissionRequest: AdmissionRequest = {
        keyHash: request.keyHash,
        scope: 'verify',
        ip: request.ip,
        invalid: false,
        idempotency: request.idempotency,
        hasDisconnected: request.hasDisconnected,
        verify: {
          id,
          level: request.level,
          test: request.test,
          filterKeys: filterKeys(offline, request.clientIp, mxHosts, name),
          holdMs: request.timeoutMs + HOLD_GRACE_MS,
          seen: sightingOf(scope, known ?? offline),
          free: offline.bounced === true,
          decide,
        },
      };
      const admission = await charging.admit(admissionRequest);
      switch (admission.outcome) {
        case 'refused':
          return admission;
        case 'replay': {
          const { reply } = admission;
          return { ...admission, reply: { ...reply, body: withAddress(reply.body, offline) } };
        }
        case 'settled': {
          const { record, completed, balance } = admission;
          onVerdict?.(record, decided ?? offline, admission.caller);
          return { outcome: 'answered', admission, record: completedRecord(record, completed), balance };
        }
        case 'admitted':
          try {
            const { record, balance } = await settle(run, admission);
            return { outcome: 'answered', admission, record, balance };
          } catch (error) {
            return { outcome: 'failed', admission, error };
          }
      }
    },
  };
}

export type VerifyService = ReturnType<typeof createVerifyService>;

/** Reserved and unknown top-level domains too: what was judged in test mode or with other lists is to be found. */
export const ANY_DOMAIN = { allowReserved: true, allowUnknownTld: true };

export function createSeenService({ seen, keys }: Pick<Store, 'seen' | 'keys'>) {
  const actorOf = actorFor(keys);
  return {
    /**
     * Forgets the mailbox of the address in the scope, or without one all of the scope; returns how many mailboxes were
     * known. Throws ApiError `invalid_parameter`.
     */
    async forget(
      account: AccountId,
      { scope, email }: { readonly scope: string; readonly email: string | null },
      by: ChangedBy,
    ) {
      if (email === null) return seen.forgetScope(account, scope, await actorOf(by));
      const parsed = parseAddress(trimBlanks(email), ANY_DOMAIN);
      if (!parsed.ok) throw new ApiError('invalid_parameter', 'email must be an email address.', { field: 'email' });
      return seen.forget(account, canonicalMailbox(parsed.address), scope);
    },
  };
}

export type SeenService = ReturnType<typeof createSeenService>;
