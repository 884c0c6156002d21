/** Searches the log, reading a bounded number of rows at a time. */

import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { COMPAT_VENDORS } from '../../kernel/compat-vendors.ts';
import { HOOK_KINDS } from '../../kernel/facts/hooks.ts';
import { LOG_SEARCH_ROWS, RECENT_ROWS } from '../../kernel/facts/limits.ts';
import {
  LOG_CONFIDENCES,
  type LogConfidence,
  type LogMail,
  type LogNegatable,
} from '../../kernel/facts/log-filters.ts';
import { OUTCOMES, type Outcome, outcomeOf } from '../../kernel/facts/outcomes.ts';
import { LEVELS } from '../../kernel/facts/plans.ts';
import { NO_REASON, REASON_NAMES, STATUSES } from '../../kernel/facts/reasons.ts';
import { DASHBOARD_KEY, type LogOrigin, NO_OPERATOR } from '../../kernel/log-origins.ts';
import { BATCH_ROWS } from '../batches.ts';
import type { StorageDriver } from '../driver.ts';
import { markedWay } from '../outcomes.ts';
import { knownHasher } from '../person.ts';
import { storable } from '../rows.ts';
import type { AccountId, LoggedVerification, LogSearch, Verifications } from '../store.ts';
import type { Row, Tables } from '../tables.ts';

/** Repeats the indexed expression (migrations 0002, 0016): the start of the address, in the database's lower case. */
export const INDEXED_ADDRESS = sql<string>`substr(lower(email), 1, 320)`;
/** Reads the same value without the index, for rows found in another way. */
const ADDRESS_READ = sql<string>`(substr(lower(email), 1, 320) || '')`;
const SEARCH_TEXT_LENGTH = 320;

/** The part of a text that is indexed; both databases count in code points. */
const indexed = (text: string): string => Array.from(storable(text)).slice(0, SEARCH_TEXT_LENGTH).join('');

/** Finds rows of the account by the index on `ADDRESS`. */
async function seqsByAddress(
  { db, logByAddress }: StorageDriver,
  account: AccountId,
  matches: Expression<SqlBool>,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ seq: number }>`
    SELECT seq FROM ${logByAddress} WHERE account_id = ${account} AND ${matches} LIMIT ${limit}`.execute(db);
  return rows.map((row) => row.seq);
}

/** What does not match, of columns that may be null too: a condition on null is null, and so is its opposite. */
export const negated = (condition: Expression<SqlBool>): Expression<SqlBool> =>
  sql<SqlBool>`NOT coalesce((${condition}), false)`;

/** Selects single calls and rejected requests alike. */
export const FROM_ORIGIN: Readonly<Record<Exclude<LogOrigin, 'list'>, RawBuilder<boolean>>> = {
  api: sql<boolean>`(key_id <> ${DASHBOARD_KEY} AND via IS NULL)`,
  compat: sql<boolean>`via IN (${sql.join(COMPAT_VENDORS)})`,
  mcp: sql<boolean>`via = 'mcp'`,
  hook: sql<boolean>`via IN (${sql.join(HOOK_KINDS)})`,
  dashboard: sql<boolean>`key_id = ${DASHBOARD_KEY}`,
};

export const toVerification = (row: Row<'verifications'>) => ({
  id: row.id,
  email: row.email,
  requested: row.requested,
  validationType: row.validation_type,
  status: row.status,
  deliverability: row.deliverability,
  reason: row.reason,
  credits: row.credits,
  clientIp: row.client_ip,
  durationMs: row.duration_ms,
  body: row.body,
  createdAt: row.created_at,
  keyId: row.key_id,
  list: row.hold_id,
  via: row.via,
  decision: row.decision,
});

/** Bounds of an account's log, for `StorageDriver.seqRange`. */
export const FIRST_SEQ = 0;
export const AFTER_LAST_SEQ = Number.MAX_SAFE_INTEGER;

const VERIFICATION_ID = /^ver_\w{16,}$/;

/** `kept`: hashes that may stand in place of `email`. */
type WantedLog = LogSearch & { readonly kept?: readonly string[] };
type SearchPage = Awaited<ReturnType<Verifications['search']>>;

const mine = (driver: StorageDriver, account: AccountId) =>
  driver.scans.selectFrom('verifications').where('account_id', '=', account);
type LoggedRows = ReturnType<typeof mine>;

