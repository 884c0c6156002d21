/** Erases a person from the log; the sums of the account still agree. */

import { type Kysely, type NotNull, type SqlBool, sql, type Transaction } from 'kysely';
import { NAME_LENGTH } from '../../kernel/facts/limits.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import { lockExistingAccount } from '../account-rows.ts';
import { BATCH_ROWS, yieldToEventLoop } from '../batches.ts';
import { REPLY_LIFE } from '../charge/apply-batch.ts';
import type { StorageDriver, TransactionDriver } from '../driver.ts';
import { eraseFromLists } from '../lists/erase.ts';
import { eraseOutcomes } from '../outcomes.ts';
import { writeAudit } from '../people/audit-log.ts';
import { storable } from '../rows.ts';
import { forgetMailbox } from '../seen.ts';
import type { AccountId, Actor, Verifications } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import {
  AFTER_LAST_SEQ,
  FIRST_SEQ,
  INDEXED_ADDRESS,
  recentRows,
  search,
  seqsByAddress,
  toVerification,
} from './search.ts';

/** JSON as it is stored has no spaces: the text of a name ends with the first quote that is not escaped. */
function operatorIn(text: string): string | null {
  const name = /^"provider":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return name === undefined ? null : JSON.parse(name);
}

type Deleted = Pick<Row<'verifications'>, 'account_id' | 'hold_id' | 'credits'>;

/**
 * Keeps the credits of deleted verifications in a sum, so that the audit's sums still agree. The accounts are locked.
 */
async function addPurged(trx: Transaction<Tables>, deleted: readonly Deleted[]): Promise<void> {
  await addTo(trx, 'accounts', sums(deleted, 'account_id'));
  await addTo(trx, 'shared_holds', sums(deleted, 'hold_id'));
}

function sums(deleted: readonly Deleted[], by: 'account_id' | 'hold_id'): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { [by]: id, credits } of deleted) if (id !== null) found.set(id, (found.get(id) ?? 0) + credits);
  return found;
}

/** In one statement, however many rows: charges wait for the transaction. */
async function addTo(
  trx: Transaction<Tables>,
  table: 'accounts' | 'shared_holds',
  credits: ReadonlyMap<string, number>,
): Promise<void> {
  if (credits.size === 0) return;
  const rows = Array.from(credits, ([id, sum]) => sql`(CAST(${id} AS TEXT), CAST(${sum} AS BIGINT))`);
  await sql`UPDATE ${sql.table(table)} SET purged_credits = purged_credits + gone.column2
    FROM (VALUES ${sql.join(rows)}) AS gone WHERE id = gone.column1`.execute(trx);
}

/** See `BulkTransactions.deleteVerifications`. */
export const deleteVerifications = (
  driver: TransactionDriver,
  some: readonly Pick<Row<'verifications'>, 'seq' | 'account_id'>[],
): Promise<number> =>
  driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [...new Set(some.map((row) => row.account_id))]);
    const seqs = some.map((row) => row.seq);
    const gone = trx.deleteFrom('verifications').where('seq', 'in', seqs);
    const deleted = await gone.returning(['account_id', 'hold_id', 'credits']).execute();
    await addPurged(trx, deleted);
    return deleted.length;
  });

/**
 * Up to BATCH_ROWS accounts with a retention of their own, by id, each with the time of its oldest verification, ms.
 */
export const oldestByRetention = (db: Kysely<Tables>, after = '') =>
  db
    .selectFrom('accounts as a')
    .select(['a.id', 'a.retention_days'])
    .select((eb) =>
      eb
        .selectFrom('verifications as v')
        .select('v.created_at')
        // Not an equality, for the reason given at `seqRange` of the PostgreSQL driver.
        .whereRef('v.account_id', '>=', 'a.id')
        .whereRef('v.account_id', '<=', 'a.id')
        .orderBy('v.account_id')
        .orderBy('v.seq')
        .limit(1)
        .as('oldest'),
    )
    .where('a.retention_days', 'is not', null)
    .$narrowType<{ retention_days: NotNull }>()
    .where('a.id', '>', after)
    .orderBy('a.id')
    .limit(BATCH_ROWS)
    .execute();

const lowerCase = (text: string): string => storable(text).toLowerCase();

/** Matches by index, in batches. The consumer deletes each batch before it asks for the next. */
async function* byIndex(driver: StorageDriver, account: AccountId, email: string): AsyncGenerator<number[]> {
  const text = lowerCase(email);
  const same = sql<SqlBool>`(${INDEXED_ADDRESS} = substr(${text}, 1, 320) AND lower(email) = ${text})`;
  for (let full = true; full; ) {
    const seqs = await seqsByAddress(driver, account, same, BATCH_ROWS);
    yield seqs;
    full = seqs.length === BATCH_ROWS;
  }
}

/** Reads the whole log and compares here. */
async function* byScan(driver: StorageDriver, account: AccountId, email: string): AsyncGenerator<number[]> {
  const oldest = driver.db.selectFrom('verifications').select(['seq', 'email']).orderBy('account_id').orderBy('seq');
  for (let from = FIRST_SEQ, full = true; full; ) {
    const rows = await oldest
      .where(driver.seqRange(account, from, AFTER_LAST_SEQ))
      .limit(BATCH_ROWS)
      .execute();
    yield rows.filter((row) => lowerCase(row.email) === lowerCase(email)).map((row) => row.seq);
    full = rows.length === BATCH_ROWS;
    from = (rows.at(-1)?.seq ?? from) + 1;
  }
}

/**
 * Replies stored for an Idempotency-Key. They expire a fixed time after the verification, which the index on expiry
 * finds.
 */
