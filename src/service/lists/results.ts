/** Rows of a list with their results, as the API shows them and as files have them. */

import type { Report } from '../../engine/report.ts';
import { addressIn } from '../../files/address-cell.ts';
import { cellKeys } from '../../files/columns.ts';
import { isBookFormat } from '../../files/forms.ts';
import { ROW_PROBLEMS } from '../../files/problems.ts';
import { partText } from '../../files/result-columns.ts';
import type { RowAddress } from '../../files/rows.ts';
import { type CsvDialect, createResultWriter, type ResultRow } from '../../files/write-results.ts';
import type { RowProblem } from '../../kernel/csv.ts';
import { ApiError } from '../../kernel/errors.ts';
import { LIST_BLOCKS_SEARCHED } from '../../kernel/facts/limits.ts';
import { hasEnded, PENDING, type ResultFormat, type RowKind } from '../../kernel/facts/lists.ts';
import { decide, type PolicyAction } from '../../kernel/facts/policies.ts';
import type { Deliverability, ReasonOrNone, Status } from '../../kernel/facts/reasons.ts';
import type { List, ListBlock, ListResult, ListRow, ListRowAddress, Lists } from '../../store/store.ts';
import { storedReply } from '../stored-reply.ts';

export interface RowFilter {
  readonly status: Status | null;
  readonly deliverability: readonly Deliverability[] | null;
  readonly reason: ReasonOrNone | null;
  /** Matches literally in the address, without regard to case. */
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
  | 'is_catch_all'
  | 'relay_provider'
  | 'canonical_email';

/** A row, as the API shows it. What is not known is null. */
export type RowView = Readonly<
  {
    row: number;
    /** The number of the address in its row counts from 1; null means that the row has one, or none. */
    part: number | null;
    parts: number | null;
    /** The address was taken from this column; null means the main one. */
    column: string | null;
    email: string | null;
    attempts: number;
    credits_used: number | null;
    decision: PolicyAction | null;
    /** An earlier row has the same address or mailbox; null means that the row has no address. */
    is_duplicate: boolean | null;
    /** The mail server was asked from there. */
    egress: string | null;
  } & {
    [K in Shared | 'status' | 'deliverability' | 'reason' | 'checks' | 'verified_at']: Report[K] | null;
  } & { problem: { code: string; line: number; error: string } | null }
>;

/** A row of the file and what is known about it. */
export interface RowEntry {
  readonly row: ListRow;
  readonly view: RowView;
  readonly kind: RowKind;
  /** What was verified, or is to be; null: nothing. */
  readonly address: RowAddress | null;
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
    const block = await lists.block(list.account, list.id, last, (row) => mayMatch(row, filter));
    if (block === null) return { entries, next: null };
    const before = last;
    for (const entry of resultEntries(list, block, filter)) {
      const { row } = entry.row;
      if (row <= before) continue;
      // A page ends behind all addresses of a row, so it stops here.
      if (entries.length >= limit && row !== last) return { entries, next: last };
      last = row;
      entries.push(entry);
    }
    last = block.rows.at(-1)?.row ?? last;
    if (entries.length >= limit && last < list.rows.total) return { entries, next: entries.at(-1)?.row.row ?? last };
    if (last >= list.rows.total) return { entries, next: null };
  }
  return { entries, next: last };
}

