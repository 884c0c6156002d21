/** Charging rules, the same for every driver: requests in order of arrival → answers and changes. */
import { HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { IDEMPOTENCY_HOURS } from '../../kernel/facts/lifetimes.ts';
import { heldPrice, type Plans, type PlanTerms, planWithLevel, termsOf } from '../../kernel/facts/plans.ts';
import { DEFAULT_SCOPES, type KeyScope } from '../../kernel/facts/scopes.ts';
import { ipMatcher } from '../../kernel/ip.ts';
import { DASHBOARD_KEY } from '../../kernel/log-origins.ts';
import { filterLookups, mostSpecific } from '../filter-kinds.ts';
import { keptBody } from '../kept-address.ts';
import type {
  AccountId,
  Admission,
  AdmissionRequest,
  Caller,
  CompletedReply,
  FilterKeys,
  FilterRule,
  IdempotencyRef,
  Refusal,
  Settled,
  SettledPart,
  Settlement,
  SettlementPart,
  Sighting,
  StoredReply,
  VerificationRecord,
  VerifyAdmission,
} from '../store.ts';
import { type CreditState, renewalOf, spendable } from './allowance.ts';
import { type BudgetState, budgetResetsAt, budgetUsed, countBudget, fitsBudget } from './budget.ts';
import { mailboxesLimit, recall, remember, withSeen } from './seen.ts';
import {
  type AccountState,
  type Changes,
  type ChargeAnswer,
  type ChargeRequest,
  type ChargeState,
  type IdempotencyState,
  type KeyState,
  noChanges,
  type UsageEntry,
} from './state.ts';
import { countRequest, windowAhead, windowOf } from './window.ts';

// The IP allowlist of a key has canonical addresses and CIDRs of both families.

const ALLOWLISTS_MAX = 1_000;

const allowlists = new Map<string, (ip: string) => boolean>();

/**
 * Whether `ip` (canonical; v4-mapped already folded to v4) is on the list, given as the JSON text that the key's row
 * holds. An empty list allows every address. The text is the cache key, so an edited list is never stale.
 */
function isAllowed(json: string, ip: string): boolean {
  if (json === '[]') return true;
  let matches = allowlists.get(json);
  if (matches === undefined) {
    if (allowlists.size >= ALLOWLISTS_MAX) allowlists.clear();
    const entries: string[] = JSON.parse(json);
    matches = ipMatcher(entries);
    allowlists.set(json, matches);
  }
  return matches(ip);
}

// Idempotency keys are handled inside the charge (draft-ietf-httpapi-idempotency-key-header).

/** How long a stored reply is replayed, ms. */
export const REPLY_LIFE_MS = IDEMPOTENCY_HOURS * HOUR_MS;
/** How long a reservation without a hold may last before it counts as abandoned, ms. */
export const RESERVATION_LIFE_MS = MINUTE_MS;

export const idempotencyId = (accountId: string, ref: { route: string; key: string }): string =>
  `${accountId}\n${ref.route}\n${ref.key}`;

/** Returns the current row, including changes by earlier requests of the batch. */
function findIdempotency(
  state: ChargeState,
  changes: Changes,
  accountId: AccountId,
  ref: IdempotencyRef,
): IdempotencyState | null {
  const changed = changes.idempotency.get(idempotencyId(accountId, ref));
  if (changed !== undefined) return changed.keep ? changed.ref : null;
  const row = state.idempotency(accountId, ref.route, ref.key);
  return row !== null && row.expiresAt > state.now ? row : null;
}

function putReply(changes: Changes, row: IdempotencyState, keep: boolean): void {
  changes.idempotency.set(idempotencyId(row.accountId, row), { ref: row, keep });
}

/** From now on, another request with this key is refused with `idempotency_in_progress`. */
function reserve(state: ChargeState, changes: Changes, accountId: AccountId, ref: IdempotencyRef, lifeMs: number) {
  const { now, node } = state;
  putReply(
    changes,
    {
      accountId,
      ...ref,
      state: 'running',
      status: null,
      headers: null,
      body: null,
      node,
      createdAt: now,
      expiresAt: now + lifeMs,
    },
    true,
  );
}

/** False when another request holds the key: the reservation was released and taken again. */
const isOurs = (row: IdempotencyState | null, ref: IdempotencyRef, node: string): boolean =>
  row === null || (row.state === 'running' && row.node === node && row.fingerprint === ref.fingerprint);

const holdsKey = (state: ChargeState, changes: Changes, accountId: AccountId, ref: IdempotencyRef): boolean =>
  isOurs(findIdempotency(state, changes, accountId, ref), ref, state.node);

function finish(
  state: ChargeState,
  changes: Changes,
  accountId: AccountId,
  ref: IdempotencyRef,
  reply: StoredReply,
): void {
  const { now, node } = state;
  if (!holdsKey(state, changes, accountId, ref)) return;
  const { status, body } = reply;
  const headers = JSON.stringify(reply.headers);
  const expiresAt = now + REPLY_LIFE_MS;
  putReply(changes, { accountId, ...ref, state: 'done', status, headers, body, node, createdAt: now, expiresAt }, true);
}

function forgetReply(state: ChargeState, changes: Changes, accountId: AccountId, ref: IdempotencyRef): void {
  const row = findIdempotency(state, changes, accountId, ref);
  if (row !== null && isOurs(row, ref, state.node)) putReply(changes, row, false);
}

/** The account's filter that matches: of the most specific ones, one that allows. */
function matchFilter(state: ChargeState, account: AccountState, keys: FilterKeys): FilterRule | null {
  for (const lookup of filterLookups(account, keys)) {
    const filter = mostSpecific(state.filters(account.id, lookup), lookup, state.now);
    if (filter !== null) return filter;
  }
  return null;
}

/** Counts for the filter that decided on a record, or let it pass. */
function countHit(hits: Changes['hits'], accountId: string, { filterId = null }: VerificationRecord): void {
  if (filterId === null) return;
  const key = `${accountId}\n${filterId}`;
  const entry = hits.get(key);
  if (entry === undefined) hits.set(key, { accountId, id: filterId, hits: 1 });
  else entry.hits += 1;
}

/** Adds a record to the counters of its hour; `usage` has one entry per row of usage_hours. */
function countUsage(
  usage: Map<string, UsageEntry>,
  now: number,
  result: { accountId: string; keyId: string; holdId: string | null; record: VerificationRecord },
): void {
  const { accountId, keyId, record } = result;
  const { validationType, status, credits } = record;
  const reason = record.reason ?? '';
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  const id = `${accountId}\n${keyId}\n${validationType}\n${status}\n${reason}`;
  const none = () => ({ requests: 0, credits: 0 });
  const entry = usage.get(id) ?? {
    accountId,
    keyId,
    hour,
    validationType,
    status,
    reason,
    api: none(),
    list: none(),
  };
  usage.set(id, entry);
  const sums = result.holdId === null ? entry.api : entry.list;
  sums.requests += 1;
  sums.credits += credits;
}

// The moves of credits: a hold (an authorization) is charged (a capture) or given back (a release).

/** The account that pays, and the key if it has a budget; a person who signed in has no key. */
interface Payer<A extends CreditState> {
  readonly account: A;
  readonly key: BudgetState | null;
}
/** Has the time, the plans and the changes of a batch, or of a transaction. */
interface MovingCredits<A extends CreditState> {
  readonly now: number;
  readonly plans: Plans;
  readonly changes: Changes<A>;
}
/** What a ledger row is about: a verification, or a shared hold. */
type BatchSubject =
  | { readonly verificationId: string; readonly holdId: null }
  | { readonly verificationId: null; readonly holdId: string };

/** Records what the plan gives for the month, where it is not recorded yet. */
function renew<A extends CreditState>({ now, plans, changes }: MovingCredits<A>, account: A): void {
  const renewal = renewalOf(account, termsOf(plans, account.plan), now);
  if (renewal === null) return;
  const { month, amount, note, ...after } = renewal;
  Object.assign(account, after);
  account.balance += amount;
  changes.accounts.add(account);
  const { allowanceMonths, allowanceGiven } = after;
  changes.allowances.push({ accountId: account.id, month, amount, note, allowanceMonths, allowanceGiven });
}

/**
 * The only place where charging changes a balance. `held`: by how much more is held (negative: given back, or charged);
 * `charged`: what leaves the account. Returns the change of the balance, without what the month's allowance changes.
 */
function moveCredits<A extends CreditState>(
  moving: MovingCredits<A>,
  { account, key }: Payer<A>,
  by: { readonly held: number; readonly charged: number },
): number {
  const { now, changes } = moving;
  if (by.held > 0 || by.charged > 0) renew(moving, account);
  const amount = -by.held - by.charged;
  if (account.balance + amount < 0)
    throw new RangeError(
      `A balance of ${account.balance} does not cover ${by.charged} credits, and ${by.held} to hold.`,
    );
  account.balance += amount;
  account.locked += by.held;
  account.allowance = Math.max(0, account.allowance - by.charged);
  changes.accounts.add(account);
  // Nothing is counted for a key without a budget.
  if (key !== null && key.budget !== null && (by.held !== 0 || by.charged !== 0)) {
    countBudget(key, by, now);
    changes.budgets.add(key);
  }
  return amount;
}

/** Takes credits from the balance for what is to be charged later. The caller has checked that they are there. */
export function authorize<A extends CreditState>(
  moving: MovingCredits<A>,
  payer: Payer<A>,
  held: number,
  subject: BatchSubject,
): void {
  const amount = moveCredits(moving, payer, { held, charged: 0 });
  moving.changes.ledger.push({ accountId: payer.account.id, kind: 'hold', amount, charged: 0, ...subject });
}

/** Gives back what is held and was not charged. */
export function giveBack<A extends CreditState>(
  moving: MovingCredits<A>,
  payer: Payer<A>,
  held: number,
  subject: BatchSubject,
): void {
  const amount = moveCredits(moving, payer, { held: -held, charged: 0 });
  moving.changes.ledger.push({ accountId: payer.account.id, kind: 'release', amount, charged: 0, ...subject });
}

/**
 * Charges for results, of which `held` credits are held; records them and counts them. What is not charged returns to
 * the balance. Throws RangeError where the balance, or the budget of the key, does not suffice. Returns the change of
 * the balance.
 */
function capture<A extends CreditState>(
  moving: MovingCredits<A>,
  payer: Payer<A>,
  held: number,
  results: readonly Omit<Changes['verifications'][number], 'accountId'>[],
): number {
  const { now, changes } = moving;
  let charged = 0;
  for (const { record } of results) {
    if (!Number.isSafeInteger(record.credits) || record.credits < 0)
      throw new RangeError(`A record cannot cost ${record.credits} credits.`);
    charged += record.credits;
  }
  if (!fitsBudget(payer.key, charged - held, now))
    throw new RangeError(`The budget does not cover ${charged} credits.`);
  const amount = moveCredits(moving, payer, { held: -held, charged });
  for (const result of results) {
    changes.verifications.push({ ...result, accountId: payer.account.id });
    countUsage(changes.usage, now, { ...result, accountId: payer.account.id });
    countHit(changes.hits, payer.account.id, result.record);
  }
  return amount;
}

/** Returns the record at the price of its plan, and at most at `most`. */
function priced(
  record: VerificationRecord,
  { prices }: PlanTerms,
  most = Number.POSITIVE_INFINITY,
): VerificationRecord {
  const { price = null } = record;
  const credits = price === null ? record.credits : Math.min(prices[price], most);
  if (credits === record.credits) return record;
  // Nothing comes before it but fields whose texts have their quotation marks escaped.
  const body = record.body.replace(/"credits_used":\d+/, `"credits_used":${credits}`);
  return { ...record, credits, body };
}

/** A shared hold as it is charged; `amount` is what is left of it. */
interface SharedHoldState {
  readonly id: string;
  readonly keyId: string;
  amount: number;
}

/**
 * Charges for a part of the results that a shared hold is for; the part is one row of the ledger. What the hold no
 * longer covers is taken from the balance. `results` are not in the log. Throws ApiError `insufficient_credits` or
 * `key_budget_spent`; then nothing is changed.
 */
export function capturePart<A extends CreditState>(
  moving: MovingCredits<A>,
  payer: Payer<A>,
  hold: SharedHoldState,
  results: SettlementPart['results'],
): SettledPart {
  const { account, key } = payer;
  const terms = termsOf(moving.plans, account.plan);
  const charges = results.map(({ record, held: own }) => ({ record: priced(record, terms, own), held: own }));
  let [held, charged] = [0, 0];
  for (const { record, held: own } of charges) {
    if (!(Number.isSafeInteger(own) && record.credits >= 0 && record.credits <= own))
      throw new RangeError(`A result of ${record.credits} credits does not fit the ${own} held for it.`);
    held += own;
    charged += record.credits;
  }
  const drawn = Math.min(held, hold.amount);
  if (spendable(account, terms, moving.now) + drawn < charged) {
    const sentence = 'The hold no longer covers these results, nor does the balance; nothing was charged.';
    throw new ApiError('insufficient_credits', sentence);
  }
  if (!fitsBudget(key, charged - drawn, moving.now)) throw new ApiError('key_budget_spent');
  const { id: holdId, keyId } = hold;
  const recorded = charges.map(({ record }) => ({ keyId, holdId, record, held: null }));
  const amount = capture(moving, payer, drawn, recorded);
  hold.amount -= drawn;
  if (drawn > 0 || charged > 0)
    moving.changes.ledger.push({
      accountId: account.id,
      kind: 'settlement',
      amount,
      charged,
      verificationId: null,
      holdId,
    });
  return { recorded: results.length, charged, balance: account.balance, amount: hold.amount };
}

/**
 * The record and its charge. `held` credits are held for it (0 without a hold). The verification is its own ledger
 * entry; one of 0 credits without a hold moves nothing, and is none. `key`: null for a signed-in user. Remembers the
 * mailbox that was seen; returns the record as it is written.
 */
function recordCharge(
  state: ChargeState,
  changes: Changes,
  account: AccountState,
  { keyId, key }: { readonly keyId: string; readonly key: KeyState | null },
  verified: { readonly record: VerificationRecord; readonly seen: Sighting | null },
  held: number,
): VerificationRecord {
  const bare = priced(verified.record, termsOf(state.plans, account.plan));
  const { credits } = bare;
  if (account.testOf !== null && credits > 0) throw new RangeError('Test mode charges nothing.');
  const known = verified.seen && recall(state, changes, account, verified.seen);
  const record = known === null ? bare : withSeen(bare, known);
  const entry = { keyId, holdId: null, record, held: held > 0 || credits > 0 ? held : null };
  capture(movingInBatch(state, changes), { account, key }, held, [entry]);
  if (known !== null) remember(changes, known);
  return record;
}

const movingInBatch = ({ now, plans }: ChargeState, changes: Changes) => ({ now, plans, changes });

/** What the caller needs to know of a reply: nothing where it is the one that they sent. */
const completedReply = (
  { body, decision = null }: CompletedReply,
  sent: VerificationRecord,
): { readonly completed?: CompletedReply } => (body === sent.body ? {} : { completed: { body, decision } });

/**
 * See `Charging.settle`. Throws ApiError: `verification_unavailable` when the hold was released and the balance or the
 * key's budget is too low, `idempotency_in_progress` when another request has taken the Idempotency-Key.
 */
function applySettlement(state: ChargeState, changes: Changes, settlement: Settlement): Settled {
  const { caller, record: verification, holdId, idempotency, seen = null } = settlement;
  const account = state.account(caller.accountId);
  if (account === null) throw new ApiError('verification_unavailable');
  const terms = termsOf(state.plans, account.plan);
  const balance = () => spendable(account, terms, state.now);
  const hold = changes.ended.includes(holdId) ? null : state.hold(holdId);
  if (hold !== null && hold.accountId !== account.id) throw new Error('The hold belongs to another account.');
  const by = { keyId: caller.keyId, key: state.keyById(caller.keyId) };
  if (verification === null) {
    if (hold !== null) {
      const subject = { verificationId: hold.id, holdId: null };
      giveBack(movingInBatch(state, changes), { account, key: by.key }, hold.amount, subject);
      changes.ended.push(hold.id);
    }
    if (idempotency !== null) forgetReply(state, changes, account.id, idempotency);
    return { balance: balance() };
  }
  const earlier = recordedReply(state, changes, verification.id);
  if (earlier !== null) return { balance: balance(), ...completedReply(earlier, verification) };

  // The reservation ended with the hold: whoever has taken the key since is charged, and a repeated request gets that
  // reply.
  if (idempotency !== null && !holdsKey(state, changes, account.id, idempotency))
    throw new ApiError('idempotency_in_progress', undefined, { retry_after: 1 });
  const held = hold?.amount ?? 0;
  const { credits } = priced(verification, terms);
  if (hold === null && (balance() < credits || !fitsBudget(by.key, credits, state.now))) {
    const sentence = 'The check took too long and its credits were spent meanwhile; nothing was charged.';
    throw new ApiError('verification_unavailable', sentence, { retry_after: 5 });
  }
  const recorded = recordCharge(state, changes, account, by, { record: verification, seen }, held);
  if (hold !== null) changes.ended.push(holdId);
  if (idempotency !== null) {
    finish(state, changes, account.id, idempotency, { status: 200, headers: {}, body: keptBody(recorded) });
  }
  return { balance: balance(), ...completedReply(recorded, verification) };
}

/** Null: no verification of this id is recorded. */
const recordedReply = (state: ChargeState, changes: Changes, id: string): CompletedReply | null =>
  changes.verifications.find((entry) => entry.record.id === id)?.record ?? state.recorded(id);

// Admission authenticates, authorizes, and holds or charges credits. It refuses in the order of the contract.

/** A key's last use is recorded at most this often. */
const USE_RECORDED_EVERY_MS = 60_000;

const unauthenticated = (refusal: Refusal): Admission => ({
  ...refusal,
  outcome: 'refused',
  caller: null,
  window: null,
  balance: null,
});

const hasScope = (scopes: string | null, scope: KeyScope): boolean =>
  scopes === null ? DEFAULT_SCOPES.includes(scope) : scopes.split(' ').includes(scope);

/**
 * Thrown by a `decide` that was not given for this filter. Nothing of the request counts; it has to be applied again.
 */
export class UndecidedError extends Error {
  readonly filter: FilterRule | null;
  constructor(filter: FilterRule | null) {
    super('There is no verdict for this filter.');
    this.filter = filter;
  }
}

const ADMITTED = { outcome: 'admitted', filter: null, matchesHosts: false } as const;

/** Admits or refuses one request, given the state left by the requests before it; adds what has to be written. */
function applyAdmission(state: ChargeState, changes: Changes, request: AdmissionRequest): Admission {
  const { keyHash, scope } = request;
  const { now } = state;
  /** Null for a signed-in user and for a hook, who have authenticated already. */
  const key = typeof keyHash === 'string' ? state.key(keyHash) : null;
  const accountId = typeof keyHash === 'string' ? key?.accountId : keyHash.account;
  const account = accountId === undefined ? null : state.account(accountId);
  if (account === null) return unauthenticated({ code: 'invalid_api_key' });
  // A rolled key stays valid until its grace period ends.
  if (key !== null && key.revokedAt !== null && key.revokedAt <= now)
    return unauthenticated({ code: 'revoked_api_key' });
  if (key !== null && key.expiresAt !== null && key.expiresAt <= now)
    return unauthenticated({ code: 'expired_api_key', expiredAt: key.expiresAt });
  if (account.status !== 'active') return unauthenticated({ code: 'invalid_api_key' });
  const terms = state.plans.get(account.plan);
  if (terms === undefined)
    throw new ApiError(
      'verification_unavailable',
      `The plans file has no plan "${account.plan}". Nothing was charged.`,
    );
  const window = () => windowOf(account, terms, now);
  const balance = () => spendable(account, terms, now);

  const test = account.testOf !== null;
  const standIn = typeof keyHash === 'string' ? undefined : keyHash.hook;
  const keyId = key?.id ?? standIn ?? DASHBOARD_KEY;
  const caller: Caller = { accountId: account.id, keyId, plan: account.plan, test };
  const refused = (refusal: Refusal): Admission => {
    const left = refusal.code === 'ip_not_allowed' ? null : balance();
    return { ...refusal, outcome: 'refused', caller, window: window(), balance: left };
  };
  if (key !== null && !isAllowed(key.allowIps, request.ip)) return refused({ code: 'ip_not_allowed' });
  if (scope === null) return { ...ADMITTED, caller, window: window(), balance: balance() };
  if (key !== null && scope !== 'any' && !hasScope(key.scopes, scope)) return refused({ code: 'scope_missing', scope });
  if (key !== null) recordUse(changes, key, request.ip, now);
  const aheadMs = windowAhead(account, now);
  const { windowStart, windowCount } = account;
  if (!countRequest(account, terms, now)) return refused({ code: 'rate_limit_exceeded' });
  if (aheadMs > 0) changes.events.push({ kind: 'rate_window_restarted', account: account.id, aheadMs });
  changes.accounts.add(account);

  if (request.idempotency !== null) {
    const earlier = findIdempotency(state, changes, account.id, request.idempotency);
    if (earlier !== null) {
      if (earlier.fingerprint !== request.idempotency.fingerprint) return refused({ code: 'idempotency_key_reused' });
      if (earlier.state === 'running') return refused({ code: 'idempotency_in_progress' });
      return { outcome: 'replay', caller, window: window(), reply: storedReply(earlier), balance: balance() };
    }
  }
  const { verify } = request;
  if (verify !== null && verify.test !== test) throw new TypeError('The verdict is of the other mode.');
  if (verify === null || request.invalid) {
    if (request.idempotency !== null) reserve(state, changes, account.id, request.idempotency, RESERVATION_LIFE_MS);
    return { ...ADMITTED, caller, window: window(), balance: balance() };
  }
  try {
    return admitVerification(state, changes, request, verify, { account, terms }, { caller, key }, refused);
  } catch (error) {
    if (error instanceof UndecidedError) Object.assign(account, { windowStart, windowCount });
    throw error;
  }
}

/**
 * Checks plan, room for a mailbox, filters (blocked requests are free), credits and the key's budget; then charges at
 * once or takes a hold.
 */
function admitVerification(
  state: ChargeState,
  changes: Changes,
  request: AdmissionRequest,
  verify: VerifyAdmission,
  { account, terms }: { readonly account: AccountState; readonly terms: PlanTerms },
  { caller, key }: { readonly caller: Caller; readonly key: KeyState | null },
  refused: (refusal: Refusal) => Admission,
): Admission {
  const by = { keyId: caller.keyId, key };
  const { seen = null } = verify;
  const left = () => ({
    window: windowOf(account, terms, state.now),
    balance: spendable(account, terms, state.now),
  });
  const settled = (found: VerificationRecord): Admission => {
    const recorded = recordCharge(state, changes, account, by, { record: found, seen }, 0);
    const reply = { status: 200, headers: {}, body: keptBody(recorded) };
    if (request.idempotency !== null) finish(state, changes, account.id, request.idempotency, reply);
    return { outcome: 'settled', caller, record: found, ...completedReply(recorded, found), ...left() };
  };
  if (!terms.levels.includes(verify.level))
    return refused({ code: 'plan_upgrade_required', upgrade: planWithLevel(state.plans, verify.level) });
  const limit = seen && mailboxesLimit(state, changes, account, seen);
  if (limit !== null) return refused({ code: 'too_many_mailboxes', limit });
  const filter = matchFilter(state, account, verify.filterKeys);
  if (filter?.action === 'block') {
    const blocked = verify.decide(filter);
    if (blocked !== null) return settled(blocked);
  }
  if (verify.free === true && filter === null) {
    const known = verify.decide(null);
    if (known !== null) return settled(known);
  }
  const price = heldPrice(terms, verify.level, caller.test);
  if (left().balance < price) return refused({ code: 'insufficient_credits' });
  if (key !== null && key.budget !== null && !fitsBudget(key, price, state.now))
    return refused(budgetSpent(key, key.budget, state.now));
  // The mail hosts are not known yet, and one of the filters may be about them.
  const matchesHosts = filter === null && account.filterMxHosts > 0 && verify.filterKeys.mxHosts === null;
  const verdict = filter?.action === 'block' || matchesHosts ? null : verify.decide(filter);
  if (verdict !== null) return settled(verdict);

  if (price > 0) hold(state, changes, request, verify, account, by, price);
  if (request.idempotency !== null) reserve(state, changes, account.id, request.idempotency, verify.holdMs);
  return { outcome: 'admitted', caller, filter, matchesHosts, ...left() };
}

function hold(
  state: ChargeState,
  changes: Changes,
  request: AdmissionRequest,
  verify: VerifyAdmission,
  account: AccountState,
  { keyId, key }: { readonly keyId: string; readonly key: KeyState | null },
  amount: number,
): void {
  const { id, holdMs } = verify;
  const { idempotency } = request;
  authorize(movingInBatch(state, changes), { account, key }, amount, { verificationId: id, holdId: null });
  changes.holds.push({
    id,
    accountId: account.id,
    keyId,
    amount,
    route: idempotency?.route ?? null,
    idempotencyKey: idempotency?.key ?? null,
    expiresAt: state.now + holdMs,
  });
}

const budgetSpent = (key: KeyState, budget: number, now: number): Refusal => ({
  code: 'key_budget_spent',
  budget,
  left: Math.max(0, budget - budgetUsed(key, now)),
  resetsAt: budgetResetsAt(key, now),
});

function recordUse(changes: Changes, key: KeyState, ip: string, now: number): void {
  if (key.lastUsedAt !== null && now - key.lastUsedAt < USE_RECORDED_EVERY_MS && now >= key.lastUsedAt) return;
  changes.keyUses.set(key.id, ip);
}

const storedReply = (row: IdempotencyState): StoredReply => ({
  status: row.status ?? 200,
  headers: JSON.parse(row.headers ?? '{}'),
  body: row.body ?? '',
});

/**
 * Pure except for the accounts of `state`, which change in memory. An error thrown for one request is its answer alone.
 * `isHeld`: requests whose account could not be locked.
 */
export function applyBatch(
  state: ChargeState,
  requests: readonly ChargeRequest[],
  isHeld: (request: ChargeRequest) => boolean = () => false,
): { answers: ChargeAnswer[]; changes: Changes } {
  const changes = noChanges();
  const answers = requests.map((request): ChargeAnswer => {
    if (isHeld(request)) return { held: true };
    if (!request.enter()) return { dropped: true };
    try {
      const value =
        request.kind === 'admit'
          ? applyAdmission(state, changes, request.admit)
          : applySettlement(state, changes, request.settle);
      return { value };
    } catch (error) {
      return { error };
    }
  });
  return { answers, changes };
}
