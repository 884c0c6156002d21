import { type Canonical, canonicalDomain, canonicalEmail } from '../engine/address/parse.ts';
import { trimBlanks } from '../kernel/blanks.ts';
import type { Clock } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import type { FilterType } from '../kernel/facts/filter-types.ts';
import type { FilterSort, Sorting } from '../kernel/facts/sort-orders.ts';
import { canonicalCidr } from '../kernel/ip.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type { AccountId, Actor, Filter, FilterAdded, Page, ReplyToStore, Store } from '../store/store.ts';
import { actorFor, type ChangedBy } from './audit-log.ts';
import { GiveWay } from './lists/give-way.ts';

export type { Filter, FilterAdded };

export interface NewFilter {
  readonly filterType: FilterType | null;
  readonly value: string;
  readonly reason: string | null;
}

/** The outcome of one line of an import. */
export type ImportOutcome =
  | { readonly outcome: 'added'; readonly filter: Filter }
  | { readonly outcome: 'exists' }
  /** `error`: one sentence. */
  | { readonly outcome: 'invalid'; readonly error: string };

export interface FilterService {
  /** `stored`: the reply for the Idempotency-Key, written with the filter. Throws ApiError `invalid_filter`. */
  add(
    account: AccountId,
    input: NewFilter,
    by: ChangedBy,
    stored?: ReplyToStore<FilterAdded> | null,
  ): Promise<FilterAdded>;
  /**
   * One outcome per input, in the same order. Invalid inputs, and those that already are ApiErrors, do not affect
   * others.
   */
  addMany(account: AccountId, inputs: readonly (NewFilter | ApiError)[], by: Actor): Promise<ImportOutcome[]>;
  list(
    account: AccountId,
    input: {
      filterType: FilterType | null;
      query: string | null;
      sort?: Sorting<FilterSort>;
      page: number;
      perPage: number;
    },
  ): Promise<Page<Filter>>;
  /** Throws ApiError `not_found`, also for a filter of another account. */
  remove(account: AccountId, id: number, by: ChangedBy): Promise<void>;
  /** All filters, oldest first, in batches. */
  all(account: AccountId): AsyncGenerator<Filter[]>;
}

interface Parts {
  readonly store: Pick<Store, 'filters' | 'keys'>;
  readonly clock: Clock;
  /** How many there were so far. */
  readonly singleCalls: () => number;
}

export function createFilterService({ store: { filters, keys }, clock, singleCalls }: Parts): FilterService {
  const actorOf = actorFor(keys);
  const way = new GiveWay(clock, singleCalls);
  return {
    async add(account, input, by, stored = null) {
      return filters.add(account, toStored(input), await actorOf(by), stored);
    },
    async addMany(account, inputs, by) {
      const parsed = inputs.map((input) => (input instanceof ApiError ? input : toStoredOrError(input)));
      const valid = parsed.flatMap((input) => (input instanceof ApiError ? [] : [input]));
      const began = clock.elapsed();
      const stored = valid.length === 0 ? [] : await filters.addMany(account, valid, by);
      // An import is many of these, each sent after the reply to the one before.
      await way.rest(clock.elapsed() - began);
      let next = 0;
      return parsed.map((input): ImportOutcome => {
        if (input instanceof ApiError) return { outcome: 'invalid', error: input.message };
        const outcome = stored[next++]!;
        return outcome.added ? { outcome: 'added', filter: outcome.filter } : { outcome: 'exists' };
      });
    },
    list: (account, { page, perPage, ...wanted }) =>
      filters.list(account, { ...wanted, offset: (page - 1) * perPage, limit: perPage }),
    async remove(account, id, by) {
      const removed = await filters.remove(account, id, await actorOf(by));
      if (!removed) throw new ApiError('not_found', `There is no filter ${id}.`);
    },
    async *all(account) {
      for (let after = 0; ; ) {
        const batch = await andRest(() => filters.from(account, after, EXPORT_ROWS));
        if (batch.length > 0) yield batch;
        if (batch.length < EXPORT_ROWS) return;
        after = batch.at(-1)!.id;
      }
    },
  };
}

const toStored = (input: NewFilter) => ({ ...canonicalFilter(input), reason: input.reason });

function toStoredOrError(input: NewFilter) {
  try {
    return toStored(input);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const EXPECTED: Readonly<Record<FilterType, string>> = {
  email: 'an email address such as spam@example.com',
  domain: 'a domain such as example.com',
  ip_address: 'an IPv4 or IPv6 address or a CIDR such as 192.0.2.0/24',
};

/** Trimmed and in canonical form. Without a given type, it is derived from the value. */
function canonicalFilter(input: NewFilter): { filterType: FilterType; value: string } {
  const text = trimBlanks(input.value);
  const filterType = input.filterType ?? typeOf(text);
  const value = canonical(filterType, text);
  if (value !== null) return { filterType, value };
  const named = input.filterType ? `For the filter type "${filterType}", value` : 'value';
  throw new ApiError('invalid_filter', `${named} must be ${EXPECTED[filterType]}.`, { field: 'value' });
}

function typeOf(text: string): FilterType {
  if (text.includes('@')) return 'email';
  // Looks like an IP address, so that a malformed one is not reported as an invalid domain.
  return /^[\d.]+(\/\d*)?$/.test(text) || text.includes(':') ? 'ip_address' : 'domain';
}

/** A TLD may be newer than the lists, and an address under it is matched before the DNS is asked. */
const ANY_TLD = { allowUnknownTld: true };

function canonical(type: FilterType, text: string): string | null {
  switch (type) {
    case 'email':
      return orNull(canonicalEmail(text, ANY_TLD));
    case 'domain':
      // The dot of the root, as zone files and resolvers write it.
      return orNull(canonicalDomain(text.replace(/(?<=[^.])\.$/, ''), ANY_TLD));
    case 'ip_address':
      return canonicalCidr(text);
  }
}

const orNull = (canonical: Canonical): string | null => (canonical.ok ? canonical.value : null);
