/** The log, and how rows are deleted from it: the sums of the account still agree. */

import { type Kysely, type NotNull, sql, type Transaction } from 'kysely';
import { NAME_LENGTH } from '../../kernel/facts/limits.ts';
import { BATCH_ROWS, yieldToEventLoop } from '../batches.ts';
import { mentioningColumns } from '../contents.ts';
import type { StorageDriver, TransactionDriver } from '../driver.ts';
import { isMentioned, type Mentions, mayMention } from '../person.ts';
import { countOf } from '../rows.ts';
import type { AccountId, Verifications } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { AFTER_LAST_SEQ, FIRST_SEQ, recentRows, search, toVerification } from './search.ts';

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
  await addTo(trx, 'accounts', deletedSums(deleted, 'account_id'));
  await addTo(trx, 'shared_holds', deletedSums(deleted, 'hold_id'));
}

function deletedSums(deleted: readonly Deleted[], by: 'account_id' | 'hold_id'): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { [by]: id, credits } of deleted) if (id !== null) found.set(id, (found.get(id) ?? 0) + credits);
  return found;
}

/** However many rows there are, they take one statement: charges wait for the transaction. */
async function addTo(
  trx: Transaction<Tables>,
  table: 'accounts' | 'shared_holds',
  credits: ReadonlyMap<string, number>,
): Promise<void> {
  if (credits.size === 0) return;
  const rows = Array.from(credits, ([id, sum]) => sql`(CAST(${id} AS TEXT), CAST(${sum} AS BIGINT))`);
  await sql`UPDATE ${sql.table(table)} SET purged_credits = purged_credits + purged.column2
    FROM (VALUES ${sql.join(rows)}) AS purged WHERE id = purged.column1`.execute(trx);
}

/** See `BulkTransactions.deleteVerifications`. */
export const deleteVerifications = (
  driver: TransactionDriver,
  some: readonly Pick<Row<'verifications'>, 'seq' | 'account_id'>[],
): Promise<number> =>
  driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [...new Set(some.map((row) => row.account_id))]);
    const seqs = some.map((row) => row.seq);
    const deletion = trx.deleteFrom('verifications').where('seq', 'in', seqs);
    const deleted = await deletion.returning(['account_id', 'hold_id', 'credits']).execute();
    await addPurged(trx, deleted);
    return deleted.length;
  });

/**
 * Selects up to BATCH_ROWS accounts with a retention of their own, by id, each with the time of its oldest
 * verification, ms.
 */
export const oldestByRetention = (db: Kysely<Tables>, after = '') =>
  db
    .selectFrom('accounts as a')
    .select(['a.id', 'a.retention_days'])
    .select((eb) =>
      eb
        .selectFrom('verifications as v')
        .select('v.created_at')
        // It is not an equality, for the reason given at `seqRange` of the PostgreSQL driver.
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

/** Looked at in one read, and then on the main thread, where 500 take some 5 ms if all may mention the person. */
const SCANNED_ROWS = 500;

/** Rows of the log that mention the person, oldest first; whoever deletes them does so before asking for more. */
export async function* verificationsOf(
  driver: StorageDriver,
  account: AccountId,
  mentions: Mentions,
): AsyncGenerator<readonly Row<'verifications'>[]> {
  const oldest = driver.scans.selectFrom('verifications').orderBy('account_id').orderBy('seq');
  for (let from: number | null = FIRST_SEQ; from !== null; ) {
    const first: number = from;
    const rest = oldest.where(driver.seqRange(account, first, AFTER_LAST_SEQ));
    const next: { seq: number } | undefined = await rest.select('seq').offset(SCANNED_ROWS).limit(1).executeTakeFirst();
    const some = oldest.where(driver.seqRange(account, first, next?.seq ?? AFTER_LAST_SEQ));
    const rows = await some
      .selectAll()
      .where(mayMention(driver, mentions, mentioningColumns('verifications')))
      .execute();
    const found = rows.filter((row) => isMentioned(mentions, 'verifications', row));
    if (found.length > 0) yield found;
    await yieldToEventLoop();
    from = next?.seq ?? null;
  }
}

/** Deletes rows of the log; how many there still were. Their credits are kept in sums, so that those still agree. */
export async function eraseFromLog(driver: StorageDriver, account: AccountId, mentions: Mentions): Promise<number> {
  let erased = 0;
  for await (const rows of verificationsOf(driver, account, mentions))
    for (let at = 0; at < rows.length; at += BATCH_ROWS) {
      erased += await deleteVerifications(driver, rows.slice(at, at + BATCH_ROWS));
      await yieldToEventLoop();
    }
  return erased;
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
      const total = await countOf(mine);
      const rows = await mine.selectAll().orderBy('seq', 'desc').offset(offset).limit(limit).execute();
      return { items: rows.map(toVerification), total };
    },

    async mailboxChecks(account, { from, to, source }) {
      const { range, since } = await recentRows(driver, account, from, to);
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
        ...row,
        level,
        durationMs,
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
  };
}
