/** What happens to users, in the log of each of their accounts. */
import type { Transaction } from 'kysely';
import { HOUR_MS } from '../../kernel/clock.ts';
import { USER_EVENTS_PER_HOUR } from '../../kernel/facts/limits.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { StorageDriver } from '../driver.ts';
import type { Actor, UserEvent } from '../store.ts';
import type { Tables } from '../tables.ts';
import { toRow } from './audit-rows.ts';

/** Half of a merge key names the user, the action and the hour, half the rest. */
const HALF = 32;
const halfOf = (...parts: readonly (string | number | null)[]): string =>
  sha256Hex(JSON.stringify(parts)).slice(0, HALF);

interface Known {
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

const actorOf = ({ by }: UserEvent, user: Known): Actor => {
  if (by.kind === 'self') return { kind: 'user', id: user.id, name: user.email, ip: by.ip };
  return 'name' in by ? by : { kind: 'anonymous', id: null, name: '', ip: by.ip };
};

/** Adds to the row of the same events of this hour, or inserts it. */
async function write(
  trx: Transaction<Tables>,
  account: string | null,
  now: number,
  user: Known,
  event: UserEvent,
): Promise<void> {
  const { action, detail = {}, count = 1 } = event;
  const by = actorOf(event, user);
  const group = halfOf(account, user.id, action, Math.floor(now / HOUR_MS));
  const again = async (key: string): Promise<boolean> => {
    const update = trx.updateTable('trail').set((eb) => ({ count: eb('count', '+', count), last_at: now }));
    return (await update.where('merge_key', '=', key).executeTakeFirst()).numUpdatedRows === 1n;
  };
  const same = group + halfOf(by.kind, by.id, by.ip, JSON.stringify(detail));
  if (await again(same)) return;
  const { n } = await trx
    .selectFrom('trail')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('merge_key', '>=', group.padEnd(2 * HALF, '0'))
    .where('merge_key', '<=', group.padEnd(2 * HALF, 'f'))
    .executeTakeFirstOrThrow();
  const isOneOfMany = n >= USER_EVENTS_PER_HOUR;
  const rest = group + halfOf('more');
  if (isOneOfMany && (await again(rest))) return;
  const shown = isOneOfMany ? { by: { ...by, ip: null }, detail: { more: true } } : { by, detail };
  const row = toRow(account, now, shown.by, { action, target: user.email, detail: shown.detail });
  await trx
    .insertInto('trail')
    .values({ ...row, count, last_at: now, merge_key: isOneOfMany ? rest : same })
    .execute();
}

/** In a transaction of the caller's, with the user's rows. */
export async function writeUserEvent(
  driver: StorageDriver,
  trx: Transaction<Tables>,
  now: number,
  user: Known,
  event: UserEvent,
): Promise<void> {
  // Two at once would both insert.
  await driver.advisoryLock(trx, `events of ${user.id}`);
  for (const account of await logsOf(trx, user.id)) await write(trx, account, now, user, event);
}

export function userEvents(driver: StorageDriver): (event: UserEvent) => Promise<void> {
  return async (event) => {
    const users = driver.db.selectFrom('auth_users').select(['id', 'email']);
    const named =
      'id' in event.user
        ? users.where('id', '=', event.user.id)
        : users.where('email', '=', event.user.email.toLowerCase());
    // Outside of the transaction, as most addresses that strangers try have no user.
    const user = await named.executeTakeFirst();
    if (user === undefined) return;
    const now = await driver.now();
    await driver.transaction((trx) => writeUserEvent(driver, trx, now, user, event));
  };
}