const BODY = sql.ref<string>('body');
/** How a reply names the mail operator: JSON as it is stored has no spaces, and quotes within texts are escaped. */
const operatorMark = (operator: string): string =>
  `"provider":${operator === NO_OPERATOR ? 'null' : JSON.stringify(operator)}`;

const eb = expressionBuilder<Tables, 'verifications'>();

function ofOutcome(outcome: Outcome): Expression<SqlBool>[] {
  // Unknown without a reason is what was not asked about.
  if (outcome === 'not_checked') return [eb('deliverability', '=', 'unknown'), eb('reason', 'is', null)];
  if (outcome === 'unknown') return [eb('deliverability', '=', 'unknown'), eb('reason', 'is not', null)];
  return [eb('deliverability', '=', outcome)];
}

const ofOrigin = (origin: LogOrigin): Expression<SqlBool> =>
  origin === 'list' ? eb('hold_id', 'is not', null) : eb.and([eb('hold_id', 'is', null), FROM_ORIGIN[origin]]);

const ofMail = eb
  .selectFrom('outcome_verdicts as mailed')
  .select('mailed.bounced')
  .whereRef('mailed.account_id', '=', 'verifications.account_id')
  .whereRef('mailed.verification_id', '=', 'verifications.id');
/** Rows of `outcome_verdicts` by what became of the mail. */
const BY_MAIL_OUTCOME: Readonly<Record<LogMail, Expression<SqlBool>>> = {
  known: eb.exists(ofMail),
  arrived: eb.exists(ofMail.where('mailed.bounced', '=', 0)),
  bounced: eb.exists(ofMail.where('mailed.bounced', '=', 1)),
  contradicting: eb.exists(ofMail.where('mailed.contradicts', '=', 1)),
};

/** As outcomes are summed by it: the last tenth includes its end. */
function ofConfidence(confidence: LogConfidence): Expression<SqlBool> {
  const tenth = LOG_CONFIDENCES.indexOf(confidence);
  const from = ofMail.where('mailed.predicted', '>=', tenth * 100);
  return eb.exists(tenth === 9 ? from : from.where('mailed.predicted', '<', (tenth + 1) * 100));
}

/** Selects rows of whose mail an outcome came on this way. */
const ofWay = (driver: StorageDriver, way: string): Expression<SqlBool> =>
  eb.exists(ofMail.where(driver.substringMatch(sql.ref('mailed.came_from'), markedWay(storable(way)))));

/** The newest matches among `rows`; one more than a page, to know whether there is a next page. */
async function matchingRows(driver: StorageDriver, rows: LoggedRows, wanted: WantedLog): Promise<LoggedVerification[]> {
  const { email, id, reason, keyId, status, limit, kept = [] } = wanted;
  const { text = null, level = null, outcome = null, origin = null, from = null, to = null } = wanted;
  const { operator = null, egress = null, decision = null, mail = null, confidence = null, reported = null } = wanted;
  const { list = null } = wanted;
  let some = rows;
  const where = (name: LogNegatable, condition: Expression<SqlBool>): void => {
    some = some.where(wanted.not?.includes(name) ? negated(condition) : condition);
  };
  if (text !== null) some = some.where(driver.substringMatch(ADDRESS_READ, indexed(text).toLowerCase()));
  if (level !== null) where('level', eb('requested', 'in', level));
  if (outcome !== null) where('deliverability', eb.or(outcome.map((one) => eb.and(ofOutcome(one)))));
  if (origin !== null) where('origin', eb.or(origin.map(ofOrigin)));
  if (from !== null) some = some.where('created_at', '>=', from);
  if (to !== null) some = some.where('created_at', '<', to);
  if (operator !== null)
    where('operator', eb.or(operator.map((one) => driver.substringMatch(BODY, operatorMark(one)))));
  if (egress !== null)
    where('egress', eb.or(egress.map((one) => driver.substringMatch(BODY, `"egress":${JSON.stringify(one)}`))));
  if (decision !== null) where('decision', eb('decision', 'in', decision));
  if (mail !== null) where('mail', eb.or(mail.map((one) => BY_MAIL_OUTCOME[one])));
  if (confidence !== null) where('confidence', eb.or(confidence.map(ofConfidence)));
  if (reported !== null) where('reported', eb.or(reported.map((one) => ofWay(driver, one))));
  if (list !== null) where('list', eb('hold_id', 'in', list));
  if (id !== null) some = some.where('id', '=', id);
  if (email !== null)
    some = some.where(eb.or([email, ...kept].map((one) => driver.prefixMatch(ADDRESS_READ, indexed(one)))));
  if (reason !== null) where('reason', eb(sql<string>`coalesce(reason, ${NO_REASON})`, 'in', reason));
  if (keyId !== null) where('key', eb('key_id', 'in', keyId));
  if (status !== null) where('status', eb('status', 'in', status));
  const newest = some.orderBy('account_id', 'desc').orderBy('seq', 'desc');
  const found = await newest
    .selectAll()
    .limit(limit + 1)
    .execute();
  return found.map((row) => ({ ...toVerification(row), seq: row.seq }));
}

