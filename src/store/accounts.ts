import {
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  sql,
  type Transaction,
  type Updateable,
} from 'kysely';
import type { AuditAction } from '../kernel/audit-actions.ts';
import { DAY_MS } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { SPENT_DAYS } from '../kernel/facts/limits.ts';
import { termsOf } from '../kernel/facts/plans.ts';
import type { AccountSort } from '../kernel/facts/sort-orders.ts';
import { newId } from '../kernel/ids.ts';
import { removeAccount } from './account-removal.ts';
import { addGrant, creditState, lockAccount, lockExistingAccount, toAccount, wholeCredits } from './account-rows.ts';
import { type Renewal, renewalOf, withdrawalOf } from './charge/allowance.ts';
import { giveAllowance, type Scope } from './charge/shared-hold.ts';
import { windowOf } from './charge/window.ts';
import type { StorageDriver } from './driver.ts';
import { storeReply } from './idempotency.ts';
import { fundsOf, ledgerPage } from './ledger.ts';
import { claimLowBalanceAlerts } from './low-balance.ts';
import { type AuditEvent, writeAudit } from './people/audit-log.ts';
import { insertInvitation, insertMember } from './people/members.ts';
import { countOf, storable } from './rows.ts';
import type { Account, AccountChange, AccountInput, AccountSummary, Actor, ExternalGrant, Store } from './store.ts';
import type { AccountsTable, Row, Tables } from './tables.ts';
import { testAccount } from './test-account.ts';
import { accountEvent, emitOperatorEvent } from './webhooks.ts';

