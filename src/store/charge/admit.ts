/** Admission: authenticates, authorizes, and holds or charges credits; refusals in the order of the contract. */

import { PLANS, PRICE } from '../../kernel/facts/plans.ts';
import type { KeyScope } from '../../kernel/facts/scopes.ts';
import { DASHBOARD_KEY } from '../../kernel/log-origins.ts';
import type {
  Admission,
  AdmissionRequest,
  Caller,
  Filter,
  Refusal,
  StoredReply,
  VerificationRecord,
  VerifyAdmission,
} from '../store.ts';
import { isAllowed } from './allow.ts';
import { budgetResetsAt, budgetUsed, fitsBudget } from './budget.ts';
import { findIdempotency, finish, RESERVATION_LIFE, reserve } from './idempotency.ts';
import { matchFilter } from './match.ts';
import { recordBudget, recordCharge } from './settle.ts';
import type { AccountState, Changes, ChargeState, IdempotencyState, KeyState } from './state.ts';
import { countRequest, windowAhead, windowOf } from './window.ts';

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
  scopes === null || scopes.split(' ').includes(scope);

/**
 * Thrown by a `decide` that was not given for this filter. Nothing of the request counts; it has to be applied again.
 */
export class UndecidedError extends Error {
  readonly filter: Filter | null;
  constructor(filter: Filter | null) {
    super('There is no verdict for this filter.');
    this.filter = filter;
  }
}

/** Admits or refuses one request, given the state left by the requests before it; adds what has to be written. */
export function admit(state: ChargeState, changes: Changes, request: AdmissionRequest): Admission {
  const { keyHash, scope } = request;
  const { now } = state;
  /** Null for a signed-in user, who has authenticated already. */
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

  const test = account.testOf !== null;
  const caller: Caller = { accountId: account.id, keyId: key?.id ?? DASHBOARD_KEY, plan: account.plan, test };
  const refused = (refusal: Refusal): Admission => {
    const balance = refusal.code === 'ip_not_allowed' ? null : account.balance;
    return { ...refusal, outcome: 'refused', caller, window: windowOf(account, now), balance };
  };
  if (key !== null && !isAllowed(key.allowIps, request.ip)) return refused({ code: 'ip_not_allowed' });
  if (scope === null)
    return { outcome: 'admitted', caller, window: windowOf(account, now), filter: null, balance: account.balance };
  if (key !== null && scope !== 'any' && !hasScope(key.scopes, scope)) return refused({ code: 'scope_missing', scope });
  if (key !== null) recordUse(changes, key, request.ip, now);
  const aheadMs = windowAhead(account, now);
  const { windowStart, windowCount } = account;
  if (!countRequest(account, now)) return refused({ code: 'rate_limit_exceeded' });
  if (aheadMs > 0) changes.events.push({ kind: 'rate_window_restarted', account: account.id, aheadMs });
  changes.accounts.add(account);

  if (request.idempotency !== null) {
    const earlier = findIdempotency(state, changes, account.id, request.idempotency);
    if (earlier !== null) {
      if (earlier.fingerprint !== request.idempotency.fingerprint) return refused({ code: 'idempotency_key_reused' });
      if (earlier.state === 'running') return refused({ code: 'idempotency_in_progress' });
      return {
        outcome: 'replay',
        caller,
        window: windowOf(account, now),
        reply: replyOf(earlier),
        balance: account.balance,
      };
    }
  }
  const { verify } = request;
  if (verify !== null && verify.test !== test) throw new TypeError('The verdict is of the other mode.');
  if (verify === null || request.invalid) {
    if (request.idempotency !== null) reserve(state, changes, account.id, request.idempotency, RESERVATION_LIFE);
    return { outcome: 'admitted', caller, window: windowOf(account, now), filter: null, balance: account.balance };
  }
  try {
    return admitVerification(state, changes, request, verify, account, { caller, key }, refused);
  } catch (error) {
    if (error instanceof UndecidedError) Object.assign(account, { windowStart, windowCount });
    throw error;
  }
}

/**
 * Checks plan, filters (blocked requests are free), credits and the key's budget; then charges at once or takes a hold.
 */
function admitVerification(
  state: ChargeState,
  changes: Changes,
  request: AdmissionRequest,
  verify: VerifyAdmission,
  account: AccountState,
  { caller, key }: { readonly caller: Caller; readonly key: KeyState | null },
  refused: (refusal: Refusal) => Admission,
): Admission {
  const by = { keyId: caller.keyId, key };
  const settled = (found: VerificationRecord): Admission => {
    recordCharge(state, changes, account, by, found, 0);
    const reply = { status: 200, headers: {}, body: found.body };
    if (request.idempotency !== null) finish(state, changes, account.id, request.idempotency, reply);
    return {
      outcome: 'settled',
      caller,
      window: windowOf(account, state.now),
      record: found,
      balance: account.balance,
    };
  };
  if (verify.level === 'smtp' && !PLANS[account.plan].smtp) return refused({ code: 'plan_upgrade_required' });
  const filter: Filter | null = matchFilter(state, account, verify.filterKeys);
  if (filter !== null) {
    const blocked = verify.decide(filter);
    if (blocked !== null) return settled(blocked);
  }
  const price = caller.test ? 0 : PRICE[verify.level];
  if (account.balance < price) return refused({ code: 'insufficient_credits' });
  if (key !== null && key.budget !== null && !fitsBudget(key, price, state.now))
    return refused(budgetSpent(key, key.budget, state.now));
  const verdict = filter === null ? verify.decide(null) : null;
  if (verdict !== null) return settled(verdict);

  if (price > 0) hold(state, changes, request, verify, account, by, price);
  if (request.idempotency !== null) reserve(state, changes, account.id, request.idempotency, verify.holdMs);
  return { outcome: 'admitted', caller, window: windowOf(account, state.now), filter, balance: account.balance };
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
  account.balance -= amount;
  account.locked += amount;
  recordBudget(state, changes, key, { held: amount, charged: 0 });
  changes.holds.push({
    id,
    accountId: account.id,
    keyId,
    amount,
    route: idempotency?.route ?? null,
    idempotencyKey: idempotency?.key ?? null,
    expiresAt: state.now + holdMs,
  });
  changes.ledger.push({ accountId: account.id, kind: 'hold', amount: -amount, verificationId: id });
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

const replyOf = (row: IdempotencyState): StoredReply => ({
  status: row.status ?? 200,
  headers: JSON.parse(row.headers ?? '{}'),
  body: row.body ?? '',
});
