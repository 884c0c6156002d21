import type { Insertable, Transaction } from 'kysely';
import { toIso, toIsoOrNull } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import type { KeyEventData } from '../kernel/facts/events.ts';
import { given } from '../kernel/facts/given.ts';
import { KEYS_MAX } from '../kernel/facts/limits.ts';
import { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope } from '../kernel/facts/scopes.ts';
import { KEY_PREFIXES, newId } from '../kernel/ids.ts';
import { lockAccount, lockExistingAccount } from './account-rows.ts';
import { countersOf } from './charge/budget.ts';
import type { StorageDriver } from './driver.ts';
import { storeReply } from './idempotency.ts';
import { changesBetween, writeAudit } from './people/audit-log.ts';
import { accountId, countOf, storable } from './rows.ts';
import type { AccountId, Key, KeyLimits, Keys } from './store.ts';
import type { Row, Tables } from './tables.ts';
import { emitEvent } from './webhooks.ts';

// An API key as a row, and what a change does to it.

const scopesOf = (text: string | null): KeyScope[] => {
  if (text === null) return DEFAULT_SCOPES;
  const named = text.split(' ');
  return KEY_SCOPES.filter((scope) => named.includes(scope));
};

/** `test_of` is that of its account. */
type KeyRow = Row<'keys'> & Pick<Row<'accounts'>, 'test_of'>;

const toKey = (row: KeyRow): Key => ({
  id: row.id,
  accountId: accountId(row.account_id),
  testOf: row.test_of === null ? null : accountId(row.test_of),
  name: row.name,
  lastFour: row.last_four,
  allowIps: JSON.parse(row.allow_ips),
  scopes: scopesOf(row.scopes),
  budget: storedBudget(row),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
  lastUsedIp: row.last_used_ip,
});

const storedBudget = ({ budget, budget_month: month, budget_spent: spent, budget_held: held }: Row<'keys'>) =>
  budget === null ? null : { credits: budget, month, spent, held };

/** Events contain this of a key. */
const keyEvent = (row: KeyRow): KeyEventData => ({
  id: row.id,
  name: row.name,
  key: `${KEY_PREFIXES[row.test_of === null ? 'live' : 'test']}…${row.last_four}`,
  allow_ips: JSON.parse(row.allow_ips),
  scopes: scopesOf(row.scopes),
  monthly_credits: row.budget,
  created_at: toIso(row.created_at),
  expires_at: toIsoOrNull(row.expires_at),
  revoked_at: toIsoOrNull(row.revoked_at),
});

/** The columns of the limits that are given. */
const limitColumns = ({ expiresAt, scopes, budget }: KeyLimits) =>
  given({ expires_at: expiresAt, scopes: scopes && storedScopes(scopes), budget });

function storedScopes(scopes: readonly KeyScope[]): string | null {
  const named = KEY_SCOPES.filter((scope) => scopes.includes(scope));
  if (named.length === 0) throw new RangeError('A key needs a scope.');
  return named.join() === DEFAULT_SCOPES.join() ? null : named.join(' ');
}

/** Throws ApiError for an expiry that is over; one that the key has already stays. */
function refusePastExpiry({ expiresAt }: KeyLimits, before: number | null, now: number): void {
  if (typeof expiresAt !== 'number' || expiresAt === before || expiresAt > now) return;
  throw new ApiError('invalid_parameter', 'expires_at must be in the future.', { field: 'expires_at' });
}

/** The audit log shows what limits a new key. */
const limitDetail = ({ expires_at, scopes, budget }: Row<'keys'>): Record<string, unknown> => ({
  ...(expires_at === null ? {} : { expires_at }),
  ...(scopes === null ? {} : { scopes: scopesOf(scopes) }),
  ...(budget === null ? {} : { monthly_credits: budget }),
});

/** What the audit log says of a change, where they differ. */
const loggedFields = ({ name, allow_ips, expires_at, scopes, budget }: Row<'keys'>) => ({
  name,
  allow_ips: JSON.parse(allow_ips),
  expires_at,
  scopes: scopesOf(scopes),
  monthly_credits: budget,
});