async function insertAccount(
  driver: StorageDriver,
  trx: Transaction<Tables>,
  { name, plan, rateLimit, credits, note, externalId = null }: AccountInput,
  now: number,
  by: Actor | undefined,
): Promise<Account> {
  if (wholeCredits(credits) < 0) throw new RangeError('An account cannot begin with fewer than 0 credits.');
  const row = { id: newId('acc', now), name: storable(name), plan, rate_limit: rateLimit, created_at: now };
  if (externalId !== null) await refuseTaken(trx, externalId);
  const account = await trx
    .insertInto('accounts')
    .values({
      ...row,
      status: 'active',
      balance: credits,
      external_id: externalId,
      // Who begins without credits has spent none.
      exhausted_told_at: credits === 0 ? now : null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  if (credits > 0) await addGrant(trx, row.id, credits, note ?? 'Opening balance', now);
  const named = externalId === null ? {} : { external_id: externalId };
  const detail = { plan, rate_limit: rateLimit, credits, ...named };
  await writeAudit(trx, row.id, now, by, { action: 'account.created', target: name, detail });
  const data = { account: accountEvent(account), plan, credits };
  await emitOperatorEvent({ driver, trx, now }, row.id, 'account.created', data);
  return toAccount(driver, account);
}

/** Throws ApiError `external_id_taken`. */
async function refuseTaken(trx: Transaction<Tables>, externalId: string): Promise<void> {
  const other = trx.selectFrom('accounts').select('id').where('external_id', '=', externalId);
  const taken = await other.executeTakeFirst();
  if (taken === undefined) return;
  throw new ApiError('external_id_taken', undefined, { field: 'external_id', account: taken.id });
}

/** `now` is in ms. */
const summaries = <O>(accounts: SelectQueryBuilder<Tables, 'accounts', O>, now: number) =>
  accounts.selectAll().select((eb) => {
    const rowsOf = (table: 'members' | 'keys') =>
      eb
        .selectFrom(table)
        .whereRef(`${table}.account_id`, '=', 'accounts.id')
        .select((of) => of.fn.countAll<number>().as('n'));
    const used = eb.selectFrom('usage_hours').whereRef('usage_hours.account_id', '=', 'accounts.id');
    return [
      rowsOf('members').as('members'),
      rowsOf('keys').as('keys'),
      used
        .where('hour', '>=', now - SPENT_DAYS * DAY_MS)
        .select(sql<number>`CAST(coalesce(sum(credits), 0) AS BIGINT)`.as('spent'))
        .as('spent'),
      used.select((of) => of.fn.max('hour').as('hour')).as('used_at'),
    ];
  });

type SummaryRow = Selectable<Tables['accounts']> & Record<'members' | 'keys' | 'spent' | 'used_at', number | null>;

const toSummary = (driver: StorageDriver, row: SummaryRow): AccountSummary => ({
  ...toAccount(driver, row),
  members: row.members ?? 0,
  keys: row.keys ?? 0,
  spent: row.spent ?? 0,
  usedAt: row.used_at,
});

/** An account that was never used comes after all that were. */
const ACCOUNTS_SORTED_BY: Readonly<Record<AccountSort, RawBuilder<unknown>>> = {
  created: sql`created_at`,
  name: sql`lower(name)`,
  balance: sql`balance`,
  spent: sql`spent`,
  used: sql`coalesce(used_at, 0)`,
};

const toGrant = (row: Omit<Row<'external_grants'>, 'grantee'>): ExternalGrant => ({
  externalId: row.external_id,
  credits: row.credits,
  note: row.note,
  createdAt: row.created_at,
});

/** The grant that has the id already. Throws ApiError `grant_conflict` if it is not the one that is asked for. */
async function earlierGrant(trx: Transaction<Tables>, asked: Row<'external_grants'>): Promise<ExternalGrant> {
  const row = await trx
    .selectFrom('external_grants')
    .selectAll()
    .where('external_id', '=', asked.external_id)
    .executeTakeFirstOrThrow();
  if (row.grantee === asked.grantee && row.credits === asked.credits) return toGrant(row);
  throw new ApiError('grant_conflict', undefined, { field: 'external_id' });
}

/** Changes the balance of a locked account. Throws ApiError `balance_too_small`, `not_found` for a test account. */
async function addCredits(
  scope: Scope,
  before: Row<'accounts'>,
  credits: number,
  note: string,
  by: Actor,
): Promise<Row<'accounts'>> {
  if (before.test_of !== null) throw new ApiError('not_found', 'There is no such account.');
  const row = await changeBalance(scope, before, credits);
  if (row === null) throw new ApiError('balance_too_small', undefined, { field: 'credits' });
  await recordGrant(scope, row, credits, note, by);
  return row;
}

/** Null where it would fall below zero. The account is locked. */
async function changeBalance(scope: Scope, before: Row<'accounts'>, credits: number): Promise<Row<'accounts'> | null> {
  // What is taken back is taken from what can be spent.
  const renewal =
    credits < 0 ? renewalOf(creditState(before), termsOf(scope.driver.plans, before.plan), scope.now) : null;
  if (renewal !== null && before.balance + renewal.amount + credits < 0) return null;
  const { id, balance, locked, allowance } = await withAllowance(scope, before, renewal);
  if (balance + credits < 0) return null;
  const update = scope.trx.updateTable('accounts').set((eb) => ({
    balance: eb('balance', '+', credits),
    allowance: Math.min(allowance, balance + locked + credits),
  }));
  return update.where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/** Records what the plan gives or takes back, for a locked account. */
async function withAllowance(scope: Scope, before: Row<'accounts'>, renewal: Renewal | null): Promise<Row<'accounts'>> {
  if (renewal === null) return before;
  await giveAllowance(scope, creditState(before), renewal);
  const after = scope.trx.selectFrom('accounts').selectAll().where('id', '=', before.id);
  return after.executeTakeFirstOrThrow();
}

/** What is said of a grant, beside the balance: ledger, audit log, event. `row`: the account after it. */
async function recordGrant(scope: Scope, row: Row<'accounts'>, credits: number, note: string, by: Actor | undefined) {
  const { trx, now } = scope;
  await addGrant(trx, row.id, credits, note, now);
  await writeAudit(trx, row.id, now, by, { action: 'credits.granted', target: row.name, detail: { credits, note } });
  const data = { account: accountEvent(row), credits, note: storable(note), balance: row.balance };
  await emitOperatorEvent(scope, row.id, 'credits.granted', data);
}

export function accounts(driver: StorageDriver): Omit<Store['accounts'], 'audit'> {
  const { db } = driver;
  const notDeleted = () => db.selectFrom('accounts').where('status', '<>', 'deleted');
  const live = () => notDeleted().where('test_of', 'is', null);
  const find = (id: string) => notDeleted().selectAll().where('id', '=', id).executeTakeFirst();

  return {
    async create(input, by, { invitation = null, stored = null } = {}) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        // Two at once with the same id would both find it free.
        if (typeof input.externalId === 'string') await driver.advisoryLock(trx, `account ${input.externalId}`);
        const account = await insertAccount(driver, trx, input, now, by);
        if (invitation !== null && by !== undefined) await insertInvitation(driver, trx, account, invitation, now, by);
        if (stored !== null) await storeReply(driver, trx, stored.owner, now, stored, account);
        return account;
      });
    },

    async createFor(owner, input, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await driver.lockUsers(trx, [owner]);
        const membership = trx.selectFrom('members').select('account_id').where('user_id', '=', owner).limit(1);
        if ((await membership.executeTakeFirst()) !== undefined) return null;
        const account = await insertAccount(driver, trx, input, now, by);
        await insertMember(trx, { account: account.id, user: owner, role: 'owner' }, now, by);
        return account;
      });
    },

    async get(id) {
      const row = await find(id);
      return row === undefined ? null : toAccount(driver, row);
    },

    testAccount: (account) => testAccount(driver, account),

    async list() {
      return (await live().selectAll().orderBy('created_at').orderBy('id').execute()).map((row) =>
        toAccount(driver, row),
      );
    },

    count: () => countOf(live()),

    byPlan() {
      const plans = live().groupBy('plan').orderBy('plan');
      return plans.select((eb) => ['plan', eb.fn.countAll<number>().as('accounts')] as const).execute();
    },

    async search({ query, sort = { by: 'created', descending: true }, offset, limit }) {
      let wanted = live();
      if (query !== null && query !== '') {
        const text = storable(query).toLowerCase();
        const within = (column: 'id' | 'name' | 'external_id') =>
          driver.substringMatch(driver.lowerCase(sql<string>`${sql.ref(column)}`), text);
        wanted = wanted.where((eb) => eb.or([within('id'), within('name'), within('external_id')]));
      }
      const total = await countOf(wanted);
      // An outer query: PostgreSQL does not sort by expressions of what is computed in the same one.
      const found = db.selectFrom(summaries(wanted, await driver.now()).as('found')).selectAll();
      const sorted = found.orderBy(ACCOUNTS_SORTED_BY[sort.by], sort.descending ? 'desc' : 'asc').orderBy('id', 'desc');
      const items = (await sorted.offset(offset).limit(limit).execute()).map((row) => toSummary(driver, row));
      return { items, total };
    },

    async summary(id) {
      const row = await summaries(live().where('id', '=', id), await driver.now()).executeTakeFirst();
      return row === undefined ? null : toSummary(driver, row);
    },

    async set(id, change, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await lockAccount(driver, trx, id);
        if (before === null || before.test_of !== null) return null;
        const { values, events } = changesTo(before, change);
        if (Object.keys(values).length === 0) return toAccount(driver, before);
        if (values.plan !== undefined) {
          const terms = termsOf(driver.plans, values.plan);
          await withAllowance({ driver, trx, now }, before, withdrawalOf(creditState(before), terms, now));
        }
        const update = trx.updateTable('accounts').set(values).where('id', '=', id);
        const after = await update.returningAll().executeTakeFirstOrThrow();
        for (const event of events) await writeAudit(trx, id, now, by, event);
        return toAccount(driver, after);
      });
    },

    async grant(id, credits, note, by) {
      wholeCredits(credits);
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const scope = { driver, trx, now };
        const before = await lockAccount(driver, trx, id);
        const row = before?.test_of === null ? await changeBalance(scope, before, credits) : null;
        if (row === null) return null;
        await recordGrant(scope, row, credits, note, by);
        return toAccount(driver, row);
      });
    },

    async grantOnce(id, { externalId, credits, note }, by, stored = null) {
      wholeCredits(credits);
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await lockExistingAccount(driver, trx, id);
        const grant = { external_id: externalId, grantee: id, credits, note: storable(note), created_at: now };
        const insert = trx
          .insertInto('external_grants')
          .values(grant)
          .onConflict((oc) => oc.doNothing());
        const { numInsertedOrUpdatedRows } = await insert.executeTakeFirstOrThrow();
        const outcome =
          numInsertedOrUpdatedRows === 1n
            ? {
                grant: toGrant(grant),
                account: toAccount(driver, await addCredits({ driver, trx, now }, before, credits, note, by)),
                repeated: false,
              }
            : { grant: await earlierGrant(trx, grant), account: toAccount(driver, before), repeated: true };
        if (stored !== null) await storeReply(driver, trx, stored.owner, now, stored, outcome);
        return outcome;
      });
    },

    ledger: (id, limit, before = null) => ledgerPage(driver, id, limit, before),
    funds: (id, since) => fundsOf(driver, id, since),
    remove: (id, by) => removeAccount(driver, id, by),
    claimLowBalanceAlerts: (signal) => claimLowBalanceAlerts(driver, signal),

    async window(id) {
      const row = await find(id);
      if (row === undefined) return null;
      const { rate_limit: rateLimit, window_start: windowStart, window_count: windowCount } = row;
      const terms = termsOf(driver.plans, row.plan);
      return windowOf({ rateLimit, windowStart, windowCount }, terms, await driver.now());
    },
  };
}

