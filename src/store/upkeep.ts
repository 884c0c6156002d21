import type { Transaction } from 'kysely';
import type { Engine } from './engine.ts';
import { purge } from './purge.ts';
import { breath, STEP } from './steps.ts';
import type { Upkeep } from './store.ts';
import type { Row, Tables } from './tables.ts';

/** Which holds to release: all of a node that is gone, or all whose time is over. */
type Which = { readonly node: string } | { readonly expiredAt: number };

function holdsOf(trx: Transaction<Tables>, which: Which) {
  const holds = trx.selectFrom('holds').selectAll();
  return 'node' in which ? holds.where('node', '=', which.node) : holds.where('expires_at', '<=', which.expiredAt);
}

/** Gives each hold back with its ledger row; its idempotency key may be used again. */
async function releaseHold(trx: Transaction<Tables>, hold: Row<'holds'>, now: number): Promise<boolean> {
  const { id, account_id, amount, route, idempotency_key } = hold;
  const { numDeletedRows } = await trx.deleteFrom('holds').where('id', '=', id).executeTakeFirst();
  // Settled while this transaction waited for the account.
  if (numDeletedRows === 0n) return false;
  await trx
    .updateTable('accounts')
    .set((eb) => ({ balance: eb('balance', '+', amount), locked: eb('locked', '-', amount) }))
    .where('id', '=', account_id)
    .execute();
  const entry = { account_id, kind: 'release' as const, amount, verification_id: id, created_at: now };
  await trx.insertInto('ledger').values(entry).execute();
  if (route !== null && idempotency_key !== null) {
    const reserved = trx.deleteFrom('idempotency').where('account_id', '=', account_id).where('route', '=', route);
    await reserved.where('key', '=', idempotency_key).where('state', '=', 'running').execute();
  }
  return true;
}

async function release(engine: Engine, which: Which): Promise<number> {
  let released = 0;
  for (;;) {
    const now = await engine.now();
    const seen = await engine.transaction(async (trx) => {
      const holds = await holdsOf(trx, which).orderBy('id').limit(STEP).execute();
      await engine.lockAccounts(trx, [...new Set(holds.map((hold) => hold.account_id))]);
      for (const hold of holds) if (await releaseHold(trx, hold, now)) released += 1;
      return holds.length;
    });
    if (seen < STEP) return released;
    await breath();
  }
}

export function upkeep(engine: Engine): Upkeep {
  const { db } = engine;

  const sweepNode = async (node: string): Promise<number> => {
    const released = await release(engine, { node });
    await db.deleteFrom('idempotency').where('node', '=', node).where('state', '=', 'running').execute();
    await db.deleteFrom('nodes').where('id', '=', node).execute();
    return released;
  };

  let looking: Promise<number> | null = null;
  const releaseAll = async (): Promise<number> => {
    let released = 0;
    for (const { id } of await db.selectFrom('nodes').select('id').execute()) {
      released += (await engine.node.ifDead(id, () => sweepNode(id))) ?? 0;
    }
    return released + (await release(engine, { expiredAt: await engine.now() }));
  };

  return {
    releaseDead() {
      // Looking twice at once would find nothing more, and each look keeps a connection.
      looking ??= releaseAll().finally(() => {
        looking = null;
      });
      return looking;
    },

    purge: (before) => purge(engine, before),
  };
}
