/** Rows of a list with their results, as the API shows them and as files have them. */

import type { Report } from '../../engine/report.ts';
import { addressIn } from '../../files/address-cell.ts';
import { cellKeys } from '../../files/columns.ts';
import { isBookFormat } from '../../files/forms.ts';
import { ROW_PROBLEMS } from '../../files/problems.ts';
import { createResultWriter, type ResultRow } from '../../files/write-results.ts';
import type { RowProblem } from '../../kernel/csv.ts';
import { ApiError } from '../../kernel/errors.ts';
import { LIST_BLOCKS_SEARCHED } from '../../kernel/facts/limits.ts';
import type { ResultFormat, RowKind } from '../../kernel/facts/lists.ts';
import type { Deliverability, ReasonOrNone, Status } from '../../kernel/facts/reasons.ts';
import type { List, ListBlock, ListResult, ListRow, Lists } from '../../store/store.ts';

export interface RowFilter {
  readonly status: Status | null;
  readonly deliverability: Deliverability | null;
  readonly reason: ReasonOrNone | null;
  /** Searched literally in the address, without regard to case. */
  readonly query: string | null;
  readonly kind?: RowKind | null;
}

type Shared =
  | 'did_you_mean'
  | 'validation_type'
  | 'is_disposable'
  | 'is_role'
  | 'is_free'
  | 'is_relay'
  | 'is_catch_all';

/** A row, as the API shows it. What is not known is null. */
export type RowView = Readonly<
  { row: number; email: string | null; attempts: number; credits_used: number | null } & {
    [K in Shared | 'status' | 'deliverability' | 'reason' | 'checks' | 'verified_at']: Report[K] | null;
  } & { problem: { code: string; line: number; error: string } | null }
>;

/** A row of the file and what is known about it. */
export interface RowEntry {
  readonly row: ListRow;
  readonly view: RowView;
  readonly kind: RowKind;
  /** Id of the verification that is its result. */
  readonly verification: string | null;
}

/** Rows of a file that are written at a time: a few ms. */
const SLICE_ROWS = 125;

/** A page of rows after `after`; `next` is where the next one begins, null at the end. */
export async function rowsPage(
  lists: Pick<Lists, 'block'>,
  list: List,
  { after, limit, ...filter }: RowFilter & { readonly after: number; readonly limit: number },
): Promise<{ entries: RowEntry[]; next: number | null }> {
  const entries: RowEntry[] = [];
  let last = after;
  for (let blocks = 0; blocks < LIST_BLOCKS_SEARCHED; blocks++) {
    const block = await lists.block(list.account, list.id, last, (row) => hasQuery(list, row, filter));
    if (block === null) return { entries, next: null };
    const before = last;
    for (const entry of entriesOf(list, block, filter)) {
      if (entry.row.row <= before) continue;
      last = entry.row.row;
      entries.push(entry);
      if (entries.length === limit) return { entries, next: last < list.rows.total ? last : null };
    }
    last = block.rows.at(-1)?.row ?? last;
    if (last >= list.rows.total) return { entries, next: null };
  }
  return { entries, next: last };
}

/** All blocks of a list, in order. Throws ApiError `not_found` where it is deleted meanwhile: the rest is missing. */
export async function* blocksOf(
  lists: Pick<Lists, 'block'>,
  { account, id, rows: { total } }: List,
): AsyncGenerator<ListBlock, void, undefined> {
  for (let after = 0; after < total; ) {
    const block = await lists.block(account, id, after);
    if (block === null) throw noSuchList(id);
    yield block;
    after = block.rows.at(-1)?.row ?? total;
  }
}

export const noSuchList = (id: string): ApiError => new ApiError('not_found', `There is no list ${id}.`);

/** The file with results, piece by piece in the order of its rows, each piece as the list is when it is read. */
export async function* resultsFile(
  lists: Pick<Lists, 'block'>,
  list: List,
  format: ResultFormat,
  filter: RowFilter,
): AsyncGenerator<Uint8Array, void, undefined> {
  const writer = createResultWriter(format, list.layout.columns, null, isBookFormat(list.layout.format));
  const keyOf = cellKeys(list.layout.columns);
  yield writer.head();
  for await (const block of blocksOf(lists, list)) {
    let rows: ResultRow[] = [];
    for (const entry of entriesOf(list, block, filter)) {
      rows.push(resultRow(list, keyOf, entry));
      if (rows.length < SLICE_ROWS) continue;
      yield await writer.rows(rows);
      rows = [];
      // Whoever reads fast leaves no other gap for requests.
      await new Promise(setImmediate);
    }
    if (rows.length > 0) yield await writer.rows(rows);
  }
  yield writer.end();
}

