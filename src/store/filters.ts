import type { ExpressionWrapper, Transaction } from 'kysely';
import type { Engine } from './engine.ts';
import type { AccountId, Filter, Filters, FilterType } from './store.ts';
import type { Row, Tables } from './tables.ts';
import { storable, storableOrNull } from './text.ts';

type Input = Parameters<Filters['add']>[1];

const COUNTER = { email: 'filter_emails', domain: 'filter_domains', ip_address: 'filter_ips' } as const;
/** Rows in one statement of `addMany`; six values each, and an engine takes at most 32,766. */
const CHUNK = 1_000;

const toFilter = (row: Row<'filters'>): Filter => ({
  id: row.id,
  filterType: row.filter_type,
  value: row.value,
  reason: row.reason,
  createdAt: row.created_at,
});

const fold = (text: string): string => storable(text).toLowerCase();

const toRow = (account: AccountId, { filterType, value, reason }: Input, now: number) => ({
  account_id: account,
  filter_type: filterType,
  value: storable(value),
  reason: storableOrNull(reason),
  reason_folded: fold(reason ?? ''),
  created_at: now,
});

/** The account's counters are part of the transaction, so the next admission knows what to look for. */
async function count(trx: Transaction<Tables>, account: AccountId, type: FilterType, by: number): Promise<void> {
  const column = COUNTER[type];
  if (by === 0) return;
  const update = trx.updateTable('accounts').set((eb) => ({ [column]: eb(column, '+', by) }));
  await update.where('id', '=', account).execute();
}

export function filters(engine: Engine): Filters {
  const { db } = engine;
  const existing = (account: AccountId, type: FilterType, value: string) =>
    db
      .selectFrom('filters')
      .select('id')
      .where('account_id', '=', account)
      .where('filter_type', '=', type)
      .where('value', '=', value)
      .executeTakeFirst();

  const insert = (account: AccountId, row: ReturnType<typeof toRow>): Promise<Row<'filters'> | undefined> =>
    engine.transaction(async (trx) => {
      const added = await trx
        .insertInto('filters')
        .values(row)
        .onConflict((oc) => oc.doNothing())
        .returningAll()
        .executeTakeFirst();
      if (added !== undefined) await count(trx, account, row.filter_type, 1);
      return added;
    });

  return {
    async add(account, input) {
      const row = toRow(account, input, await engine.now());
      for (;;) {
        const added = await insert(account, row);
        if (added !== undefined) return { added: true, filter: toFilter(added) };
        const found = await existing(account, row.filter_type, row.value);
        // Removed between the two statements: then it can be added.
        if (found !== undefined) return { added: false, existingId: found.id };
      }
    },

    async addMany(account, inputs) {
      const now = await engine.now();
      return engine.transaction(async (trx) => {
        const added: Record<FilterType, number> = { email: 0, domain: 0, ip_address: 0 };
        for (let at = 0; at < inputs.length; at += CHUNK) {
          const rows = inputs.slice(at, at + CHUNK).map((input) => toRow(account, input, now));
          const insertion = trx.insertInto('filters').values(rows);
          const fresh = await insertion
            .onConflict((oc) => oc.doNothing())
            .returning('filter_type')
            .execute();
          for (const { filter_type } of fresh) added[filter_type] += 1;
        }
        for (const type of Object.keys(added) as FilterType[]) await count(trx, account, type, added[type]);
        return added.email + added.domain + added.ip_address;
      });
    },

    async list(account, { filterType, query, offset, limit }) {
      let wanted = db.selectFrom('filters').where('account_id', '=', account);
      if (filterType !== null) wanted = wanted.where('filter_type', '=', filterType);
      if (query !== null && query !== '') {
        const text = fold(query);
        wanted = wanted.where((eb) => {
          const ref = (column: 'value' | 'reason_folded') =>
            eb.ref(column) as ExpressionWrapper<Tables, 'filters', string>;
          return eb.or([engine.contains(ref('value'), text), engine.contains(ref('reason_folded'), text)]);
        });
      }
      const total = await wanted.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      const rows = await wanted.selectAll().orderBy('id', 'desc').offset(offset).limit(limit).execute();
      return { items: rows.map(toFilter), total: total.n };
    },

    remove: (account, id) =>
      engine.transaction(async (trx) => {
        const mine = trx.deleteFrom('filters').where('account_id', '=', account).where('id', '=', id);
        const removed = await mine.returning('filter_type').executeTakeFirst();
        if (removed !== undefined) await count(trx, account, removed.filter_type, -1);
        return removed !== undefined;
      }),
  };
}