/** A page, when all matches were read except those that did not fit. */
function page(found: readonly LoggedVerification[], limit: number): SearchPage {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items, next: null, searchedTo: null };
  return { items, next: last.seq, searchedTo: last.createdAt };
}

/** The last of the newest `rows` rows before this one, `from` a row on; undefined: there are not so many. */
export const edgeOf = (
  driver: StorageDriver,
  account: AccountId,
  before: number,
  from = FIRST_SEQ,
  rows = LOG_SEARCH_ROWS,
) =>
  driver.scans
    .selectFrom('verifications')
    .select(['seq', 'created_at'])
    .where(driver.seqRange(account, from, before))
    .orderBy('account_id', 'desc')
    .orderBy('seq', 'desc')
    .offset(rows - 1)
    .limit(1)
    .executeTakeFirst();

/** Rows are recorded in the order of their times, but for what nodes that record at once differ by. */
const DISORDER_MS = 60_000;

/** Exceeds any sequence number, and is a power of two. */
const SEQS = 2 ** 52;

/**
 * A position such that the rows before it are older than `time`, and those from it on are not. Times have no index of
 * their own, hence a binary search; in one statement, because each of its steps would otherwise be a round trip.
 */
async function seqAt(driver: StorageDriver, account: AccountId, time: number): Promise<number> {
  const newest = driver.scans
    .selectFrom('verifications')
    .select('created_at')
    .where(driver.seqRange(account, sql<number>`low`, sql<number>`low + size`))
    .orderBy('account_id', 'desc')
    .orderBy('seq', 'desc')
    .limit(1);
  const { rows } = await sql<{ low: number }>`
    WITH RECURSIVE step (low, size) AS (
      SELECT CAST(${FIRST_SEQ} AS BIGINT), CAST(${SEQS} AS BIGINT)
      UNION ALL
      SELECT low + CASE WHEN coalesce(${newest}, 0) < ${time} THEN size ELSE 0 END, size / 2 FROM step WHERE size > 0
    ) SELECT low FROM step WHERE size = 0`.execute(driver.scans);
  const [last] = rows;
  if (last === undefined) throw new Error('The search for a time had no result.');
  return last.low;
}

/** What is counted under reason, status and level, apart from what a later version may count. */
const COUNTED_REASONS = [null, ...REASON_NAMES].flatMap((reason) =>
  STATUSES.flatMap((status) =>
    LEVELS.map((level) => ({ key: `${reason ?? ''} ${status} ${level}`, outcome: outcomeOf(level, status, reason) })),
  ),
);

/** Rows of `usage_hours` that can count a match: by what of the search is counted. None: nothing is. */
function countedBy(wanted: LogSearch): Expression<SqlBool>[] {
  const { reason, keyId, status, level = null, outcome = null, not = [] } = wanted;
  const conditions: Expression<SqlBool>[] = [];
  const where = (name: LogNegatable, condition: Expression<SqlBool>): void => {
    conditions.push(not.includes(name) ? negated(condition) : condition);
  };
  if (reason !== null) where('reason', sql`coalesce(nullif(reason, ''), ${NO_REASON}) IN (${sql.join(reason)})`);
  if (keyId !== null) where('key', sql`key_id IN (${sql.join(keyId)})`);
  if (status !== null) where('status', sql`status IN (${sql.join(status)})`);
  if (outcome !== null) {
    const chosen = OUTCOMES.filter((one) => outcome.includes(one) !== not.includes('deliverability'));
    const others = COUNTED_REASONS.filter((one) => !chosen.includes(one.outcome)).map(({ key }) => key);
    if (others.length > 0)
      conditions.push(sql`reason || ' ' || status || ' ' || validation_type NOT IN (${sql.join(others)})`);
  }
  // What was asked for as mx is charged as mx; what was asked for as smtp may be, too.
  if (level !== null && LEVELS.every((one) => one === 'mx' || level.includes(one) === not.includes('level')))
    conditions.push(sql`validation_type = 'mx'`);
  return conditions;
}