async function deleteReplies(
  trx: Transaction<Tables>,
  account: AccountId,
  deleted: readonly { body: string; created_at: number }[],
): Promise<void> {
  for (const [at, rows] of Map.groupBy(deleted, (row) => row.created_at)) {
    const bodies = rows.map((row) => row.body);
    const kept = trx.deleteFrom('idempotency').where('account_id', '=', account);
    const same = kept.where('expires_at', '=', at + REPLY_LIFE);
    await same.where('body', 'in', bodies).execute();
  }
}

/** Returns how many rows were deleted. The account is locked. */
async function deleteRows(
  trx: Transaction<Tables>,
  account: AccountId,
  seqs: readonly number[],
  now: number,
): Promise<number> {
  if (seqs.length === 0) return 0;
  const mine = trx.deleteFrom('verifications').where('account_id', '=', account).where('seq', 'in', seqs);
  const deleted = await mine.returning(['account_id', 'hold_id', 'body', 'credits', 'created_at']).execute();
  await addPurged(trx, deleted);
  const young = deleted.filter((row) => row.created_at + REPLY_LIFE > now);
  await deleteReplies(trx, account, young);
  return deleted.length;
}

/** What is remembered of a mailbox beside the log. The account is locked. */
const forget = async (driver: StorageDriver, trx: Transaction<Tables>, account: AccountId, mailbox: string) =>
  (await forgetMailbox(trx, account, mailbox, null)) + (await eraseOutcomes(driver, trx, account, mailbox));

/** See `Verifications.erase`. The audit log entry has no address; its count is updated with every batch. */
async function erase(
  driver: StorageDriver,
  account: AccountId,
  { email, mailbox }: { readonly email: string; readonly mailbox: string | null },
  by: Actor,
): Promise<number> {
  const now = await driver.now();
  const target = `sha256:${sha256Hex(lowerCase(email)).slice(0, 16)}`;
  const step = (seqs: readonly number[], before: { erased: number; entry: number | null }) =>
    driver.transaction(async (trx) => {
      await lockExistingAccount(driver, trx, account);
      const forgotten = before.entry === null && mailbox !== null ? await forget(driver, trx, account, mailbox) : 0;
      const erased = before.erased + forgotten + (await deleteRows(trx, account, seqs, now));
      const detail = { erased };
      if (before.entry === null) {
        return { erased, entry: await writeAudit(trx, account, now, by, { action: 'log.erased', target, detail }) };
      }
      const row = trx.updateTable('trail').set({ detail: JSON.stringify(detail) });
      await row.where('id', '=', before.entry).execute();
      return { erased, entry: before.entry };
    });

  // The database's lower case equals ours for ASCII only.
  const isAscii = /^\p{ASCII}*$/u.test(lowerCase(email));
  let done = await step([], { erased: 0, entry: null });
  // First, so that no list records a result of the address after the log was erased.
  await eraseFromLists(driver, account, email);
  for await (const seqs of (isAscii ? byIndex : byScan)(driver, account, email)) {
    if (seqs.length > 0) done = await step(seqs, done);
    await yieldToEventLoop();
  }
  await driver.truncateLog();
  return done.erased;
}

export function verifications(driver: StorageDriver): Verifications {
  return {
    async get(account, id) {
      const mine = driver.db.selectFrom('verifications').selectAll().where('account_id', '=', account);
      const row = await mine.where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : toVerification(row);
    },

    async list(account, { offset, limit }) {
      const mine = driver.db.selectFrom('verifications').where('account_id', '=', account);
      const total = await mine.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      const rows = await mine.selectAll().orderBy('seq', 'desc').offset(offset).limit(limit).execute();
      return { items: rows.map(toVerification), total: total.n };
    },

    async mailboxChecks(account, from, source) {
      const { range, since } = await recentRows(driver, account, from);
      const body = sql.ref<string>('body');
      const mark = '"provider":';
      let rows = driver.scans
        .selectFrom('verifications')
        .select(['validation_type', 'deliverability', 'reason', 'duration_ms'])
        .select(driver.textFrom(body, mark, mark.length + NAME_LENGTH.max).as('operator'))
        .where(range)
        .where('requested', '=', 'smtp')
        .where(driver.substringMatch(body, mark));
      if (source !== null) rows = rows.where('hold_id', source === 'list' ? 'is not' : 'is', null);
      const found = await rows.execute();
      const checks = found.map(({ validation_type: level, duration_ms: durationMs, operator, ...row }) => ({
        ...{ ...row, level, durationMs },
        operator: operatorIn(operator),
      }));
      return { since, checks };
    },

    async newest(account, limit) {
      const rows = await driver.scans
        .selectFrom('verifications')
        .select(['id', 'email', 'body', 'created_at'])
        .where(driver.seqRange(account, FIRST_SEQ, AFTER_LAST_SEQ))
        .orderBy('account_id', 'desc')
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
    },

    async clients(account, keyId, from, limit) {
      const { range } = await recentRows(driver, account, from);
      const rows = await driver.scans
        .selectFrom('verifications')
        .select(({ fn }) => ['client_ip', fn.countAll<number>().as('n'), fn.max('created_at').as('last')])
        .where(range)
        .where('key_id', '=', keyId)
        .groupBy('client_ip')
        .orderBy('last', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ client_ip: ip, n: requests, last: lastAt }) => ({ ip, requests, lastAt }));
    },

    search: (account, wanted) => search(driver, account, wanted),
    erase: (account, email, by, mailbox = null) => erase(driver, account, { email, mailbox }, by),
  };
}
