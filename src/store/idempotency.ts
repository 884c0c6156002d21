import type { Transaction } from 'kysely';
import { ApiError } from '../kernel/errors.ts';
import { REPLY_LIFE_MS, RESERVATION_LIFE_MS } from './charge/apply-batch.ts';
import type { StorageDriver } from './driver.ts';
import { storable } from './rows.ts';
import type { IdempotencyRef, ReplyToStore, Store, StoredReply } from './store.ts';
import type { Tables } from './tables.ts';

/** Turns our reservation of the key into the stored reply; false when another request owns the key by now. */
async function writeReply(
  driver: StorageDriver,
  trx: Transaction<Tables> | StorageDriver['db'],
  accountId: string,
  now: number,
  { route, key, fingerprint }: IdempotencyRef,
  { status, headers, body }: StoredReply,
): Promise<boolean> {
  const node = driver.node.current ?? '';
  const reply = { state: 'done' as const, status, headers: JSON.stringify(headers), body: storable(body) };
  const life = { created_at: now, expires_at: now + REPLY_LIFE_MS };
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('idempotency')
    .values({ account_id: accountId, route, key, fingerprint, node, ...reply, ...life })
    .onConflict((oc) =>
      oc
        .columns(['account_id', 'route', 'key'])
        .doUpdateSet({ ...reply, ...life })
        .where((eb) =>
          eb.or([
            // Only our own reservation: another request may have taken the key after it was released.
            eb.and([
              eb('idempotency.state', '=', 'running'),
              eb('idempotency.node', '=', node),
              eb('idempotency.fingerprint', '=', fingerprint),
            ]),
            eb('idempotency.expires_at', '<=', now),
          ]),
        ),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * A change ends its transaction with this: it stores the reply that reports `outcome`, if the request has an
 * Idempotency-Key. Throws ApiError `idempotency_in_progress`, which undoes the change, where another request has taken
 * the key meanwhile: that request makes the change, and a repeated one gets its reply.
 */
export async function storeReply<Outcome>(
  driver: StorageDriver,
  trx: Transaction<Tables>,
  accountId: string,
  now: number,
  stored: ReplyToStore<Outcome> | null,
  outcome: Outcome,
): Promise<void> {
  if (stored === null) return;
  if (await writeReply(driver, trx, accountId, now, stored.ref, stored.replyTo(outcome))) return;
  throw new ApiError('idempotency_in_progress', undefined, { retry_after: 1 });
}

export function idempotency(driver: StorageDriver): Store['idempotency'] {
  const { db } = driver;

  async function find(owner: string, { route, key, fingerprint }: IdempotencyRef): Promise<StoredReply | null> {
    const found = await db
      .selectFrom('idempotency')
      .select(['fingerprint', 'status', 'headers', 'body'])
      .where('account_id', '=', owner)
      .where('route', '=', route)
      .where('key', '=', key)
      .where('state', '=', 'done')
      .where('expires_at', '>', await driver.now())
      .executeTakeFirst();
    if (found === undefined) return null;
    if (found.fingerprint !== fingerprint) throw new ApiError('idempotency_key_reused');
    const { status, headers, body } = found;
    return { status: status ?? 0, headers: JSON.parse(headers ?? '{}'), body: body ?? '' };
  }

  return {
    async reserve(owner, ref) {
      const now = await driver.now();
      const node = driver.node.current ?? '';
      const reserved = { fingerprint: ref.fingerprint, state: 'running' as const, node, created_at: now };
      const row = { ...reserved, expires_at: now + RESERVATION_LIFE_MS };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('idempotency')
        .values({ account_id: owner, route: ref.route, key: ref.key, ...row })
        .onConflict((oc) =>
          oc.columns(['account_id', 'route', 'key']).doUpdateSet(row).where('idempotency.expires_at', '<=', now),
        )
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 1n) return null;
      const stored = await find(owner, ref);
      if (stored === null) throw new ApiError('idempotency_in_progress', undefined, { retry_after: 1 });
      return stored;
    },

    async finish(owner, ref, reply) {
      await writeReply(driver, db, owner, await driver.now(), ref, reply);
    },

    find,

    async forget(owner, { route, key, fingerprint }) {
      await db
        .deleteFrom('idempotency')
        .where('account_id', '=', owner)
        .where('route', '=', route)
        .where('key', '=', key)
        .where('fingerprint', '=', fingerprint)
        .where('state', '=', 'running')
        .where('node', '=', driver.node.current ?? '')
        .execute();
    },
  };
}