const mayMatch = (row: ListRow, filter: RowFilter): boolean =>
  row.addresses.some((part) => hasQuery({ text: addressText(row, part), column: part.column }, filter));

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
  dialect: CsvDialect,
  filter: RowFilter,
): AsyncGenerator<Uint8Array, void, undefined> {
  const isBook = isBookFormat(list.layout.format);
  const writer = createResultWriter(format, list.layout.columns, { dialect, isBook });
  const keyOf = cellKeys(list.layout.columns);
  yield writer.head();
  for await (const block of blocksOf(lists, list)) {
    let rows: ResultRow[] = [];
    for (const entry of resultEntries(list, block, filter)) {
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

/** Of the rows that the filter lets pass, one for each address: a result is not parsed for others. */
export function* resultEntries(
  list: List,
  { rows, results, asked, firstAddress }: ListBlock,
  filter: RowFilter = EVERY_ROW,
): Generator<RowEntry> {
  /** The result is that of its first row: others cost nothing. */
  let seen = firstAddress - 1;
  for (const row of rows) {
    for (const [index, part] of resultParts(row).entries()) {
      const number = part?.number ?? null;
      const result = number === null ? undefined : results.get(number);
      const isFirst = number !== null && number > seen;
      if (isFirst) seen = number;
      const kind = rowKindOf(row, part, isFirst);
      if (!matches(result, kind, filter)) continue;
      const address = part && { text: addressText(row, part), column: part.column };
      if (!hasQuery(address, filter)) continue;
      const attempts = result?.attempts ?? (number === null ? 0 : (asked.get(number) ?? 0));
      const view = viewOf(list, row, { index, address, isFirst, attempts }, result);
      yield { row, view, kind, address, verification: result?.id ?? null };
    }
  }
}

const NO_PART: readonly null[] = [null];
const resultParts = ({ addresses }: ListRow): readonly (ListRowAddress | null)[] =>
  addresses.length === 0 ? NO_PART : addresses;

const addressText = ({ cells }: ListRow, { text, column }: ListRowAddress): string =>
  text ?? addressIn(cells[column] ?? '') ?? cells[column] ?? '';

function rowKindOf({ problem }: ListRow, part: ListRowAddress | null, isFirst: boolean): RowKind {
  if (problem !== null) return 'unreadable';
  if (part === null) return 'blank';
  return isFirst ? 'address' : 'duplicate';
}

interface AddressPart {
  /** The index counts among the addresses of the row. */
  readonly index: number;
  readonly address: RowAddress | null;
  readonly isFirst: boolean;
  readonly attempts: number;
}

function viewOf(
  { layout, policy }: List,
  row: ListRow,
  { index, address, isFirst, attempts }: AddressPart,
  result: ListResult | undefined,
): RowView {
  const parts = row.addresses.length;
  const report = result === undefined ? null : storedReply(result.body);
  return {
    row: row.row,
    part: parts > 1 ? index + 1 : null,
    parts: parts > 1 ? parts : null,
    column:
      address === null || address.column === layout.addressColumn ? null : (layout.columns[address.column] ?? null),
    email: address?.text ?? null,
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
    relay_provider: report?.relay_provider ?? null,
    checks: report?.checks ?? null,
    // A node of the version before decides nothing.
    decision: report === null || policy === null ? null : (report.decision ?? decide(policy, report)).action,
    canonical_email: report?.canonical_email ?? null,
    is_duplicate: address === null ? null : !isFirst,
    egress: report?.checks.smtp.egress ?? null,
    attempts,
    verified_at: report?.verified_at ?? null,
    problem: row.problem === null ? null : { ...row.problem, error: problemText(row.problem.code) },
  };
}

const isRowProblem = (code: string): code is RowProblem => Object.hasOwn(ROW_PROBLEMS, code);
const problemText = (code: string): string => (isRowProblem(code) ? ROW_PROBLEMS[code] : code);

const EVERY_ROW: RowFilter = { status: null, deliverability: null, reason: null, query: null };

const hasQuery = (address: RowAddress | null, { query }: RowFilter): boolean =>
  query === null || (address?.text.toLowerCase().includes(query.toLowerCase()) ?? false);

function matches(result: ListResult | undefined, kind: RowKind, filter: RowFilter): boolean {
  if (filter.kind != null && kind !== filter.kind) return false;
  if (filter.status !== null && result?.status !== filter.status) return false;
  if (
    filter.deliverability !== null &&
    (result === undefined || !filter.deliverability.includes(result.deliverability))
  )
    return false;
  return filter.reason === null || (result !== undefined && (result.reason ?? 'none') === filter.reason);
}

function resultRow(list: List, keyOf: (index: number) => string, { row, view, kind }: RowEntry): ResultRow {
  const { cells, extra } = row;
  const { columns } = list.layout;
  const data = Object.fromEntries(
    [...columns.map((_, i) => cells[i] ?? ''), ...extra].map((cell, i) => [keyOf(i), cell]),
  );
  if (kind === 'blank') return { cells, extra, result: null, json: { ...view, data } };
  if (view.problem !== null) return { cells, extra, result: { reason: view.problem.code }, json: { ...view, data } };
  const status = view.status ?? (hasEnded(list.status) ? null : PENDING);
  const part = partText(view.part ?? 1, view.parts ?? 1);
  return { cells, extra, result: { ...view, status, part }, json: { ...view, status, data } };
}
