/** Settlement: a hold is captured or released. */
import { ApiError } from '../../kernel/errors.ts';
import type { Settlement, VerificationRecord } from '../store.ts';
import { countBudget, fitsBudget } from './budget.ts';
import { finish, forget, holdsKey } from './idempotency.ts';
import type { AccountState, Changes, ChargeState, HoldState, KeyState } from './state.ts';
import { countUsage } from './usage.ts';

/**
 * Writes the record and its charge. `held` credits are locked for it (0 without a hold); they are unlocked, and
 * what is not charged returns to the balance. The caller has checked that the balance suffices, and the key's budget.
 * The verification is its own ledger entry; one of 0 credits without a hold moves nothing, and is none. `key`: null for
 * a signed-in user.
 */
export function recordCharge(
  state: ChargeState,
  changes: Changes,
  account: AccountState,
  { keyId, key }: { readonly keyId: string; readonly key: KeyState | null },
  verification: VerificationRecord,
  held: number,
): void {
  const { credits } = verification;
  if (!Number.isSafeInteger(credits) || credits < 0) throw new TypeError(`A record cannot cost ${credits} credits.`);
  if (account.testOf !== null && credits > 0) throw new RangeError('Test mode charges nothing.');
  const amount = held - credits;
  if (account.balance + amount < 0)
    throw new RangeError(`A record of ${credits} credits does not fit a hold of ${held}.`);
  if (!fitsBudget(key, credits - held, state.now))
    throw new RangeError(`The budget does not cover ${credits} credits.`);
  const accountId = account.id;
  account.balance += amount;
  account.locked -= held;
  changes.accounts.add(account);
  recordBudget(state, changes, key, { held: -held, charged: credits });
  changes.verifications.push({ accountId, keyId, record: verification, held: held > 0 || credits > 0 ? held : null });
  countUsage(changes.usage, state.now, { accountId, keyId, record: verification });
}

/**
 * See `Charging.settle`. Throws ApiError: `verification_unavailable` when the hold was released and the balance or the
 * key's budget is too low, `idempotency_in_progress` when another request has taken the Idempotency-Key.
 */
export function settle(state: ChargeState, changes: Changes, settlement: Settlement): { balance: number } {
  const { caller, record: verification, holdId, idempotency } = settlement;
  const account = state.account(caller.accountId);
  if (account === null) throw new ApiError('verification_unavailable');
  const hold = changes.ended.includes(holdId) ? null : state.hold(holdId);
  if (hold !== null && hold.accountId !== account.id) throw new Error('The hold belongs to another account.');
  const by = { keyId: caller.keyId, key: state.keyById(caller.keyId) };
  if (verification === null) {
    if (hold !== null) release(state, changes, account, by.key, hold);
    if (idempotency !== null) forget(state, changes, account.id, idempotency);
    return { balance: account.balance };
  }
  if (isRecorded(state, changes, verification.id)) return { balance: account.balance };

  // The reservation ended with the hold: whoever has taken the key since is charged, and a repeated request gets that
  // reply.
  if (idempotency !== null && !holdsKey(state, changes, account.id, idempotency))
    throw new ApiError('idempotency_in_progress', undefined, { retry_after: 1 });
  const held = hold?.amount ?? 0;
  const { credits } = verification;
  if (hold === null && (account.balance < credits || !fitsBudget(by.key, credits, state.now))) {
    const sentence = 'The check took too long and its credits were spent meanwhile; nothing was charged.';
    throw new ApiError('verification_unavailable', sentence, { retry_after: 5 });
  }
  recordCharge(state, changes, account, by, verification, held);
  if (hold !== null) changes.ended.push(holdId);
  if (idempotency !== null) {
    finish(state, changes, account.id, idempotency, { status: 200, headers: {}, body: verification.body });
  }
  return { balance: account.balance };
}

function release(
  state: ChargeState,
  changes: Changes,
  account: AccountState,
  key: KeyState | null,
  { id, amount }: HoldState,
): void {
  account.balance += amount;
  account.locked -= amount;
  changes.accounts.add(account);
  recordBudget(state, changes, key, { held: -amount, charged: 0 });
  changes.ledger.push({ accountId: account.id, kind: 'release', amount, verificationId: id });
  changes.ended.push(id);
}

/** Nothing is counted for a key without a budget. */
export function recordBudget(
  { now }: ChargeState,
  changes: Changes,
  key: KeyState | null,
  by: { held: number; charged: number },
): void {
  if (key === null || key.budget === null || (by.held === 0 && by.charged === 0)) return;
  countBudget(key, by, now);
  changes.budgets.add(key);
}

const isRecorded = (state: ChargeState, changes: Changes, id: string): boolean =>
  changes.verifications.some((entry) => entry.record.id === id) || state.recorded(id);
