import type { Transaction } from 'kysely';
import { type AuditAction, SERVICE_ACTIONS, USER_ACTIONS } from '../../kernel/audit-actions.ts';
import { HOUR_MS } from '../../kernel/clock.ts';
import { USER_EVENTS_PER_HOUR } from '../../kernel/facts/limits.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { StorageDriver } from '../driver.ts';
import { countOf, storable } from '../rows.ts';
import type { Actor, AuditEntry, Store, UserEvent } from '../store.ts';
import type { Row, Tables } from '../tables.ts';

// Entries of the audit log are rows.

export interface AuditEvent {
  readonly action: AuditAction;
  readonly target: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export const toAuditRow = (
  account: string | null,
  at: number,
  by: Actor,
  { action, target, detail = {} }: AuditEvent,
) => ({
  account_id: account,
  at,
  actor_kind: by.kind,
  actor_id: by.id,
  actor_name: storable(by.name),
  ip: by.ip,
  action,
  target: storable(target),
  detail: JSON.stringify(detail),
});

const toEntry = (row: Row<'trail'> & { account_name: string | null }): AuditEntry => ({
  id: row.id,
  account: row.account_id,
  accountName: row.account_name,
  at: row.at,
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, ip: row.ip },
  action: row.action,
  target: row.target,
  detail: JSON.parse(row.detail),
  count: row.count,
  lastAt: row.last_at ?? row.at,
});

/** What differs, as the detail of an event: `{"name": {"from": "a", "to": "b"}}`; null: nothing. */
export function changesBetween(before: object, after: object): Record<string, { from: unknown; to: unknown }> | null {
  const [from, to] = [new Map<string, unknown>(Object.entries(before)), new Map(Object.entries(after))];
  const changes = [...new Set([...from.keys(), ...to.keys()])].flatMap((name) => {
    const change = { from: from.get(name) ?? null, to: to.get(name) ?? null };
    return JSON.stringify(change.from) === JSON.stringify(change.to) ? [] : [[name, change] as const];
  });
  return changes.length === 0 ? null : Object.fromEntries(changes);
}

/** Writes the audit log in the transaction of the change. Without an actor it writes nothing. Returns the row's id. */
export async function writeAudit(
  trx: Transaction<Tables>,
  account: string | null,
  at: number,
  by: Actor | undefined,
  event: AuditEvent,
): Promise<number | null> {
  if (by === undefined) return null;
  const row = trx.insertInto('trail').values(toAuditRow(account, at, by, event));
  const { id } = await row.returning('id').executeTakeFirstOrThrow();
  return id;
}

/** What operators see of all accounts together. */
const OF_NO_ACCOUNT = [...USER_ACTIONS, ...SERVICE_ACTIONS];

export function auditLog(driver: StorageDriver): Store['auditLog'] {
  return {
    recordUserEvent: userEvents(driver),

    async list(of, { before, limit, about = null }) {
      let rows = driver.scans
        .selectFrom('trail')
        .leftJoin('accounts', 'accounts.id', 'trail.account_id')
        .selectAll('trail')
        .select('accounts.name as account_name');
      if (of !== 'all') rows = rows.where('account_id', '=', of);
      if (before !== null) rows = rows.where('trail.id', '<', before);
      if (about !== null) rows = rows.where('action', about === 'user' ? 'in' : 'not in', OF_NO_ACCOUNT);
      return (await rows.orderBy('trail.id', 'desc').limit(limit).execute()).map(toEntry);
    },
  };
}

// What happens to users, in the log of each of their accounts.

const HALF_KEY = 32;
/** Half of a merge key names the user, the action and the hour, half the rest. */
const halfOf = (...parts: readonly (string | number | null)[]): string =>
  sha256Hex(JSON.stringify(parts)).slice(0, HALF_KEY);

interface KnownUser {
  readonly id: string;
  readonly email: string;
}

/** Accounts of the user, in the order in which charging locks them. Null: the operators' own log. */
async function logsOf(trx: Transaction<Tables>, user: string): Promise<(string | null)[]> {
  const rows = await trx
    .selectFrom('members as m')
    .innerJoin('accounts as a', 'a.id', 'm.account_id')
    .select('a.id')
    .where('m.user_id', '=', user)
    .where('a.status', '<>', 'deleted')
    .orderBy('a.id')
    .execute();
  return rows.length === 0 ? [null] : rows.map(({ id }) => id);
}

const eventActor = ({ by }: UserEvent, user: KnownUser): Actor => {
  if (by.kind === 'self') return { kind: 'user', id: user.id, name: user.email, ip: by.ip };
  return 'name' in by ? by : { kind: 'anonymous', id: null, name: '', ip: by.ip };
};

/** Adds to the row of the same events of this hour, or inserts it. */
async function writeEvent(
  trx: Transaction<Tables>,
  account: string | null,
  now: number,
  user: KnownUser,
  event: UserEvent,
): Promise<void> {
  const { action, detail = {}, count = 1 } = event;
  const by = eventActor(event, user);
  const group = halfOf(account, user.id, action, Math.floor(now / HOUR_MS));
  const again = async (key: string): Promise<boolean> => {
    const update = trx.updateTable('trail').set((eb) => ({ count: eb('count', '+', count), last_at: now }));
    return (await update.where('merge_key', '=', key).executeTakeFirst()).numUpdatedRows === 1n;
  };
  const same = group + halfOf(by.kind, by.id, by.ip, JSON.stringify(detail));
  if (await again(same)) return;
  const others = trx.selectFrom('trail').where('merge_key', '>=', group.padEnd(2 * HALF_KEY, '0'));
  const n = await countOf(others.where('merge_key', '<=', group.padEnd(2 * HALF_KEY, 'f')));
  const isOneOfMany = n >= USER_EVENTS_PER_HOUR;
  const rest = group + halfOf('more');
  if (isOneOfMany && (await again(rest))) return;
  const shown = isOneOfMany ? { by: { ...by, ip: null }, detail: { more: true } } : { by, detail };
  const row = toAuditRow(account, now, shown.by, { action, target: user.email, detail: shown.detail });
  await trx
    .insertInto('trail')
    .values({ ...row, count, last_at: now, merge_key: isOneOfMany ? rest : same })
    .execute();
}

/** Writes in a transaction of the caller's, with the user's rows. */
export async function writeUserEvent(
  driver: StorageDriver,
  trx: Transaction<Tables>,
  now: number,
  user: KnownUser,
  event: UserEvent,
): Promise<void> {
  // Two at once would both insert.
  await driver.advisoryLock(trx, `events of ${user.id}`);
  for (const account of await logsOf(trx, user.id)) await writeEvent(trx, account, now, user, event);
}

async function knownOf(driver: StorageDriver, { user }: UserEvent): Promise<KnownUser | null> {
  // Users that are not linked share one ID, so that together they are as few entries as one user.
  if ('unlinkedEmail' in user) return { id: '', email: storable(user.unlinkedEmail) };
  const users = driver.db.selectFrom('auth_users').select(['id', 'email']);
  const named = 'id' in user ? users.where('id', '=', user.id) : users.where('email', '=', user.email.toLowerCase());
  return (await named.executeTakeFirst()) ?? null;
}

function userEvents(driver: StorageDriver): (event: UserEvent) => Promise<void> {
  return async (event) => {
    // This is done outside of the transaction, as most addresses that are tried without an account have no user.
    const user = await knownOf(driver, event);
    if (user === null) return;
    const now = await driver.now();
    await driver.transaction((trx) => writeUserEvent(driver, trx, now, user, event));
  };
}
