import { ACCOUNTS_PAGE } from '../../api/limits.ts';
import { pageSearch, textSearch } from '../../parts/search-params.ts';

export interface AccountsSearch {
  readonly query?: string;
  readonly page?: number;
}

export const accountsSearch = ({ query, page }: Record<string, unknown>): AccountsSearch => ({
  ...textSearch(query),
  ...pageSearch(page, ACCOUNTS_PAGE.max),
});
