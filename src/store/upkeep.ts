import type { Transaction } from 'kysely';
import { removeRows } from './account-removal.ts';
import { BATCH_ROWS, yieldToEventLoop } from './batches.ts';
import type { StorageDriver } from './driver.ts';
import { findBudget, writeBudget } from './key-budget.ts';
import { createLedgerRollUp } from './ledger/roll-up.ts';
import { endLeasesOf } from './lists/work.ts';
import { forgetEnded } from './pace/operator-leases.ts';
import { purge } from './purge.ts';
import { releaseExpired } from './shared-holds.ts';
import type { StoreClock, Upkeep } from './store.ts';
import type { Row, Tables } from './tables.ts';
import { createUsageRollUp } from './usage-roll-up.ts';

/** Holds of a dead node, or expired holds. */
type HoldSelection = { readonly node: string } | { readonly expiredAt: number };

function holdsOf(trx: Transaction<Tables>, which: HoldSelection) {
  const holds = trx.selectFrom('holds').selectAll();
  return 'node' in which ? holds.where('node', '=', which.node) : holds.where('expires_at', '<=', which.expiredAt);
}

/** Releases the hold with a ledger row, and its idempotency key. */
async function releaseHold(trx: Transaction<Tables>, hold: Row<'holds'>, now: number): Promise<boolean> {
  const { id, account_id, key_id, amount, route, idempotency_key } = hold;
  const { numDeletedRows } = await trx.deleteFrom('holds').where('id', '=', id).executeTakeFirst();
  // Settled while this transaction waited for the account.
  if (numDeletedRows === 0n) return false;
  await trx
    .updateTable('accounts')
    .set((eb) => ({ balance: eb('balance', '+', amount), locked: eb('locked', '-', amount) }))
    .where('id', '=', account_id)
    .execute();
  await writeBudget(trx, await findBudget(trx, account_id, key_id), { held: -amount, charged: 0 }, now);
  const entry = { account_id, kind: 'release' as const, amount, verification_id: id, created_at: now };
  await trx.insertInto('ledger').values(entry).execute();
  if (route !== null && idempotency_key !== null) {
    const reserved = trx.deleteFrom('idempotency').where('account_id', '=', account_id).where('route', '=', route);
    await reserved.where('key', '=', idempotency_key).where('state', '=', 'running').execute();
  }
  return true;
}

async function release(driver: StorageDriver, which: HoldSelection, signal?: AbortSignal): Promise<number> {
  let released = 0;
  while (!signal?.aborted) {
    const now = await driver.now();
    const seen = await driver.transaction(async (trx) => {
      const holds = await holdsOf(trx, which).orderBy('id').limit(BATCH_ROWS).execute();
      await driver.lockAccounts(trx, [...new Set(holds.map((hold) => hold.account_id))]);
      for (const hold of holds) if (await releaseHold(trx, hold, now)) released += 1;
      return holds.length;
    });
    if (seen < BATCH_ROWS) break;
    await yieldToEventLoop();
  }
  return released;
}

export function upkeep(driver: StorageDriver, clock: StoreClock): Upkeep {
  const { db } = driver;
  const purgeParts = { clock, rollUpLedger: createLedgerRollUp(driver), rollUpUsage: createUsageRollUp(driver) };

  const sweepNode = async (node: string, signal?: AbortSignal): Promise<number> => {
    const released = await release(driver, { node }, signal);
    // The next sweep finds the node by its row and releases the rest of its holds.
    if (signal?.aborted) return released;
    await db.deleteFrom('idempotency').where('node', '=', node).where('state', '=', 'running').execute();
    await endLeasesOf(driver, node);
    await db.deleteFrom('nodes').where('id', '=', node).execute();
    return released;
  };

  let sweeping: Promise<number> | null = null;
  const releaseAll = async (signal?: AbortSignal): Promise<number> => {
    let released = 0;
    for (const { id } of await db.selectFrom('nodes').select('id').execute()) {
      if (signal?.aborted) return released;
      released += (await driver.node.ifDead(id, () => sweepNode(id, signal))) ?? 0;
    }
    await forgetEnded(driver);
    released += await release(driver, { expiredAt: await driver.now() }, signal);
    return released + (await releaseExpired(driver, signal));
  };

  return {
    releaseDead(signal) {
      // A second sweep at the same time would find nothing more, and each uses a connection.
      sweeping ??= releaseAll(signal).finally(() => {
        sweeping = null;
      });
      return sweeping;
    },

    purge: (keepMs, signal) => purge(driver, purgeParts, keepMs, signal),
    removeAccount: (account, signal) => removeRows(driver, account, signal),
  };
}
