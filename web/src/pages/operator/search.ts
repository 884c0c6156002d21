import { pageSearch, textSearch } from '../filters/search.ts';

export interface AccountsSearch {
  readonly query?: string;
  readonly page?: number;
}

export const accountsSearch = ({ query, page }: Record<string, unknown>): AccountsSearch => ({
  ...textSearch(query),
  ...pageSearch(page),
});
