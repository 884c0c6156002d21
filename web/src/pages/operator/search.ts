import { ACCOUNTS_PAGE } from '../../../../src/kernel/facts/limits.ts';
import { flagSearch, pageSearch, textSearch } from '../../parts/search-params.ts';

export interface AccountsSearch {
  readonly query?: string;
  readonly page?: number;
  /** Opens the dialog that creates one. */
  readonly create?: true;
}

export const accountsSearch = ({ query, page, create }: Record<string, unknown>): AccountsSearch => ({
  ...textSearch(query),
  ...pageSearch(page, ACCOUNTS_PAGE.max),
  ...flagSearch('create', create),
});
