import { sql, type Transaction } from 'kysely';
import { newId } from '../kernel/ids.ts';
import { changes, toAccount, whole } from './account-rows.ts';
import { windowOf } from './charge/window.ts';
import type { Engine } from './engine.ts';
import { lockAccount } from './lock.ts';
import { fellLow } from './low-balance.ts';
import { tell } from './people/trail.ts';
import { removeAccount } from './removal.ts';
import type { Accounts } from './store.ts';
import type { Tables } from './tables.ts';
import { storable } from './text.ts';

/** The grant's ledger row. */
async function addGrant(trx: Transaction<Tables>, account: string, amount: number, note: string, now: number) {
  const grant = { account_id: account, kind: 'grant' as const, amount, note: storable(note), created_at: now };
  await trx.insertInto('ledger').values(grant).execute();
}

export function accounts(engine: Engine): Omit<Accounts, 'audit'> {
  const { db } = engine;
  /** Those that were not deleted. */
  const known = () => db.selectFrom('accounts').where('status', '<>', 'deleted');
  const find = (id: string) => known().selectAll().where('id', '=', id).executeTakeFirst();

  return {
    async create({ name, plan, rateLimit, credits, note }, by) {
      if (whole(credits) < 0) throw new RangeError('An account cannot begin with fewer than 0 credits.');
      const now = await engine.now();
      const row = { id: newId('acc', now), name: storable(name), plan, rate_limit: rateLimit, created_at: now };
      return engine.transaction(async (trx) => {
        const account = await trx
          .insertInto('accounts')
          .values({ ...row, status: 'active', balance: credits })
          .returningAll()
          .executeTakeFirstOrThrow();
        if (credits > 0) await addGrant(trx, row.id, credits, note ?? 'Opening balance', now);
        const detail = { plan, rate_limit: rateLimit, credits };
        await tell(trx, row.id, now, by, { action: 'account.created', target: name, detail });
        return toAccount(account);
      });
    },

    async get(id) {
      const row = await find(id);
      return row === undefined ? null : toAccount(row);
    },

    async list() {
      return (await known().selectAll().orderBy('created_at').orderBy('id').execute()).map(toAccount);
    },

    async count() {
      const { n } = await known()
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow();
      return n;
    },

    async search({ query, offset, limit }) {
      let wanted = known();
      if (query !== null && query !== '') {
        const text = storable(query).toLowerCase();
        const within = (column: 'id' | 'name') => engine.contains(engine.folded(sql<string>`${sql.ref(column)}`), text);
        wanted = wanted.where((eb) => eb.or([within('id'), within('name')]));
      }
      const total = await wanted.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      const rows = await wanted
        .selectAll()
        .select((eb) => [
          eb
            .selectFrom('members')
            .whereRef('members.account_id', '=', 'accounts.id')
            .select((of) => of.fn.countAll<number>().as('n'))
            .as('members'),
          eb
            .selectFrom('keys')
            .whereRef('keys.account_id', '=', 'accounts.id')
            .select((of) => of.fn.countAll<number>().as('n'))
            .as('keys'),
        ])
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .offset(offset)
        .limit(limit)
        .execute();
      const items = rows.map((row) => ({ ...toAccount(row), members: row.members ?? 0, keys: row.keys ?? 0 }));
      return { items, total: total.n };
    },

    async set(id, change, by) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const before = await lockAccount(engine, trx, id);
        if (before === null) return null;
        const { values, deeds } = changes(before, change);
        if (Object.keys(values).length === 0) return toAccount(before);
        const update = trx.updateTable('accounts').set(values).where('id', '=', id);
        const after = await update.returningAll().executeTakeFirstOrThrow();
        for (const deed of deeds) await tell(trx, id, now, by, deed);
        return toAccount(after);
      });
    },

    async grant(id, credits, note, by) {
      whole(credits);
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const row = await trx
          .updateTable('accounts')
          .set((eb) => ({ balance: eb('balance', '+', credits) }))
          .where('id', '=', id)
          .where('status', '<>', 'deleted')
          .where((eb) => eb(eb('balance', '+', credits), '>=', 0))
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return null;
        await addGrant(trx, id, credits, note, now);
        await tell(trx, id, now, by, { action: 'credits.granted', target: row.name, detail: { credits, note } });
        return toAccount(row);
      });
    },

    async ledger(id, limit, before = null) {
      let mine = db.selectFrom('ledger').selectAll().where('account_id', '=', id);
      if (before !== null) mine = mine.where('id', '<', before);
      const rows = await mine.orderBy('id', 'desc').limit(limit).execute();
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

    remove: (id) => removeAccount(engine, id),
    fellLow: () => fellLow(engine),

    async window(id) {
      const row = await find(id);
      if (row === undefined) return null;
      const { plan, rate_limit: rateLimit, window_start: windowStart, window_count: windowCount } = row;
      return windowOf({ plan, rateLimit, windowStart, windowCount }, await engine.now());
    },
  };
}
