import { newId } from '../kernel/ids.ts';
import { limitOf, windowOf } from './charge/window.ts';
import type { Engine } from './engine.ts';
import type { Account, AccountId, Accounts } from './store.ts';
import type { Row } from './tables.ts';
import { storable } from './text.ts';

const toAccount = (row: Row<'accounts'>): Account => ({
  id: row.id as AccountId,
  name: row.name,
  plan: row.plan,
  rateLimit: limitOf({ plan: row.plan, rateLimit: row.rate_limit }),
  rateLimitSet: row.rate_limit !== null,
  status: row.status,
  balance: row.balance,
  locked: row.locked,
  createdAt: row.created_at,
});

function whole(credits: number): number {
  if (!Number.isSafeInteger(credits)) throw new RangeError(`Credits are whole numbers, not ${credits}.`);
  return credits;
}

export function accounts(engine: Engine): Omit<Accounts, 'audit'> {
  const { db } = engine;
  const find = (id: string) => db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();

  return {
    async create({ name, plan, rateLimit, credits, note }) {
      if (whole(credits) < 0) throw new RangeError('An account cannot begin with fewer than 0 credits.');
      const now = await engine.now();
      const row = { id: newId('acc', now), name: storable(name), plan, rate_limit: rateLimit, created_at: now };
      return engine.transaction(async (trx) => {
        const account = await trx
          .insertInto('accounts')
          .values({ ...row, status: 'active', balance: credits })
          .returningAll()
          .executeTakeFirstOrThrow();
        if (credits > 0) {
          const grant = { account_id: row.id, kind: 'grant' as const, amount: credits, created_at: now };
          await trx
            .insertInto('ledger')
            .values({ ...grant, note: storable(note ?? 'Opening balance') })
            .execute();
        }
        return toAccount(account);
      });
    },

    async get(id) {
      const row = await find(id);
      return row === undefined ? null : toAccount(row);
    },

    async list() {
      return (await db.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('id').execute()).map(toAccount);
    },

    async count() {
      const { n } = await db
        .selectFrom('accounts')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow();
      return n;
    },

    async set(id, { name, plan, rateLimit, status }) {
      const change = {
        ...(name === undefined ? {} : { name: storable(name) }),
        ...(plan === undefined ? {} : { plan }),
        ...(rateLimit === undefined ? {} : { rate_limit: rateLimit }),
        ...(status === undefined ? {} : { status }),
      };
      if (Object.keys(change).length === 0) return this.get(id);
      const row = await db.updateTable('accounts').set(change).where('id', '=', id).returningAll().executeTakeFirst();
      return row === undefined ? null : toAccount(row);
    },

    async grant(id, credits, note) {
      whole(credits);
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const row = await trx
          .updateTable('accounts')
          .set((eb) => ({ balance: eb('balance', '+', credits) }))
          .where('id', '=', id)
          .where((eb) => eb(eb('balance', '+', credits), '>=', 0))
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return null;
        const grant = { account_id: id, kind: 'grant' as const, amount: credits, created_at: now };
        await trx
          .insertInto('ledger')
          .values({ ...grant, note: storable(note) })
          .execute();
        return toAccount(row);
      });
    },

    async ledger(id, limit) {
      const rows = await db
        .selectFrom('ledger')
        .selectAll()
        .where('account_id', '=', id)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        id: row.id,
        kind: row.kind,
        amount: row.amount,
        charged: row.charged,
        verificationId: row.verification_id,
        note: row.note,
        createdAt: row.created_at,
      }));
    },

    async window(id) {
      const row = await find(id);
      if (row === undefined) return null;
      const { plan, rate_limit: rateLimit, window_start: windowStart, window_count: windowCount } = row;
      return windowOf({ plan, rateLimit, windowStart, windowCount }, await engine.now());
    },
  };
}