export function keys(driver: StorageDriver): Keys {
  const { db } = driver;
  /** Keys of accounts that are not deleted. */
  const notDeleted = (from: Pick<typeof db, 'selectFrom'> = db) =>
    from
      .selectFrom('keys')
      .selectAll('keys')
      .innerJoin('accounts', 'accounts.id', 'keys.account_id')
      .select('accounts.test_of')
      .where('accounts.status', '<>', 'deleted');
  const mine = async (trx: Transaction<Tables>, account: AccountId, id: string) => {
    await lockAccount(driver, trx, account);
    return notDeleted(trx).where('keys.account_id', '=', account).where('keys.id', '=', id).executeTakeFirst();
  };
  /** Under the lock of its account. Throws ApiError `too_many_keys`. */
  const insert = async (trx: Transaction<Tables>, row: Insertable<Tables['keys']>) => {
    const others = trx
      .selectFrom('keys')
      .where('account_id', '=', row.account_id)
      .where((eb) => eb.or([eb('revoked_at', 'is', null), eb('revoked_at', '>', row.created_at)]));
    if ((await countOf(others)) >= KEYS_MAX) throw new ApiError('too_many_keys');
    return trx.insertInto('keys').values(row).returningAll().executeTakeFirstOrThrow();
  };
  const set = (trx: Transaction<Tables>, id: string, change: Partial<Row<'keys'>>) =>
    trx.updateTable('keys').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

  return {
    async create(account, { name, hash, lastFour, allowIps, ...limits }, by, stored = null) {
      const now = await driver.now();
      refusePastExpiry(limits, null, now);
      return driver.transaction(async (trx) => {
        const { test_of } = await lockExistingAccount(driver, trx, account);
        const inserted = await insert(trx, {
          id: newId('key', now),
          account_id: account,
          name: storable(name),
          hash,
          last_four: lastFour,
          allow_ips: JSON.stringify(allowIps),
          created_at: now,
          expires_at: null,
          scopes: null,
          budget: null,
          ...limitColumns(limits),
        });
        const row = { ...inserted, test_of };
        const detail = { key: row.id, last_four: lastFour, allow_ips: allowIps, ...limitDetail(row) };
        await writeAudit(trx, account, now, by, { action: 'key.created', target: name, detail });
        await emitEvent({ driver, trx, now }, account, 'key.created', keyEvent(row));
        const made = toKey(row);
        if (stored !== null) await storeReply(driver, trx, stored.owner, now, stored, made);
        return made;
      });
    },

    async list(account, { withTest = false } = {}) {
      let query = notDeleted().orderBy('keys.created_at').orderBy('keys.id');
      if (account !== null && withTest)
        query = query.where((eb) => eb.or([eb('keys.account_id', '=', account), eb('accounts.test_of', '=', account)]));
      else if (account !== null) {
        const now = await driver.now();
        const ended = db
          .selectFrom('keys as ended')
          .where('ended.account_id', '=', account)
          .where('ended.revoked_at', '<=', now)
          .orderBy('ended.created_at', 'desc')
          .limit(KEYS_MAX)
          .select('ended.id');
        query = query
          .where('keys.account_id', '=', account)
          .where((eb) =>
            eb.or([eb('keys.revoked_at', 'is', null), eb('keys.revoked_at', '>', now), eb('keys.id', 'in', ended)]),
          );
      }
      return (await query.execute()).map(toKey);
    },

    async get(id) {
      const row = await notDeleted().where('keys.id', '=', id).executeTakeFirst();
      return row === undefined ? null : toKey(row);
    },

    async update(account, id, { name, allowIps, ...limits }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined) return null;
        refusePastExpiry(limits, before.expires_at, now);
        const isNewBudget = before.budget === null && typeof limits.budget === 'number';
        const after = await set(trx, id, {
          ...limitColumns(limits),
          ...(isNewBudget ? await countersOf(trx, account, id, now) : {}),
          name: name === undefined ? before.name : storable(name),
          allow_ips: allowIps === undefined ? before.allow_ips : JSON.stringify(allowIps),
        });
        const changes = changesBetween(loggedFields(before), loggedFields(after));
        const detail = { key: id, ...changes };
        if (changes !== null)
          await writeAudit(trx, account, now, by, { action: 'key.changed', target: before.name, detail });
        return toKey({ ...after, test_of: before.test_of });
      });
    },

    async revoke(id, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const found = await notDeleted(trx).where('keys.id', '=', id).executeTakeFirst();
        const before = found && (await mine(trx, accountId(found.account_id), id));
        if (before === undefined) return null;
        // A rolled key in its grace period ends now, so it is revoked.
        if (before.revoked_at !== null && before.revoked_at <= now) return toKey(before);
        const after = { ...(await set(trx, id, { revoked_at: now })), test_of: before.test_of };
        const target = before.name;
        await writeAudit(trx, before.account_id, now, by, { action: 'key.revoked', target, detail: { key: id } });
        await emitEvent({ driver, trx, now }, before.account_id, 'key.revoked', keyEvent(after));
        return toKey(after);
      });
    },

    async roll(account, id, { hash, lastFour, graceMs }, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const before = await mine(trx, account, id);
        if (before === undefined || before.revoked_at !== null) return null;
        const { test_of, name, allow_ips, expires_at, scopes, budget, budget_month, budget_spent } = before;
        const settings = { name, allow_ips, expires_at, scopes, budget, budget_month, budget_spent };
        const own = { id: newId('key', now), hash, last_four: lastFour, created_at: now };
        const old = { ...(await set(trx, id, { revoked_at: now + graceMs })), test_of };
        const fresh = { ...(await insert(trx, { ...own, ...settings, account_id: account })), test_of };
        const detail = { key: id, fresh: fresh.id, grace_seconds: Math.round(graceMs / 1000) };
        await writeAudit(trx, account, now, by, { action: 'key.rolled', target: name, detail });
        await emitEvent({ driver, trx, now }, account, 'key.created', keyEvent(fresh));
        await emitEvent({ driver, trx, now }, account, 'key.revoked', keyEvent(old));
        return { fresh: toKey(fresh), old: toKey(old) };
      });
    },
  };
}