/** Columns to write and events to log; unchanged values are omitted. */
function changesTo(
  before: Row<'accounts'>,
  {
    name,
    plan,
    rateLimit,
    status,
    retentionDays,
    trustBouncesDays,
    lowBalance,
    secondFactorRequired,
    operatorEvents,
  }: AccountChange,
): { values: Updateable<AccountsTable>; events: AuditEvent[] } {
  const values: Updateable<AccountsTable> = {};
  const events: AuditEvent[] = [];
  const put = <
    C extends 'name' | 'plan' | 'rate_limit' | 'status' | 'retention_days' | 'trust_bounces_days' | 'low_balance',
  >(
    column: C,
    to: Row<'accounts'>[C] | undefined,
    action: AuditAction,
  ): void => {
    const from = before[column];
    if (to === undefined || to === from) return;
    Object.assign(values, { [column]: to });
    events.push({ action, target: before.name, detail: { from, to } });
  };
  put('name', name === undefined ? undefined : storable(name), 'account.renamed');
  put('plan', plan, 'account.plan_set');
  put('rate_limit', rateLimit, 'account.rate_limit_set');
  put('status', status, status === 'suspended' ? 'account.suspended' : 'account.resumed');
  put('retention_days', retentionDays, 'account.retention_set');
  put('trust_bounces_days', trustBouncesDays, 'account.trust_bounces_set');
  put('low_balance', lowBalance, 'account.low_balance_set');
  const required = secondFactorRequired === undefined ? before.second_factor_required : Number(secondFactorRequired);
  if (required !== before.second_factor_required) {
    values.second_factor_required = required;
    const action = required === 1 ? 'account.second_factor_required' : 'account.second_factor_optional';
    events.push({ action, target: before.name, detail: {} });
  }
  if (operatorEvents !== undefined && Number(operatorEvents) !== before.operator_events) {
    values.operator_events = Number(operatorEvents);
    const action = operatorEvents ? 'account.operator_events_on' : 'account.operator_events_off';
    events.push({ action, target: before.name, detail: {} });
  }
  // A new threshold can alert again.
  if (values.low_balance !== undefined) values.low_balance_told_at = null;
  return { values, events };
}
