/** What an account holds about a person, for an export, and how that ends. The tables are those of OWNED_TABLES. */

import { type QueryResult, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { toIso } from '../kernel/clock.ts';
import { keysOf } from '../kernel/facts/keys-of.ts';
import { lockExistingAccount } from './account-rows.ts';
import { BATCH_ROWS, EXPORT_ROWS, yieldToEventLoop } from './batches.ts';
import { hashedMailbox } from './charge/seen.ts';
import { CONTENTS, type Content, mentioningColumns } from './contents.ts';
import type { StorageDriver, TableSchema } from './driver.ts';
import { removeFilter } from './filters.ts';
import { eraseFromLists, listRowsOf } from './lists/erase.ts';
import { eraseFromLog, verificationsOf } from './log/verifications.ts';
import { eraseOutcomes } from './outcomes.ts';
import { OWNED_TABLES, type OwnedTable } from './owned-tables.ts';
import { writeAudit } from './people/audit-log.ts';
import { isMentioned, type Mentions, mayMention, mentionsOf } from './person.ts';
import { forgetMailbox } from './seen.ts';
import type { AccountId, Actor, Erased, HeldRows, Person, Store } from './store.ts';
import type { Tables } from './tables.ts';

type AnyRow = Readonly<Record<string, unknown>>;

/** A table that is searched by the texts in it. */
interface Searched {
  readonly table: OwnedTable;
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

type HeldTable = HeldRows & { readonly table: OwnedTable };

const OWNED = keysOf(OWNED_TABLES);

type HashedTable = {
  [T in OwnedTable]: (typeof OWNED_TABLES)[T]['erasure'] extends 'hashes' ? T : never;
}[OwnedTable];
const HASHED = OWNED.filter((table): table is HashedTable => OWNED_TABLES[table].erasure === 'hashes');

/** Who has acted, and what happens to users of the dashboard, stays readable as long as the audit log is kept. */
const OF_USERS = /^(member|invitation|user)\./;
const isKeptRow = (table: OwnedTable, row: AnyRow): boolean => table === 'trail' && OF_USERS.test(String(row.action));
const KEPT_COLUMNS: { readonly [T in OwnedTable]?: readonly (keyof Tables[T] & string)[] } = { trail: ['actor_name'] };

/** The columns in which the hash takes the place of the address. */
function replacedColumns({ table, columns }: Searched): readonly string[] {
  const kept: readonly string[] = KEPT_COLUMNS[table] ?? [];
  return columns.filter((column) => !kept.includes(column));
}

const keyColumns = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

const isBehind = (key: readonly string[], row: AnyRow) =>
  sql<SqlBool>`(${keyColumns(key)}) > (${sql.join(key.map((column) => row[column]))})`;

/** Rows that mention the person, by key. */
async function* mentioningRows(
  driver: StorageDriver,
  account: AccountId,
  mentions: Mentions,
  { table, key, columns }: Searched,
): AsyncGenerator<readonly AnyRow[]> {
  for (let last: AnyRow | null = null, full = true; full; ) {
    const after: RawBuilder<SqlBool> = last === null ? sql`true` : isBehind(key, last);
    const page = sql<AnyRow>`SELECT * FROM ${sql.table(table)} WHERE account_id = ${account} AND ${after}
      AND ${mayMention(driver, mentions, columns)} ORDER BY ${keyColumns(key)} LIMIT ${EXPORT_ROWS}`;
    const { rows }: QueryResult<AnyRow> = await page.execute(driver.scans);
    const found = rows.filter((row) => isMentioned(mentions, table, row, columns));
    if (found.length > 0) yield found;
    await yieldToEventLoop();
    last = rows.at(-1) ?? null;
    full = rows.length === EXPORT_ROWS;
  }
}

/** Tables that have a text of somebody in them, but for those with code of their own. */
function searchedTables(schema: readonly TableSchema[]): Searched[] {
  return schema.flatMap(({ table, key }) => {
    const owned = OWNED.find((one) => one === table);
    if (owned === undefined || OWNED_TABLES[owned].erasure === 'its own') return [];
    const columns = mentioningColumns(owned);
    return columns.length === 0 ? [] : [{ table: owned, key, columns }];
  });
}

const storedSecret = async ({ db }: StorageDriver, account: AccountId) =>
  db.selectFrom('seen_secrets').select('secret').where('account_id', '=', account).executeTakeFirst();

/** Yields rows about the mailbox, which they name by a hash. */
async function* hashedRows(driver: StorageDriver, account: AccountId, { mailbox }: Person): AsyncGenerator<HeldTable> {
  const owner = await storedSecret(driver, account);
  if (owner === undefined || mailbox === null) return;
  for (const table of HASHED) {
    const mine = driver.scans.selectFrom(table).selectAll().where('account_id', '=', account);
    yield { table, rows: await mine.where('mailbox', '=', hashedMailbox(owner, mailbox)).execute() };
  }
}

async function membersOf({ db }: StorageDriver, account: AccountId, mentions: Mentions): Promise<HeldTable> {
  const rows = await db
    .selectFrom('members as m')
    .innerJoin('auth_users as u', 'u.id', 'm.user_id')
    .select(['u.email', 'u.name', 'm.role', 'm.created_at'])
    .where('m.account_id', '=', account)
    .execute();
  return { table: 'members', rows: rows.filter(({ email, name }) => mentions.is(email) || mentions.in(name)) };
}

/** See `Privacy.held`. */
async function* held(driver: StorageDriver, account: AccountId, person: Person): AsyncGenerator<HeldTable> {
  const mentions = await mentionsOf(driver, person);
  for await (const rows of verificationsOf(driver, account, mentions)) yield { table: 'verifications', rows };
  const lists = new Set<string>();
  for await (const rows of listRowsOf(driver, account, mentions)) {
    for (const row of rows) lists.add(row.list_id);
    yield { table: 'list_blocks', rows };
  }
  yield { table: 'list_waiting', rows: await waitingOf(driver, account, mentions) };
  const kept = driver.db.selectFrom('lists').select(['id as list_id', 'name', 'file_bytes']);
  const files = await kept.where('account_id', '=', account).where('file_bytes', '>', 0).execute();
  yield { table: 'list_files', rows: files.filter(({ list_id }) => lists.has(list_id)) };
  yield* hashedRows(driver, account, person);
  for (const searched of searchedTables(await driver.schema())) {
    const { table } = searched;
    for await (const rows of mentioningRows(driver, account, mentions, searched)) yield { table, rows };
  }
  yield await membersOf(driver, account, mentions);
}

async function waitingOf(driver: StorageDriver, account: AccountId, mentions: Mentions) {
  const mine = driver.scans.selectFrom('list_waiting').selectAll().where('account_id', '=', account);
  const rows = await mine.where(mayMention(driver, mentions, mentioningColumns('list_waiting'))).execute();
  return rows.filter((row) => isMentioned(mentions, 'list_waiting', row));
}

// Erasing

/** Deletes the row, or puts the hash in place of the address; how many there still were. The account is locked. */
async function eraseRow(
  trx: Transaction<Tables>,
  mentions: Mentions,
  searched: Searched,
  found: AnyRow,
): Promise<number> {
  const { table, key } = searched;
  const it = sql.join(
    key.map((column) => sql`${sql.ref(column)} = ${found[column]}`),
    sql` AND `,
  );
  if (OWNED_TABLES[table].erasure === 'rows') {
    const { numAffectedRows } = await sql`DELETE FROM ${sql.table(table)} WHERE ${it}`.execute(trx);
    return Number(numAffectedRows ?? 0);
  }
  // Read again, as it may have changed meanwhile.
  const { rows } = await sql<AnyRow>`SELECT * FROM ${sql.table(table)} WHERE ${it}`.execute(trx);
  for (const row of rows) {
    const texts = replacedColumns(searched).filter((column) => typeof row[column] === 'string');
    const values = texts.map((column) => {
      const text = String(row[column]);
      const isJson = CONTENTS[table].get(column) === 'json';
      return sql`${sql.ref(column)} = ${isJson ? mentions.withoutJson(text) : mentions.without(text)}`;
    });
    await sql`UPDATE ${sql.table(table)} SET ${sql.join(values)} WHERE ${it}`.execute(trx);
  }
  return rows.length;
}

/** Counts what it does in `counts`. */
async function eraseFromTable(
  driver: StorageDriver,
  account: AccountId,
  mentions: Mentions,
  searched: Searched,
  counts: ErasureCounts,
): Promise<void> {
  const { table } = searched;
  const { erasure } = OWNED_TABLES[table];
  const texts = replacedColumns(searched);
  const others = searched.columns.filter((column) => !texts.includes(column));
  const ends = erasure === 'rows' || erasure === 'mentions' || erasure === 'hashes';
  const mentioned = (row: AnyRow, columns: readonly string[]) => isMentioned(mentions, table, row, columns);
  for await (const rows of mentioningRows(driver, account, mentions, searched)) {
    const open = ends ? rows.filter((row) => !isKeptRow(table, row) && mentioned(row, texts)) : [];
    counts.kept.add(table, rows.filter((row) => !open.includes(row) || mentioned(row, others)).length);
    for (let at = 0; at < open.length; at += BATCH_ROWS) {
      const some = open.slice(at, at + BATCH_ROWS);
      const erased = await driver.transaction(async (trx) => {
        await driver.lockAccounts(trx, [account]);
        let rows = 0;
        for (const row of some) rows += await eraseRow(trx, mentions, searched, row);
        return rows;
      });
      counts.erased.add(table, erased);
    }
  }
}

class ErasureCounts {
  readonly erased = new RowCounter();
  readonly kept = new RowCounter();
}

/** Rows by table, without those that have none. */
class RowCounter {
  readonly #rows = new Map<OwnedTable, number>();
  add(table: OwnedTable, rows: number): void {
    if (rows > 0) this.#rows.set(table, (this.#rows.get(table) ?? 0) + rows);
  }
  get sum(): number {
    return [...this.#rows.values()].reduce((sum, rows) => sum + rows, 0);
  }
  get byTable(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#rows);
  }
}

async function eraseFilters(
  driver: StorageDriver,
  account: AccountId,
  mentions: Mentions,
  by: Actor,
  counts: ErasureCounts,
) {
  const searched: Searched = { table: 'filters', key: ['account_id', 'id'], columns: mentioningColumns('filters') };
  for await (const rows of mentioningRows(driver, account, mentions, searched))
    for (const row of rows)
      if (await removeFilter(driver, account, Number(row.id), by)) counts.erased.add('filters', 1);
}

/** See `Privacy.erase`. The audit log entry has no address. It is there before anything is deleted. */
async function erase(
  driver: StorageDriver,
  account: AccountId,
  person: Person,
  by: Actor,
  { filters }: { readonly filters: boolean },
): Promise<Erased> {
  const mentions = await mentionsOf(driver, person);
  const counts = new ErasureCounts();
  const now = await driver.now();
  const entry = await driver.transaction(async (trx) => {
    await lockExistingAccount(driver, trx, account);
    const { mailbox } = person;
    if (mailbox !== null) {
      counts.erased.add('seen', await forgetMailbox(trx, account, mailbox, null));
      const deleted = await eraseOutcomes(driver, trx, account, mailbox);
      counts.erased.add('outcomes', deleted.outcomes);
      counts.erased.add('outcome_verdicts', deleted.verdicts);
    }
    return writeAudit(trx, account, now, by, { action: 'log.erased', target: mentions.hash, detail: { erased: 0 } });
  });
  // First, so that no list records a result of the address after the log was erased.
  const lists = await eraseFromLists(driver, account, mentions);
  counts.erased.add('list_files', lists.files);
  counts.erased.add('list_blocks', lists.rows);
  counts.erased.add('list_waiting', lists.waiting);
  counts.erased.add('verifications', await eraseFromLog(driver, account, mentions));
  // This comes before the audit log, which names the filters that are removed.
  if (filters) await eraseFilters(driver, account, mentions, by, counts);
  for (const searched of searchedTables(await driver.schema()))
    await eraseFromTable(driver, account, mentions, searched, counts);
  counts.kept.add('members', (await membersOf(driver, account, mentions)).rows.length);
  const detail = JSON.stringify({ erased: counts.erased.sum });
  if (entry !== null) await driver.db.updateTable('trail').set({ detail }).where('id', '=', entry).execute();
  await driver.truncateLog();
  return { total: counts.erased.sum, erased: counts.erased.byTable, kept: counts.kept.byTable };
}

export const privacy = (driver: StorageDriver): Store['privacy'] => ({
  async *held(account, person, by) {
    const now = await driver.now();
    const { hash: target } = await mentionsOf(driver, person);
    await driver.transaction(async (trx) => {
      await lockExistingAccount(driver, trx, account);
      await writeAudit(trx, account, now, by, { action: 'privacy.exported', target });
    });
    for await (const { table, rows } of held(driver, account, person))
      if (rows.length > 0) yield { table, rows: rows.map((row) => shownRow(table, row)) };
  },
  erase: (account, person, by, how) => erase(driver, account, person, by, how),
});

/** Leaves out what is shown to nobody, and the account itself. */
function shownRow(table: OwnedTable, row: AnyRow): AnyRow {
  const contents = CONTENTS[table];
  const open = Object.entries(row).filter(([name]) => name !== 'account_id' && contents.get(name) !== 'secret');
  return Object.fromEntries(open.map(([name, value]) => [name, shownValue(contents.get(name), value)]));
}

function shownValue(content: Content | undefined, value: unknown): unknown {
  if (content === 'time') return typeof value === 'number' ? toIso(value) : value;
  if (content !== 'json' || typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    // A reply that was stored for a repeated request need not be JSON.
    return value;
  }
}
