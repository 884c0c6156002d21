import type { FilterType } from '../../kernel/facts/filter-types.ts';
import type { FilterSort, Sorting } from '../../kernel/facts/sort-orders.ts';
import type { AccountId, Page } from './accounts.ts';
import type { Actor } from './actor.ts';
import type { ReplyToStore } from './idempotency.ts';

export interface Filter {
  /** Counted within the account, and never given again. */
  readonly id: number;
  readonly filterType: FilterType;
  /** Canonical form. */
  readonly value: string;
  readonly reason: string | null;
  readonly createdAt: number;
}

/** Canonical values under which the account's filters could match this request: email, then domains, then IPs. */
export interface FilterKeys {
  readonly email: string | null;
  /** The domain and its parents, longest first. */
  readonly domains: readonly string[];
  /** The end user's IP: filters on it and on blocks that contain it match, the most specific first. */
  readonly ip: string | null;
}

export interface Filters {
  /** Throws ApiError `too_many_filters`; so does `addMany`, which then adds none. */
  add(
    account: AccountId,
    input: { filterType: FilterType; value: string; reason: string | null },
    by?: Actor,
    stored?: ReplyToStore<FilterAdded> | null,
  ): Promise<FilterAdded>;
  /** Many at once in one transaction (imports, benches); answers one outcome for each, in their order. */
  addMany(
    account: AccountId,
    inputs: readonly { filterType: FilterType; value: string; reason: string | null }[],
    by?: Actor,
  ): Promise<FilterAdded[]>;
  /** Oldest first, ids above `after`: for going through all of them. */
  from(account: AccountId, after: number, limit: number): Promise<Filter[]>;
  /**
   * Sorted by `sort`, newest first by default and where it leaves a tie; filters without a reason come after those with
   * one. `query` is searched literally (no wildcards), without regard to case, in value and
   * reason.
   */
  list(
    account: AccountId,
    input: {
      filterType: FilterType | null;
      query: string | null;
      sort?: Sorting<FilterSort>;
      offset: number;
      limit: number;
    },
  ): Promise<Page<Filter>>;
  /**
   * The filter that matches, for each: email before domain before IP, the most specific first. Null, without a call of
   * `keys`, for an account that has no filters.
   */
  matchMany(account: AccountId, keys: () => readonly FilterKeys[]): Promise<(Filter | null)[] | null>;
  remove(account: AccountId, id: number, by?: Actor): Promise<boolean>;
}

export type FilterAdded =
  | { readonly added: true; readonly filter: Filter }
  | { readonly added: false; readonly existingId: number };
