/** People for the store's tests, as the sign-in library would make them. */
import type { Kysely } from 'kysely';
import { toIso } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { AccountId, Actor, Store } from '../../src/store/store.ts';
import type { Tables } from '../../src/store/tables.ts';

const BORN = Date.UTC(2026, 10, 1);

const tables = (store: Store): Kysely<Tables> => store.authDatabase.db as Kysely<Tables>;

/** A user's id. */
export async function person(store: Store, email: string, more: { operator?: 0 | 1 } = {}): Promise<string> {
  const { operator = 0 } = more;
  const id = newId('usr', BORN);
  const at = toIso(BORN);
  const times = { createdAt: at, updatedAt: at };
  await tables(store)
    .insertInto('auth_users')
    .values({ id, name: email.split('@')[0]!, email, emailVerified: 1, twoFactorEnabled: null, operator, ...times })
    .execute();
  return id;
}

export const BY: Actor = { kind: 'user', id: 'usr_1', name: 'jane@example.com', ip: '192.0.2.7' };
export const COMMAND: Actor = { kind: 'command', id: null, name: 'mailvet', ip: null };

/** Members and their roles. */
export const roles = async (store: Store, account: AccountId): Promise<string[]> =>
  (await store.members.list(account)).map((one) => `${one.email} ${one.role}`).sort();

/** The audit log, latest first. */
export const actions = async (store: Store, account: AccountId): Promise<string[]> =>
  (await store.auditLog.list(account, { before: null, limit: 100 })).map((row) => `${row.action} ${row.target}`);