/** Hours, or days, that one search looks into. */
const HOURS_AT_ONCE = 48;

interface Stretch {
  /** Start and end are in ms. */
  readonly start: number;
  readonly end: number;
  /** Verifications that were counted in it, of whatever kind. */
  readonly rows: number;
}

/**
 * The newest hours before `time` in which a match was counted; those that follow each other are one. Counters are kept
 * when rows are erased, so there may be no match. Those that were made daily stand for their day. `more`: there may be
 * earlier ones.
 */
async function countedStretches(
  driver: StorageDriver,
  account: AccountId,
  { from, time }: { from: number; time: number },
  counted: readonly Expression<SqlBool>[],
): Promise<{ stretches: readonly Stretch[]; more: boolean }> {
  const { rows } = await sql<{ hour: number; total: number; daily: number }>`
    SELECT hour, CAST(sum(requests) AS BIGINT) AS total,
      (SELECT usage_daily_before FROM accounts WHERE id = ${account}) AS daily
    FROM usage_hours
    WHERE account_id = ${account} AND hour >= ${Math.floor(from / DAY_MS) * DAY_MS} AND hour < ${time}
    GROUP BY hour HAVING max(CASE WHEN ${sql.join(counted, sql` AND `)} THEN 1 ELSE 0 END) = 1
    ORDER BY hour DESC LIMIT ${HOURS_AT_ONCE}`.execute(driver.scans);
  const stretches: Stretch[] = [];
  for (const { hour, total, daily } of rows) {
    const end = hour + (hour < daily ? DAY_MS : HOUR_MS);
    const last = stretches.at(-1);
    if (last !== undefined && last.start <= end)
      stretches.splice(-1, 1, { start: hour, end: last.end, rows: last.rows + total });
    else stretches.push({ start: hour, end, rows: total });
  }
  return { stretches, more: rows.length === HOURS_AT_ONCE };
}

/** The newest RECENT_ROWS rows since `from`, ms; `since`: when the oldest of them was recorded at the earliest. */
export async function recentRows(driver: StorageDriver, account: AccountId, from: number, to: number | null = null) {
  const [first, end] = await Promise.all([
    seqAt(driver, account, from),
    to === null ? AFTER_LAST_SEQ : seqAt(driver, account, to),
  ]);
  const edge = await edgeOf(driver, account, end, first, RECENT_ROWS);
  return { range: driver.seqRange(account, edge?.seq ?? first, end), since: edge?.created_at ?? from };
}

/** Scans the hours that the counters know, as far as they have LOG_SEARCH_ROWS rows. */
async function scanCounted(
  driver: StorageDriver,
  account: AccountId,
  wanted: WantedLog,
  { first, end }: { first: number; end: number },
  counted: readonly Expression<SqlBool>[],
): Promise<SearchPage> {
  const newest = driver.scans
    .selectFrom('verifications')
    .select('created_at')
    .where(driver.seqRange(account, first, end));
  const row = await newest.orderBy('account_id', 'desc').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  if (row === undefined) return { items: [], next: null, searchedTo: null };
  const time = row.created_at + DISORDER_MS;
  const { stretches, more } = await countedStretches(driver, account, { from: wanted.from ?? 0, time }, counted);
  const items: LoggedVerification[] = [];
  let [before, left] = [end, LOG_SEARCH_ROWS];
  for (const stretch of stretches) {
    if (left <= 0) return { items, next: before, searchedTo: stretch.end };
    const [low, high] = await Promise.all([
      seqAt(driver, account, stretch.start - DISORDER_MS),
      seqAt(driver, account, stretch.end + DISORDER_MS),
    ]);
    const [from, to] = [Math.max(first, low), Math.min(before, high)];
    const edge = stretch.rows > left ? await edgeOf(driver, account, to, from) : undefined;
    const range = driver.seqRange(account, edge?.seq ?? from, to);
    const limit = wanted.limit - items.length;
    items.push(
      ...(await matchingRows(driver, driver.scans.selectFrom('verifications').where(range), { ...wanted, limit })),
    );
    if (items.length > wanted.limit) return page(items, wanted.limit);
    if (edge !== undefined) return { items, next: edge.seq, searchedTo: edge.created_at };
    before = Math.min(before, from);
    left -= stretch.rows;
  }
  return { items, next: more ? before : null, searchedTo: more ? (stretches.at(-1)?.start ?? null) : null };
}

