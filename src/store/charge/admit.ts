/** Admission: who asks, whether they may, and what it holds or charges; in the contract's order of refusal. */
import { PLANS, PRICE } from '../../kernel/plans.ts';
import type {
  Admission,
  AdmissionRequest,
  Caller,
  Filter,
  RefusalCode,
  VerificationRecord,
  VerifyAdmission,
} from '../store.ts';
import { isAllowed } from './allow.ts';
import { findIdempotency, finish, RESERVATION_LIFE, reserve } from './idempotency.ts';
import { matchFilter } from './match.ts';
import { record } from './settle.ts';
import type { AccountState, Changes, ChargeState, IdempotencyState, KeyState } from './state.ts';
import { countRequest, windowOf } from './window.ts';

/** A key's last use is noted at most this often, ms. */
const USE_NOTED_EVERY = 60_000;

/** What is recorded instead of a key for a person who is signed in. */
const DASHBOARD_KEY = 'dashboard';

const stranger = (code: RefusalCode): Admission => ({
  outcome: 'refused',
  code,
  caller: null,
  window: null,
  balance: null,
});

/** Judges one request on the state that the requests before it left, and notes what has to be written. */
export function admit(state: ChargeState, changes: Changes, request: AdmissionRequest): Admission {
  const { keyHash } = request;
  const { now } = state;
  /** Null for a person, who was let in by who they are. */
  const key = typeof keyHash === 'string' ? state.key(keyHash) : null;
  const accountId = typeof keyHash === 'string' ? key?.accountId : keyHash.account;
  const account = accountId === undefined ? null : state.account(accountId);
  if (account === null) return stranger('invalid_api_key');
  // One that was rolled is good until its time has come.
  if (key !== null && key.revokedAt !== null && key.revokedAt <= now) return stranger('revoked_api_key');
  if (account.status !== 'active') return stranger('invalid_api_key');

  const caller: Caller = { accountId: account.id, keyId: key?.id ?? DASHBOARD_KEY, plan: account.plan };
  const refused = (code: RefusalCode): Admission => {
    const balance = code === 'ip_not_allowed' ? null : account.balance;
    return { outcome: 'refused', code, caller, window: windowOf(account, now), balance };
  };
  if (key !== null && !isAllowed(key.allowIps, request.ip)) return refused('ip_not_allowed');
  if (key !== null) noteUse(changes, key, request.ip, now);
  if (!countRequest(account, now)) return refused('rate_limit_exceeded');
  changes.accounts.add(account);

  if (request.idempotency !== null) {
    const earlier = findIdempotency(state, changes, account.id, request.idempotency);
    if (earlier !== null) {
      if (earlier.fingerprint !== request.idempotency.fingerprint) return refused('idempotency_key_reused');
      if (earlier.state === 'running') return refused('idempotency_in_progress');
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
  if (verify === null || request.invalid) {
    if (request.idempotency !== null) reserve(state, changes, account.id, request.idempotency, RESERVATION_LIFE);
    return { outcome: 'admitted', caller, window: windowOf(account, now), filter: null, balance: account.balance };
  }
  return admitVerification(state, changes, request, verify, account, caller, refused);
}

/** Plan, filters (what they block is free), credits; then the charge at once or a hold. */
function admitVerification(
  state: ChargeState,
  changes: Changes,
  request: AdmissionRequest,
  verify: VerifyAdmission,
  account: AccountState,
  caller: Caller,
  refused: (code: RefusalCode) => Admission,
): Admission {
  const settled = (found: VerificationRecord): Admission => {
    record(state, changes, account, caller.keyId, found, 0);
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
  if (verify.level === 'smtp' && !PLANS[account.plan].smtp) return refused('plan_upgrade_required');
  const filter: Filter | null = matchFilter(state, account, verify.filterKeys);
  if (filter !== null) {
    const blocked = verify.decide(filter);
    if (blocked !== null) return settled(blocked);
  }
  const price = PRICE[verify.level];
  if (account.balance < price) return refused('insufficient_credits');
  const verdict = filter === null ? verify.decide(null) : null;
  if (verdict !== null) return settled(verdict);

  hold(state, changes, request, verify, account, caller.keyId, price);
  return { outcome: 'admitted', caller, window: windowOf(account, state.now), filter, balance: account.balance };
}

function hold(
  state: ChargeState,
  changes: Changes,
  request: AdmissionRequest,
  verify: VerifyAdmission,
  account: AccountState,
  keyId: string,
  amount: number,
): void {
  const { id, holdMs } = verify;
  const { idempotency } = request;
  account.balance -= amount;
  account.locked += amount;
  changes.holds.push({
    id,
    accountId: account.id,
    keyId,
    amount,
    route: idempotency?.route ?? null,
    idempotencyKey: idempotency?.key ?? null,
    expiresAt: state.now + holdMs,
  });
  changes.ledger.push({ accountId: account.id, kind: 'hold', amount: -amount, charged: 0, verificationId: id });
  if (idempotency !== null) reserve(state, changes, account.id, idempotency, holdMs);
}

function noteUse(changes: Changes, key: KeyState, ip: string, now: number): void {
  if (key.lastUsedAt !== null && now - key.lastUsedAt < USE_NOTED_EVERY && now >= key.lastUsedAt) return;
  changes.keyUses.set(key.id, ip);
}

const replyOf = (row: IdempotencyState) => ({
  status: row.status ?? 200,
  headers: JSON.parse(row.headers ?? '{}') as Record<string, string>,
  body: row.body ?? '',
});
