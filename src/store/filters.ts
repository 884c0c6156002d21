import type { Transaction } from 'kysely';
import { Refusal } from '../kernel/errors.ts';
import type { Engine } from './engine.ts';
import { fold, insertAll, type NewFilter, toFilter, toRow } from './filter-rows.ts';
import { tell } from './people/trail.ts';
import type { AccountId, FilterAdded, Filters, FilterType } from './store.ts';
import type { Tables } from './tables.ts';

const COUNTER = { email: 'filter_emails', domain: 'filter_domains', ip_address: 'filter_ips' } as const;
/**
 * The account's counters are part of the transaction, so the next admission knows what to look for. It comes last: the
 * account's lock is what charging waits for. Throws Refusal when the account was deleted.
 */
async function count(trx: Transaction<Tables>, account: AccountId, type: FilterType, by: number): Promise<void> {
  const column = COUNTER[type];
  if (by === 0) return;
  const update = trx.updateTable('accounts').set((eb) => ({ [column]: eb(column, '+', by) }));
  const there = update.where('id', '=', account).where('status', '<>', 'deleted');
  const { numUpdatedRows } = await there.executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new Refusal('not_found', 'There is no such account.');
}

export function filters(engine: Engine): Filters {
  const { db } = engine;

  /** The filter as it was added, or the id of the one that was there; null when that one went away meanwhile. */
  const insert = async (trx: Transaction<Tables>, row: NewFilter): Promise<FilterAdded | null> => {
    const insertion = trx.insertInto('filters').values(row);
    const added = await insertion
      .onConflict((oc) => oc.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (added !== undefined) return { added: true, filter: toFilter(added) };
    const found = await trx
      .selectFrom('filters')
      .select('id')
      .where('account_id', '=', row.account_id)
      .where('filter_type', '=', row.filter_type)
      .where('value', '=', row.value)
      .executeTakeFirst();
    return found === undefined ? null : { added: false, existingId: found.id };
  };

  return {
    async add(account, input, by) {
      const now = await engine.now();
      const row = toRow(account, input, now);
      for (;;) {
        const outcome = await engine.transaction(async (trx) => {
          const tried = await insert(trx, row);
          if (tried?.added !== true) return tried;
          await count(trx, account, row.filter_type, 1);
          const { id, filterType, value, reason } = tried.filter;
          const detail = { filter: id, filter_type: filterType, reason };
          await tell(trx, account, now, by, { action: 'filter.added', target: value, detail });
          return tried;
        });
        if (outcome !== null) return outcome;
      }
    },

    async addMany(account, inputs, by) {
      const now = await engine.now();
      const rows = inputs.map((input) => toRow(account, input, now));
      return engine.transaction(async (trx) => {
        await engine.inTurn(trx, `filters of ${account}`);
        const { outcomes, added } = await insertAll(trx, account, rows);
        for (const [type, some] of Map.groupBy(added, (filter) => filter.filterType)) {
          await count(trx, account, type, some.length);
        }
        if (added.length > 0) {
          const detail = { added: added.length, given: inputs.length };
          await tell(trx, account, now, by, { action: 'filters.imported', target: `${added.length} filters`, detail });
        }
        return outcomes;
      });
    },

    async from(account, after, limit) {
      const mine = db.selectFrom('filters').selectAll().where('account_id', '=', account).where('id', '>', after);
      return (await mine.orderBy('id').limit(limit).execute()).map(toFilter);
    },

    async list(account, { filterType, query, offset, limit }) {
      let wanted = db.selectFrom('filters').where('account_id', '=', account);
      if (filterType !== null) wanted = wanted.where('filter_type', '=', filterType);
      if (query !== null && query !== '') {
        const text = fold(query);
        wanted = wanted.where((eb) => {
          const { value, reason } = { value: eb.ref('value'), reason: eb.ref('reason_folded') };
          return eb.or([engine.contains(value, text), engine.contains(reason, text)]);
        });
      }
      const total = await wanted.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      const rows = await wanted.selectAll().orderBy('id', 'desc').offset(offset).limit(limit).execute();
      return { items: rows.map(toFilter), total: total.n };
    },

    async remove(account, id, by) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const mine = trx.deleteFrom('filters').where('account_id', '=', account).where('id', '=', id);
        const removed = await mine.returning(['filter_type', 'value', 'reason']).executeTakeFirst();
        if (removed === undefined) return false;
        await count(trx, account, removed.filter_type, -1);
        const detail = { filter: id, filter_type: removed.filter_type, reason: removed.reason };
        await tell(trx, account, now, by, { action: 'filter.removed', target: removed.value, detail });
        return true;
      });
    },
  };
}
