import { DAY_MS } from '../../kernel/clock.ts';
import { LIST_HOLD_DAYS } from '../../kernel/facts/lifetimes.ts';
import { LIST_ACTION_STATUSES, type ListAction, type ListStatus } from '../../kernel/facts/lists.ts';
import { type Level, listPrice } from '../../kernel/facts/plans.ts';
import { lockAccount } from '../account-rows.ts';
import { openSharedHold, type Scope } from '../charge/shared-hold.ts';
import type { StorageDriver } from '../driver.ts';
import { writeAudit } from '../people/audit-log.ts';
import type { AccountId, Actor, List, ListChange, ListStart, Lists } from '../store.ts';
import { endList } from './end.ts';
import { removePieces } from './files.ts';
import { startPace } from './pace.ts';
import { type FoundList, findList, type ListRecord, toList } from './row.ts';

type Changes = Exclude<ListAction, 'start'>;

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

export function states(driver: StorageDriver): Pick<Lists, 'start' | 'setError' | 'change'> {
  /** With the account locked; undefined: no such list. */
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

async function withLevel({ trx }: Scope, row: FoundList, level: Level): Promise<FoundList> {
  const chosen = { validation_type: level, unit_price: listPrice(level, row.test_of !== null) };
  await trx.updateTable('lists').set(chosen).where('id', '=', row.id).execute();
  return { ...row, ...chosen };
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
  if (list === null) throw new Error(`The list ${id} is gone while its account is locked.`);
  return { outcome: 'done', list };
}

type Change = (scope: Scope, account: AccountId, list: ListRecord) => Promise<void>;

const setStatus = async ({ trx, now }: Scope, id: string, status: ListStatus, pace: string | null): Promise<void> => {
  await trx.updateTable('lists').set({ status, pace, changed_at: now }).where('id', '=', id).execute();
};

const CHANGES: Readonly<Record<Changes, Change>> = {
  pause: (scope, _account, { id }) => setStatus(scope, id, 'paused', null),
  resume: (scope, _account, { id, done }) =>
    setStatus(scope, id, 'running', JSON.stringify(startPace(scope.now, done))),
  cancel: (scope, account, { id }) => endList(scope, account, id, 'cancelled'),
  delete: (scope, account, { id }) => endList(scope, account, id, 'deleted'),
};
