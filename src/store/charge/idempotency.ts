/** Idempotency keys inside the charge (draft-ietf-httpapi-idempotency-key-header). */
import { HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { IDEMPOTENCY_HOURS } from '../../kernel/facts/lifetimes.ts';
import type { AccountId, IdempotencyRef, StoredReply } from '../store.ts';
import type { Changes, ChargeState, IdempotencyState } from './state.ts';

/** How long a stored reply is replayed, ms. */
export const REPLY_LIFE = IDEMPOTENCY_HOURS * HOUR_MS;
/** How long a reservation without a hold may last before it counts as abandoned, ms. */
export const RESERVATION_LIFE = MINUTE_MS;

export const idempotencyId = (accountId: string, ref: { route: string; key: string }): string =>
  `${accountId}\n${ref.route}\n${ref.key}`;

/** The current row, including changes by earlier requests of the batch. */
export function findIdempotency(
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

function put(changes: Changes, row: IdempotencyState, keep: boolean): void {
  changes.idempotency.set(idempotencyId(row.accountId, row), { ref: row, keep });
}

/** From now on, another request with this key is refused with `idempotency_in_progress`. */
export function reserve(state: ChargeState, changes: Changes, accountId: AccountId, ref: IdempotencyRef, life: number) {
  const { now, node } = state;
  put(
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
      expiresAt: now + life,
    },
    true,
  );
}

/** False when another request holds the key: the reservation was released and taken again. */
const isOurs = (row: IdempotencyState | null, ref: IdempotencyRef, node: string): boolean =>
  row === null || (row.state === 'running' && row.node === node && row.fingerprint === ref.fingerprint);

export const holdsKey = (state: ChargeState, changes: Changes, accountId: AccountId, ref: IdempotencyRef): boolean =>
  isOurs(findIdempotency(state, changes, accountId, ref), ref, state.node);

export function finish(
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
  const expiresAt = now + REPLY_LIFE;
  put(changes, { accountId, ...ref, state: 'done', status, headers, body, node, createdAt: now, expiresAt }, true);
}

export function forget(state: ChargeState, changes: Changes, accountId: AccountId, ref: IdempotencyRef): void {
  const row = findIdempotency(state, changes, accountId, ref);
  if (row !== null && isOurs(row, ref, state.node)) put(changes, row, false);
}
