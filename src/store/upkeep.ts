import { sql, type Transaction } from 'kysely';
import type { Engine } from './engine.ts';
import type { Upkeep } from './store.ts';
import type { Row, Tables } from './tables.ts';

/** Rows in one transaction, so that nobody waits long behind it. */
const STEP = 500;

/** SQLite works without ever waiting: lets the requests that came meanwhile go first. */
const breath = () => new Promise(setImmediate);

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

  /** The oldest verifications, by the order in which they were recorded. */
  const purgeStep = (before: number): Promise<number> =>
    engine.transaction(async (trx) => {
      const oldest = await trx
        .selectFrom('verifications')
        .select(['seq', 'account_id', 'credits', 'created_at'])
        .orderBy('seq')
        .limit(STEP)
        .execute();
      const old = oldest.filter((row) => row.created_at < before);
      if (old.length === 0) return 0;
      const credits = Map.groupBy(old, (row) => row.account_id);
      await engine.lockAccounts(trx, [...credits.keys()]);
      const gone = trx.deleteFrom('verifications').where(
        'seq',
        'in',
        old.map((row) => row.seq),
      );
      const purged = await gone.returning(['account_id', 'credits']).execute();
      for (const [account, rows] of Map.groupBy(purged, (row) => row.account_id)) {
        const sum = rows.reduce((total, row) => total + row.credits, 0);
        const update = trx.updateTable('accounts').set((eb) => ({ purged_credits: eb('purged_credits', '+', sum) }));
        await update.where('id', '=', account).execute();
      }
      return purged.length;
    });

  const forgetStep = async (now: number): Promise<number> => {
    const { numAffectedRows } = await sql`
      DELETE FROM idempotency WHERE (account_id, route, key) IN (
        SELECT account_id, route, key FROM idempotency WHERE expires_at <= ${now} LIMIT ${STEP}
      )`.execute(db);
    return Number(numAffectedRows ?? 0);
  };

  return {
    releaseDead() {
      // Looking twice at once would find nothing more, and each look keeps a connection.
      looking ??= releaseAll().finally(() => {
        looking = null;
      });
      return looking;
    },

    async purge(before) {
      const now = await engine.now();
      let total = 0;
      for (const step of [() => purgeStep(before), () => forgetStep(now)]) {
        for (let n = STEP; n === STEP; ) {
          n = await step();
          total += n;
          await breath();
        }
      }
      return total;
    },
  };
}