/** Of the rows that the filter lets pass: a result is not parsed for others. */
export function* entriesOf(
  list: List,
  { rows, results, asked, firstAddress }: ListBlock,
  filter: RowFilter = EVERY_ROW,
): Generator<RowEntry> {
  /** The result is that of its first row: others cost nothing. */
  let seen = firstAddress - 1;
  for (const row of rows) {
    const result = row.address === null ? undefined : results.get(row.address);
    const isFirst = row.address !== null && row.address > seen;
    if (row.address !== null && isFirst) seen = row.address;
    const kind = kindOf(row, isFirst);
    if (!matches(result, kind, filter) || !hasQuery(list, row, filter)) continue;
    const email = emailOf(list, row);
    const attempts = result?.attempts ?? (row.address === null ? 0 : (asked.get(row.address) ?? 0));
    const view = viewOf(row, email, result, { isFirst, attempts });
    yield { row, view, kind, verification: result?.id ?? null };
  }
}

function kindOf({ problem, address }: ListRow, isFirst: boolean): RowKind {
  if (problem !== null) return 'unreadable';
  if (address === null) return 'blank';
  return isFirst ? 'address' : 'duplicate';
}

function viewOf(
  row: ListRow,
  email: string | null,
  result: ListResult | undefined,
  { isFirst, attempts }: { isFirst: boolean; attempts: number },
): RowView {
  const report: Report | null = result === undefined ? null : JSON.parse(result.body);
  return {
    row: row.row,
    email,
    status: report?.status ?? null,
    deliverability: report?.deliverability ?? null,
    reason: report?.reason ?? null,
    did_you_mean: report?.did_you_mean ?? null,
    validation_type: report?.validation_type ?? null,
    credits_used: result === undefined ? null : isFirst ? result.credits : 0,
    is_disposable: report?.is_disposable ?? null,
    is_role: report?.is_role ?? null,
    is_free: report?.is_free ?? null,
    is_relay: report?.is_relay ?? null,
    is_catch_all: report?.is_catch_all ?? null,
    checks: report?.checks ?? null,
    attempts,
    verified_at: report?.verified_at ?? null,
    problem: row.problem === null ? null : { ...row.problem, error: problemText(row.problem.code) },
  };
}

const isProblem = (code: string): code is RowProblem => Object.hasOwn(ROW_PROBLEMS, code);
const problemText = (code: string): string => (isProblem(code) ? ROW_PROBLEMS[code] : code);

const EVERY_ROW: RowFilter = { status: null, deliverability: null, reason: null, query: null };

const emailOf = ({ layout }: List, { problem, cells }: ListRow): string | null =>
  problem === null ? addressIn(cells[layout.addressColumn] ?? '') : null;

const hasQuery = (list: List, row: ListRow, { query }: RowFilter): boolean =>
  query === null || (emailOf(list, row)?.toLowerCase().includes(query.toLowerCase()) ?? false);

function matches(result: ListResult | undefined, kind: RowKind, filter: RowFilter): boolean {
  if (filter.kind != null && kind !== filter.kind) return false;
  if (filter.status !== null && result?.status !== filter.status) return false;
  if (filter.deliverability !== null && result?.deliverability !== filter.deliverability) return false;
  return filter.reason === null || (result !== undefined && (result.reason ?? 'none') === filter.reason);
}

function resultRow({ layout }: List, keyOf: (index: number) => string, { row, view }: RowEntry): ResultRow {
  const { cells, extra } = row;
  const data = Object.fromEntries(
    [...layout.columns.map((_, i) => cells[i] ?? ''), ...extra].map((cell, i) => [keyOf(i), cell]),
  );
  const problem = view.problem === null ? {} : { reason: view.problem.code };
  return { cells, extra, result: view.status === null ? problem : view, json: { ...view, data } };
}
