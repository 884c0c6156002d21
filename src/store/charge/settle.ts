/** Settlement: a hold becomes its charge, or is given back. */
import { Refusal } from '../../kernel/errors.ts';
import type { Settlement, VerificationRecord } from '../store.ts';
import { finish, forget } from './idempotency.ts';
import type { AccountState, Changes, ChargeState } from './state.ts';

const HOUR = 3600 * 1000;

/**
 * Writes the record and its charge. `held` credits are locked for it (0 without a hold); they are unlocked, and what
 * the charge leaves of them goes back to the balance. The caller has made sure that the balance suffices.
 * A record of 0 credits without a hold moves nothing, so it has no ledger row.
 */
export function record(
  state: ChargeState,
  changes: Changes,
  account: AccountState,
  keyId: string,
  found: VerificationRecord,
  held: number,
): void {
  const { credits } = found;
  if (!Number.isSafeInteger(credits) || credits < 0) throw new TypeError(`A record cannot cost ${credits} credits.`);
  const amount = held - credits;
  if (account.balance + amount < 0)
    throw new RangeError(`A record of ${credits} credits does not fit a hold of ${held}.`);
  const accountId = account.id;
  account.balance += amount;
  account.locked -= held;
  changes.accounts.add(account);
  if (held > 0 || credits > 0) {
    changes.ledger.push({ accountId, kind: 'settlement', amount, charged: credits, verificationId: found.id });
  }
  changes.verifications.push({ accountId, keyId, record: found });
  countUsage(state, changes, accountId, keyId, found);
}

function countUsage(
  state: ChargeState,
  changes: Changes,
  accountId: AccountState['id'],
  keyId: string,
  { validationType, status, reason, credits }: VerificationRecord,
): void {
  const hour = Math.floor(state.now / HOUR) * HOUR;
  const id = `${accountId}\n${keyId}\n${validationType}\n${status}\n${reason ?? ''}`;
  const entry = changes.usage.get(id);
  if (entry === undefined) {
    changes.usage.set(id, {
      accountId,
      keyId,
      hour,
      validationType,
      status,
      reason: reason ?? '',
      requests: 1,
      credits,
    });
  } else {
    entry.requests += 1;
    entry.credits += credits;
  }
}

/** See `Charging.settle`. Throws Refusal('verification_unavailable') when the hold is gone and the balance too low. */
export function settle(state: ChargeState, changes: Changes, settlement: Settlement): { balance: number } {
  const { caller, record: found, holdId, idempotency } = settlement;
  const account = state.account(caller.accountId);
  if (account === null) throw new Refusal('verification_unavailable');
  const hold = changes.ended.includes(holdId) ? null : state.hold(holdId);
  if (hold !== null && hold.accountId !== account.id) throw new Error('The hold belongs to another account.');
  if (found === null) {
    if (hold !== null) release(changes, account, holdId, hold.amount);
    if (idempotency !== null) forget(state, changes, account.id, idempotency);
    return { balance: account.balance };
  }
  if (isRecorded(state, changes, found.id)) return { balance: account.balance };

  const held = hold?.amount ?? 0;
  if (hold === null && account.balance < found.credits) {
    const sentence = 'The check took too long and its credits were spent meanwhile; nothing was charged.';
    throw new Refusal('verification_unavailable', sentence, { retry_after: 5 });
  }
  record(state, changes, account, caller.keyId, found, held);
  if (hold !== null) changes.ended.push(holdId);
  if (idempotency !== null) {
    finish(state, changes, account.id, idempotency, { status: 200, headers: {}, body: found.body });
  }
  return { balance: account.balance };
}

function release(changes: Changes, account: AccountState, holdId: string, amount: number): void {
  account.balance += amount;
  account.locked -= amount;
  changes.accounts.add(account);
  changes.ledger.push({ accountId: account.id, kind: 'release', amount, charged: 0, verificationId: holdId });
  changes.ended.push(holdId);
}

const isRecorded = (state: ChargeState, changes: Changes, id: string): boolean =>
  changes.verifications.some((entry) => entry.record.id === id) || state.recorded(id);
