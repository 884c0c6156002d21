import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { LOG_SEARCH_ROWS } from '../../kernel/facts/limits.ts';
import type { StorageDriver } from '../driver.ts';
import type {
  AccountId,
  LoggedRejection,
  MoreRejectedRequests,
  RejectedRequest,
  RejectedRequests,
  RejectionSearch,
} from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { FROM_ORIGIN, negated } from './search.ts';

/** Rows in one statement; eleven values each. */
const REJECTED_CHUNK = 500;

type RejectedQuery = SelectQueryBuilder<Tables, 'rejected_requests', object>;

const toRejection = (row: Row<'rejected_requests'>): LoggedRejection => ({
  id: row.id,
  at: row.at,
  count: row.count,
  requestId: row.request_id,
  keyId: row.key_id,
  clientIp: row.client_ip,
  route: row.route,
  status: row.status,
  code: row.code,
  via: row.via,
  answer: row.answer,
});

const chunksOf = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / REJECTED_CHUNK) }, (_, i) =>
    rows.slice(i * REJECTED_CHUNK, (i + 1) * REJECTED_CHUNK),
  );

const byAccount = (a: MoreRejectedRequests, b: MoreRejectedRequests): number =>
  a.account < b.account || (a.account === b.account && a.at < b.at) ? -1 : 1;

async function addRejectedRequests(
  driver: StorageDriver,
  requests: readonly RejectedRequest[],
  more: readonly MoreRejectedRequests[],
): Promise<void> {
  const accounts = [...new Set([...requests, ...more].map((row) => row.account))];
  if (accounts.length === 0) return;
  await driver.transaction(async (trx) => {
    const ids = new Set<string>();
    for (const some of chunksOf(accounts)) {
      const there = trx.selectFrom('accounts').select('id').where('status', '<>', 'deleted').where('id', 'in', some);
      for (const { id } of await there.execute()) ids.add(id);
    }
    for (const some of chunksOf(requests.filter((row) => ids.has(row.account)))) {
      const rows = some.map((row) => ({
        account_id: row.account,
        at: row.at,
        count: 1,
        request_id: row.requestId,
        key_id: row.keyId,
        client_ip: row.clientIp,
        route: row.route,
        status: row.status,
        code: row.code,
        via: row.via,
        answer: row.answer ?? null,
      }));
      await trx.insertInto('rejected_requests').values(rows).execute();
    }
    // All nodes use one order, so that concurrent writers wait instead of deadlocking.
    const counted = more.filter((row) => ids.has(row.account)).sort(byAccount);
    for (const some of chunksOf(counted)) {
      const rows = some.map(({ account, at, count }) => ({ account_id: account, at, count }));
      await trx
        .insertInto('rejected_requests')
        .values(rows)
        .onConflict((oc) =>
          oc
            .columns(['account_id', 'at'])
            .where('request_id', 'is', null)
            .doUpdateSet((eb) => ({ count: eb('rejected_requests.count', '+', eb.ref('excluded.count')) })),
        )
        .execute();
    }
  });
}

function matchingRejected(query: RejectedQuery, search: RejectionSearch): RejectedQuery {
  const { requestId = null, keyId = null, origin = null, clientIp = null, code = null, not: without = [] } = search;
  let some = query;
  if (requestId !== null) some = some.where('request_id', '=', requestId);
  const where = (name: (typeof without)[number], condition: Expression<SqlBool>): void => {
    some = some.where(without.includes(name) ? negated(condition) : condition);
  };
  if (keyId !== null) where('key', sql<boolean>`key_id IN (${sql.join(keyId)})`);
  if (origin !== null)
    where(
      'origin',
      sql<boolean>`(${sql.join(
        origin.map((one) => FROM_ORIGIN[one]),
        sql` OR `,
      )})`,
    );
  if (clientIp !== null) some = some.where('client_ip', '=', clientIp);
  if (code !== null) some = some.where('code', '=', code);
  return some;
}

async function listRejectedRequests(
  { scans }: StorageDriver,
  account: AccountId,
  search: RejectionSearch,
): ReturnType<RejectedRequests['list']> {
  const { before, limit, requestId = null, from = null, to = null } = search;
  // SQLite prefers an index in the order asked for to the one of request IDs, which finds the few rows. An expression
  // has none.
  const at = requestId === null ? sql<number>`at` : sql<number>`(at + 0)`;
  const newestFirst = (query: RejectedQuery): RejectedQuery => query.orderBy(at, 'desc').orderBy('id', 'desc');
  let older: RejectedQuery = scans.selectFrom('rejected_requests').where('account_id', '=', account);
  if (from !== null) older = older.where(at, '>=', from);
  if (to !== null) older = older.where(at, '<', to);
  if (before !== null) older = older.where(sql<boolean>`(${at}, id) < (${before.at}, ${before.id})`);
  const edge =
    requestId === null
      ? await newestFirst(older)
          .select(['at', 'id'])
          .offset(LOG_SEARCH_ROWS - 1)
          .limit(1)
          .executeTakeFirst()
      : undefined;
  const reached = edge === undefined ? older : older.where(sql<boolean>`(at, id) >= (${edge.at}, ${edge.id})`);
  const rows = await newestFirst(matchingRejected(reached, search))
    .selectAll()
    .limit(limit + 1)
    .execute();
  const items = rows.slice(0, limit).map(toRejection);
  const last = items.at(-1);
  if (rows.length > limit && last !== undefined)
    return { items, next: { at: last.at, id: last.id }, searchedTo: last.at };
  if (edge !== undefined) return { items, next: edge, searchedTo: edge.at };
  return { items, next: null, searchedTo: null };
}

export const rejectedRequests = (driver: StorageDriver): RejectedRequests => ({
  add: (requests, more) => addRejectedRequests(driver, requests, more),
  list: (account, search) => listRejectedRequests(driver, account, search),
  async countByKey(account, from, to = Number.MAX_SAFE_INTEGER) {
    const all = driver.db.selectFrom('rejected_requests').where('account_id', '=', account);
    const mine = all.where('at', '>=', from).where('at', '<', to);
    const counted = mine
      .where('key_id', 'is not', null)
      .select((eb) => ['key_id as keyId', eb.fn.sum<number | string>('count').as('count')])
      .groupBy('key_id');
    return new Map((await counted.execute()).map(({ keyId, count }) => [keyId ?? '', Number(count)]));
  },
  async get(account, id) {
    const mine = driver.db.selectFrom('rejected_requests').selectAll().where('account_id', '=', account);
    const row = await mine.where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : toRejection(row);
  },
});
