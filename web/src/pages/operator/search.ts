import { ACCOUNTS_PAGE } from '../../../../src/kernel/facts/limits.ts';
import { ACCOUNT_ORDERS, type AccountSort } from '../../../../src/kernel/facts/sort-orders.ts';
import { flagSearch, pageSearch, textSearch } from '../../parts/search-params.ts';
import { type SortSearch, sortSearch } from '../../parts/sorting.tsx';

export interface AccountsSearch extends SortSearch<AccountSort> {
  readonly query?: string;
  readonly page?: number;
  /** Opens the dialog that creates one. */
  readonly create?: true;
}

export const accountsSearch = (search: Record<string, unknown>): AccountsSearch => ({
  ...textSearch(search.query),
  ...sortSearch(ACCOUNT_ORDERS, search),
  ...pageSearch(search.page, ACCOUNTS_PAGE.max),
  ...flagSearch('create', search.create),
});
