import { given } from '../../../../src/kernel/facts/given.ts';
import { FILTERS_PAGE, LIST_QUERY_LENGTH, LOG_QUERY_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { LIST_STATUSES, type ListStatus, ROW_KINDS, type RowKind } from '../../../../src/kernel/facts/lists.ts';
import { LEVELS, type Level } from '../../../../src/kernel/facts/plans.ts';
import { REASON_FILTERS } from '../../../../src/kernel/facts/reasons.ts';
import { LIST_ORDERS } from '../../../../src/kernel/facts/sort-orders.ts';
import type { Verification } from '../../api/schema.ts';
import { oneOf, pageSearch, textOf } from '../../parts/search-params.ts';
import { type SortSearch, sortSearch } from '../../parts/sorting.tsx';
import { VERDICTS } from './deliverability.ts';

type ListSort = keyof typeof LIST_ORDERS;

/** Search parameters of the page of all lists. */
export interface ListsSearch extends SortSearch<ListSort> {
  query?: string;
  status?: ListStatus;
  page?: number;
}

export const listsSearch = (search: Record<string, unknown>): ListsSearch => ({
  ...given({
    query: textOf(search.query, LIST_QUERY_LENGTH.max),
    status: oneOf(LIST_STATUSES, search.status),
  }),
  ...sortSearch(LIST_ORDERS, search),
  ...pageSearch(search.page, FILTERS_PAGE.max),
});

/** Search parameters of a list's page: which rows, and which one is open. */
export interface ListSearch {
  verdict?: Verification['deliverability'];
  reason?: (typeof REASON_FILTERS)[number];
  kind?: RowKind;
  /** The addresses that are asked about again, instead of rows. */
  show?: 'deferred';
  query?: string;
  /** Id of the verification in the drawer. */
  open?: string;
  /** The one to start it at. */
  level?: Level;
}

export const listSearch = (search: Record<string, unknown>): ListSearch =>
  given({
    verdict: oneOf(VERDICTS, search.verdict),
    reason: oneOf(REASON_FILTERS, search.reason),
    kind: oneOf(ROW_KINDS, search.kind),
    show: oneOf(['deferred'] as const, search.show),
    query: textOf(search.query, LIST_QUERY_LENGTH.max),
    open: textOf(search.open, LOG_QUERY_LENGTH.max),
    level: oneOf(LEVELS, search.level),
  });