/**
 * Scans LOG_SEARCH_ROWS rows, of the time that is asked for: the newest, or those of the hours that are known to have
 * matches.
 */
async function scanLog(driver: StorageDriver, account: AccountId, wanted: WantedLog): Promise<SearchPage> {
  const { from = null, to = null } = wanted;
  const [first, end] = await Promise.all([
    from === null ? FIRST_SEQ : seqAt(driver, account, from - DISORDER_MS),
    to === null ? AFTER_LAST_SEQ : seqAt(driver, account, to + DISORDER_MS),
  ]);
  const before = Math.min(wanted.before ?? AFTER_LAST_SEQ, end);
  const counted = countedBy(wanted);
  if (counted.length > 0) return scanCounted(driver, account, wanted, { first, end: before }, counted);
  const edge = await edgeOf(driver, account, before, first);
  const reached = driver.scans.selectFrom('verifications').where(driver.seqRange(account, edge?.seq ?? first, before));
  const found = page(await matchingRows(driver, reached, wanted), wanted.limit);
  if (found.next !== null || edge === undefined) return found;
  return { items: found.items, next: edge.seq, searchedTo: edge.created_at };
}

/** Reads rows that an index found, newest first, in batches until the page is full. */
async function fetchRows(
  driver: StorageDriver,
  account: AccountId,
  seqs: readonly number[],
  wanted: WantedLog,
): Promise<SearchPage> {
  const { before, limit } = wanted;
  const newest = seqs.filter((seq) => before === null || seq < before).sort((a, b) => b - a);
  const found: LoggedVerification[] = [];
  for (let at = 0; at < newest.length && found.length <= limit; at += BATCH_ROWS) {
    const some = mine(driver, account).where('seq', 'in', newest.slice(at, at + BATCH_ROWS));
    found.push(...(await matchingRows(driver, some, wanted)));
  }
  return page(found, limit);
}

/** Rows found by an index; null when there are too many to sort. */
async function indexedRows(
  driver: StorageDriver,
  account: AccountId,
  { id, email, kept = [] }: WantedLog,
): Promise<number[] | null> {
  const most = LOG_SEARCH_ROWS + 1;
  if (id !== null)
    return (await mine(driver, account).select('seq').where('id', '=', id).execute()).map(({ seq }) => seq);
  const byAddress = [email ?? '', ...kept].map((one) =>
    seqsByAddress(driver, account, driver.prefixMatch(INDEXED_ADDRESS, indexed(one)), most),
  );
  const seqs = (await Promise.all(byAddress)).flat();
  return seqs.length > LOG_SEARCH_ROWS ? null : seqs;
}

/** Rows that begin with an address or have an ID, by index; a prefix that very many share, by a scan. */
async function searchExactly(driver: StorageDriver, account: AccountId, asked: WantedLog): Promise<SearchPage> {
  const wanted = asked.email === '' ? { ...asked, email: null } : asked;
  const seqs = wanted.id === null && wanted.email === null ? null : await indexedRows(driver, account, wanted);
  // A prefix that very many addresses share is found soon enough among the newest rows.
  return seqs === null ? scanLog(driver, account, wanted) : fetchRows(driver, account, seqs, wanted);
}

/** See `Verifications.search`. */
export async function search(driver: StorageDriver, account: AccountId, asked: LogSearch): Promise<SearchPage> {
  const text = asked.text?.trim() ?? '';
  const address = text.indexOf('@') > 0 ? text : asked.email;
  const hashed = address === null || address === '' ? null : ((await knownHasher(driver))?.(address, null) ?? null);
  const wanted: WantedLog = hashed === null ? asked : { ...asked, kept: [hashed.email] };
  if (text === '') return searchExactly(driver, account, { ...wanted, text: null });
  if (VERIFICATION_ID.test(text)) return searchExactly(driver, account, { ...wanted, text: null, id: text });
  // An address, or how it begins. Where no row begins so, on none of the pages, it may be the middle of one.
  if (text.indexOf('@') > 0) {
    const found = await searchExactly(driver, account, { ...wanted, text: null, email: text });
    if (found.items.length > 0 || found.next !== null) return found;
  }
  return scanLog(driver, account, { ...wanted, text });
}
