/** A store with rows in every table, which no test of one feature would fill. */
import { CONTENTS, type Content } from '../../src/store/contents.ts';
import type { StoreLab } from '../lab/stores.ts';

/** Rows refer to these. */
const IDS: Readonly<Record<string, string>> = {
  account_id: 'acc_1',
  user_id: 'usr_1',
  userId: 'usr_1',
  list_id: 'lst_1',
  webhook_id: 'whk_1',
  key_id: 'key_1',
};
const OWN_ID: Readonly<Record<string, string>> = {
  accounts: 'acc_1',
  auth_users: 'usr_1',
  lists: 'lst_1',
  webhooks: 'whk_1',
  keys: 'key_1',
};
/** In closed sets, or read by the store. */
const VALUES: Readonly<Record<string, string | number | null>> = {
  'accounts.status': 'active',
  'accounts.plan': 'scale',
  'accounts.test_of': null,
  'accounts.operator_events': 0,
  'jobs.state': 'waiting',
  'webhook_deliveries.status': 'failed',
  'webhooks.enabled': 1,
  'webhooks.events': '["*"]',
  'lists.status': 'completed',
  'lists.file_bytes': 8,
  'filters.filter_type': 'email',
  'trail.action': 'filter.added',
  'verifications.hold_id': null,
  'list_chunks.pending': '[]',
  // Which the database counts from 1.
  'ledger.id': 7_000,
  'verifications.seq': 7_000,
  'trail.id': 7_000,
  'rejected_requests.id': 7_000,
};
/** In order of their references. */
const FIRST = ['accounts', 'auth_users', 'members', 'webhooks', 'lists', 'keys'];

type TextOf = (table: string, column: string, content: Content) => string;

/** What stands in a column that may hold an address. */
export const holding =
  (email: string): TextOf =>
  (table, column, content) => {
    if (table === 'lists' && column === 'layout')
      return JSON.stringify({ columns: ['email', `of ${email}`], addressColumn: 0, hasHeader: true });
    if (table === 'list_blocks') return JSON.stringify(column === 'rows' ? [[1, email, 'x']] : [email]);
    if (content === 'address') return email;
    if (content === 'json') return JSON.stringify({ email, text: `<${email}>: none` });
    return content === 'file' ? Buffer.from(email).toString('base64') : `about ${email}`;
  };

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** One row in each table. */
export async function fill(lab: Pick<StoreLab, 'sql' | 'engine'>, textOf: TextOf): Promise<void> {
  const tables = [...FIRST, ...Object.keys(CONTENTS).filter((table) => !FIRST.includes(table))];
  for (const table of tables) {
    const contents = CONTENTS[table as keyof typeof CONTENTS];
    const columns = [...contents.keys()].map((name) => `"${name}"`).join(', ');
    const values = [...contents].map(([name, content]) => sqlOf(table, name, content));
    const over = lab.engine === 'postgres' && columns.includes('"') ? 'OVERRIDING SYSTEM VALUE ' : '';
    await lab.sql(`DELETE FROM ${table}`);
    await lab.sql(`INSERT INTO ${table} (${columns}) ${over}VALUES (${values.join(', ')})`);
  }

  function sqlOf(table: string, name: string, content: Content): string {
    const fixed = VALUES[`${table}.${name}`];
    if (fixed !== undefined) return fixed === null ? 'NULL' : typeof fixed === 'number' ? `${fixed}` : quoted(fixed);
    if (content === 'number') return '1';
    if (content === 'time') return '1764201600000';
    if (content === 'flag') return lab.engine === 'postgres' ? 'true' : '1';
    if (content === 'moment') return quoted('2026-11-27T01:02:03.456Z');
    if (content === 'fact' || content === 'secret' || content === 'mailbox')
      return quoted((name === 'id' ? OWN_ID[table] : IDS[name]) ?? `${table}_${name}`);
    return quoted(textOf(table, name, content));
  }
}
