import { DAY_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { LIST_HOLD_DAYS } from '../../kernel/facts/lifetimes.ts';
import { LISTS_MAX } from '../../kernel/facts/limits.ts';
import { LIST_ACTION_STATUSES, type ListAction, type ListStatus } from '../../kernel/facts/lists.ts';
import { heldPrice, type Level, termsOf } from '../../kernel/facts/plans.ts';
import type { ListSort } from '../../kernel/facts/sort-orders.ts';
import { listResultId } from '../../kernel/ids.ts';
import { lockAccount } from '../account-rows.ts';
import { openSharedHold, type Scope } from '../charge/shared-hold.ts';
import type { StorageDriver } from '../driver.ts';
import { lowerCaseText } from '../filters.ts';
import { storeReply } from '../idempotency.ts';
import { writeAudit } from '../people/audit-log.ts';
import { countOf, storable } from '../rows.ts';
import type {
  AccountId,
  Actor,
  List,
  ListBlock,
  ListBreakdown,
  ListChange,
  ListResult,
  ListStart,
  Lists,
} from '../store.ts';
import { storageOf } from '../usage.ts';
import { toRows } from './blocks.ts';
import { deleteList, endList } from './end.ts';
import { files, removePieces } from './files.ts';
import { startPace } from './pace.ts';
import { removeList } from './remove.ts';
import {
  baseOf,
  type FoundList,
  findList,
  type ListRecord,
  layoutText,
  listLayoutOf,
  toList,
  visibleLists,
} from './row.ts';
import { work } from './work.ts';

export const lists = (driver: StorageDriver): Lists => ({
  ...upload(driver),
  ...files(driver),
  ...readMethods(driver),
  ...states(driver),
  ...work(driver),
  record: (account, id, outcomes) => driver.bulk.record(account, id, outcomes),
  remove: (account, id, signal) => removeList(driver, account, id, signal),
});

const LISTS_SORTED_BY = {
  created: 'lists.id',
  name: 'lists.name_folded',
  rows: 'lists.total',
  spent: 'lists.used',
} as const satisfies Record<ListSort, string>;

function readMethods(driver: StorageDriver): Pick<Lists, 'get' | 'list' | 'names' | 'deferred' | 'block'> {
  const { db, scans } = driver;
  return {
    async get(account, id) {
      const row = await findList(db, account, id);
      return row === undefined ? null : toList(driver, row, await driver.now());
    },

    async list(account, { status, query, sort, offset, limit }) {
      let wanted = visibleLists(scans, account);
      if (status !== null) wanted = wanted.where('lists.status', '=', status);
      if (query !== null && query !== '')
        wanted = wanted.where((eb) => driver.substringMatch(eb.ref('lists.name_folded'), lowerCaseText(query)));
      const { by, descending } = sort ?? { by: 'created', descending: true };
      const sorted = wanted.orderBy(LISTS_SORTED_BY[by], descending ? 'desc' : 'asc');
      const rows = await sorted.orderBy('lists.id', 'desc').offset(offset).limit(limit).execute();
      const now = await driver.now();
      return { items: rows.map((row) => toList(driver, row, now)), total: await countOf(wanted) };
    },

    async names(account, ids) {
      if (ids.length === 0) return new Map();
      const rows = await visibleLists(db, account).where('lists.id', 'in', ids).execute();
      return new Map(rows.map(({ id, name }) => [id, name]));
    },

    async deferred(account, id, limit) {
      const rows = await db
        .selectFrom('list_waiting')
        .innerJoin('lists', 'lists.id', 'list_waiting.list_id')
        .select(['list_waiting.email', 'attempts', 'first_at', 'due_at'])
        .where('list_waiting.account_id', '=', account)
        .where('list_id', '=', id)
        .where('due_at', 'is not', null)
        .where('first_at', 'is not', null)
        // Of a list that has ended, nothing is asked about again.
        .where('lists.status', 'in', ['running', 'paused'])
        .orderBy('due_at')
        .orderBy('address')
        .limit(limit)
        .execute();
      return rows.map(({ email, attempts, first_at: firstAt, due_at: retryAt }) => ({
        email,
        attempts,
        firstAt: firstAt ?? 0,
        retryAt: retryAt ?? 0,
      }));
    },

    async block(account, id, after, wanted = () => true) {
      const list = await findList(scans, account, id);
      if (list === undefined) return null;
      const mine = scans
        .selectFrom('list_blocks')
        .selectAll()
        .where('account_id', '=', account)
        .where('list_id', '=', id);
      const layout = listLayoutOf(list);
      const base = baseOf(list);
      const before = mine.where('first_row', '<=', base + after + 1).orderBy('first_row', 'desc');
      const row = await before.limit(1).executeTakeFirst();
      const firstRow = (row?.first_row ?? 0) - base;
      if (row === undefined || firstRow < 1 || firstRow + row.row_count <= after + 1) return null;
      const rows = toRows(row.rows, firstRow, layout);
      const numbers = rows.flatMap((row) => (wanted(row) ? row.addresses.map(({ number }) => number) : []));
      const addresses = [...new Set(numbers)];
      return { rows, firstAddress: row.first_address, ...(await resultsOf(driver, account, id, addresses)) };
    },
  };
}

async function resultsOf(
  driver: StorageDriver,
  account: AccountId,
  list: string,
  addresses: readonly number[],
): Promise<Pick<ListBlock, 'results' | 'asked'>> {
  const results = new Map<number, ListResult>();
  if (addresses.length === 0) return { results, asked: new Map() };
  const numbers = new Map(addresses.map((address) => [listResultId(list, address), address]));
  const { scans } = driver;
  const rows = await scans
    .selectFrom('verifications')
    .selectAll()
    // Not a parameter for each, which takes longer to compile than to run.
    .where(({ ref }) => driver.oneOf(ref('id'), [...numbers.keys()]))
    .where('account_id', '=', account)
    .execute();
  const waited = await scans
    .selectFrom('list_waiting')
    .select(['address', 'attempts'])
    .where('account_id', '=', account)
    .where('list_id', '=', list)
    .where('address', 'in', addresses)
    .execute();
  const asked = new Map(waited.map((row) => [row.address, row.attempts]));
  for (const row of rows) {
    const address = numbers.get(row.id);
    if (address === undefined) continue;
    const { id, email, status, deliverability, reason, credits, body } = row;
    const judged = { id, email, validationType: row.validation_type, status, deliverability, reason, credits, body };
    const times = { durationMs: row.duration_ms, createdAt: row.created_at };
    results.set(address, { ...judged, ...times, attempts: asked.get(address) ?? 1 });
  }
  return { results, asked };
}

type StateChange = Exclude<ListAction, 'start'>;

const AUDIT = {
  start: 'list.started',
  pause: 'list.paused',
  resume: 'list.resumed',
  cancel: 'list.cancelled',
  delete: 'list.deleted',
} as const satisfies Record<ListAction, string>;

const allowed = (action: ListAction, status: ListRecord['status']): boolean => {
  const statuses: readonly ListRecord['status'][] = LIST_ACTION_STATUSES[action];
  return statuses.includes(status);
};

function states(driver: StorageDriver): Pick<Lists, 'start' | 'setError' | 'change'> {
  /** Works with the account locked; undefined if there is no such list. */
  async function within<T>(
    account: AccountId,
    id: string,
    work: (scope: Scope, list: FoundList) => Promise<T>,
  ): Promise<T | undefined> {
    const now = await driver.now();
    return driver.transaction(async (trx) => {
      if ((await lockAccount(driver, trx, account)) === null) return undefined;
      const list = await findList(trx, account, id);
      return list && work({ driver, trx, now }, list);
    });
  }

  return {
    async start(account, id, by, level) {
      const outcome = await within<ListStart>(account, id, async (scope, row) => {
        if (!allowed('start', row.status)) return { outcome: 'list_state', list: toList(driver, row, scope.now) };
        return startList(scope, account, level === undefined ? row : await withLevel(scope, row, level), by);
      });
      if (outcome?.outcome === 'done') await removePieces(driver, account, id);
      return outcome ?? { outcome: 'not_found' };
    },

    async setError(account, id, error) {
      await within(account, id, async ({ trx }) => {
        const text = error === null ? null : JSON.stringify(error);
        await trx
          .updateTable('lists')
          .set({ error: text })
          .where('id', '=', id)
          .where('status', '=', 'ready')
          .execute();
      });
    },

    async change(account, id, action, by) {
      const outcome = await within<ListChange>(account, id, async (scope, row) => {
        if (!allowed(action, row.status)) return { outcome: 'list_state', list: toList(driver, row, scope.now) };
        const before = toList(driver, row, scope.now);
        await CHANGES[action](scope, account, row);
        await audit(scope, account, row, action, by);
        const after = await reread(scope, account, id);
        return { outcome: 'done', list: after ?? before };
      });
      // A deleted one is removed whole, by its job.
      if (outcome?.outcome === 'done' && action === 'cancel') await removePieces(driver, account, id);
      return outcome ?? { outcome: 'not_found' };
    },
  };
}

const audit = ({ trx, now }: Scope, account: AccountId, { id, name }: ListRecord, action: ListAction, by?: Actor) =>
  writeAudit(trx, account, now, by, { action: AUDIT[action], target: name, detail: { list: id } });

async function reread({ driver, trx, now }: Scope, account: AccountId, id: string): Promise<List | null> {
  const row = await findList(trx, account, id);
  return row === undefined ? null : toList(driver, row, now);
}

async function withLevel(scope: Scope, row: FoundList, level: Level): Promise<FoundList> {
  const { trx } = scope;
  const chosen = { validation_type: level, unit_price: await unitPrice(scope, row.account_id, level) };
  await trx.updateTable('lists').set(chosen).where('id', '=', row.id).execute();
  return { ...row, ...chosen };
}

/** What each address of a list can cost at most, by the account's plan. */
async function unitPrice(
  { driver, trx }: Pick<Scope, 'driver' | 'trx'>,
  account: string,
  level: Level,
): Promise<number> {
  const owner = trx.selectFrom('accounts').select(['plan', 'test_of']).where('id', '=', account);
  const row = await owner.executeTakeFirst();
  return row === undefined ? 0 : heldPrice(termsOf(driver.plans, row.plan), level, row.test_of !== null);
}

async function startList(scope: Scope, account: AccountId, row: FoundList, by: Actor | undefined): Promise<ListStart> {
  const { driver, trx, now } = scope;
  const { id, key_id: keyId } = row;
  if (row.addresses === 0) return { outcome: 'no_addresses', list: toList(driver, row, now) };
  const amount = row.addresses * row.unit_price;
  const hold = await openSharedHold(scope, { id, account, keyId, amount, lifeMs: LIST_HOLD_DAYS * DAY_MS });
  switch (hold.outcome) {
    case 'closed':
      throw new Error(`The hold of the list ${id} has ended, but the list has not begun.`);
    case 'account_inactive':
      return { outcome: hold.outcome, list: toList(driver, row, now) };
    case 'insufficient_credits':
      return { outcome: hold.outcome, list: toList(driver, row, now), needed: amount, available: hold.balance };
    case 'key_budget_spent': {
      const { outcome, budget, resetsAt } = hold;
      return { outcome, list: toList(driver, row, now), needed: amount, budget, resetsAt };
    }
    case 'held':
  }
  const pace = JSON.stringify(startPace(now, 0));
  const began = { started_at: now, changed_at: now, file_bytes: 0 };
  const started = { ...began, status: 'running', error: null, price: amount, pace } as const;
  await trx.updateTable('lists').set(started).where('id', '=', id).execute();
  await audit(scope, account, row, 'start', by);
  const list = await reread(scope, account, id);
  if (list === null) throw new Error(`The list ${id} was deleted while its account is locked.`);
  return { outcome: 'done', list };
}

type Change = (scope: Scope, account: AccountId, list: ListRecord) => Promise<void>;

const setStatus = async ({ trx, now }: Scope, id: string, status: ListStatus, pace: string | null): Promise<void> => {
  await trx.updateTable('lists').set({ status, pace, changed_at: now }).where('id', '=', id).execute();
};

const CHANGES: Readonly<Record<StateChange, Change>> = {
  pause: (scope, _account, { id }) => setStatus(scope, id, 'paused', null),
  resume: (scope, _account, { id, done }) =>
    setStatus(scope, id, 'running', JSON.stringify(startPace(scope.now, done))),
  cancel: (scope, account, { id }) => endList(scope, account, id, 'cancelled'),
  delete: (scope, account, { id }) => endList(scope, account, id, 'deleted'),
};

type UploadMethods = Pick<Lists, 'create' | 'append' | 'finish' | 'discard'>;

function upload(driver: StorageDriver): UploadMethods {
  return {
    async create({ id, account, keyId, clientIp, name, level, retryMinutes, layout, policy = null }) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await driver.lockAccounts(trx, [account]);
        const same = trx.selectFrom('lists').select('id').where('id', '=', id);
        if ((await same.executeTakeFirst()) !== undefined)
          throw new ApiError('list_state', `There is the list ${id} already.`);
        const { lists, listBytes } = await storageOf(trx, driver.plans, account);
        if (lists >= LISTS_MAX) throw new ApiError('too_many_lists');
        const { used, limit } = listBytes;
        if (used >= limit) throw new ApiError('list_storage_full', undefined, { limit });
        const unit_price = await unitPrice({ driver, trx }, account, level);
        const row = {
          id,
          account_id: account,
          key_id: keyId,
          client_ip: clientIp,
          status: 'uploading' as const,
          name: storable(name),
          name_folded: lowerCaseText(name),
          layout: layoutText(layout),
          validation_type: level,
          patience_minutes: retryMinutes,
          unit_price,
          policy: policy && JSON.stringify({ ...policy, messages: {} }),
          breakdown: JSON.stringify(noResults()),
          created_at: now,
          changed_at: now,
        };
        await trx.insertInto('lists').values(row).execute();
        return { bytes: limit - used, limit };
      });
    },

    append: (account, id, blocks) => driver.bulk.append(account, id, blocks),

    async finish(account, id, rows, { by, summary = null, stored = null } = {}) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, account)) === null) return null;
        const mine = trx.updateTable('lists').set({
          ...rows,
          status: 'ready' as const,
          changed_at: now,
          summary: summary && JSON.stringify(summary),
        });
        const open = mine.where('id', '=', id).where('account_id', '=', account).where('status', '=', 'uploading');
        const done = await open.returning('name').executeTakeFirst();
        if (done === undefined) return null;
        // Other uploads may have ended since it began; those that go on are looked at when they end.
        const { used, limit } = (await storageOf(trx, driver.plans, account, ['uploading', 'deleted'])).listBytes;
        if (used > limit) throw new ApiError('list_storage_full', undefined, { limit });
        const detail = { list: id, rows: rows.total, addresses: rows.addresses };
        await writeAudit(trx, account, now, by, { action: 'list.created', target: done.name, detail });
        const found = await findList(trx, account, id);
        if (found === undefined) return null;
        const list = toList(driver, found, now);
        await storeReply(driver, trx, account, now, stored, list);
        return list;
      });
    },

    discard: (account, id) => deleteList(driver, account, id, ['uploading']),
  };
}

const noResults = (): ListBreakdown => ({
  status: { good: 0, bad: 0 },
  deliverability: { deliverable: 0, undeliverable: 0, risky: 0, unknown: 0 },
  reason: {},
});
