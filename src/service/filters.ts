import { mailboxOf } from '../engine/address/mailbox.ts';
import { type Canonical, canonicalDomain, canonicalEmail, isPublicSuffix } from '../engine/address/parse.ts';
import type { DomainData } from '../engine/data/domain-data.ts';
import { trimBlanks } from '../kernel/blanks.ts';
import { type Clock, toDate } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import type { FilterAction, FilterMatch, FilterType } from '../kernel/facts/filter-types.ts';
import { FILTER_EXPIRY_YEARS } from '../kernel/facts/limits.ts';
import type { FilterSort, Sorting } from '../kernel/facts/sort-orders.ts';
import { counted } from '../kernel/format.ts';
import { canonicalCidr } from '../kernel/ip.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type {
  AccountId,
  Actor,
  Filter,
  FilterAdded,
  FilterChange,
  FilterInput,
  Page,
  ReplyToStore,
  Store,
} from '../store/store.ts';
import { actorFor, type ChangedBy } from './audit-log.ts';
import { GiveWay } from './lists/give-way.ts';

export type { Filter, FilterAdded };

export interface NewFilter {
  readonly filterType: FilterType | null;
  readonly value: string;
  readonly reason: string | null;
  readonly action: FilterAction;
  readonly match: FilterMatch;
  readonly expiresAt: number | null;
}

/** What is left out stays. */
export interface ChangedFilter {
  readonly reason?: string | null;
  readonly action?: FilterAction;
  readonly match?: FilterMatch;
  readonly expiresAt?: number | null;
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
  get(account: AccountId, id: number): Promise<Filter>;
  /** Throws ApiError: `not_found`, `invalid_filter`, `filter_exists`. */
  change(account: AccountId, id: number, change: ChangedFilter, by: ChangedBy): Promise<Filter>;
  /** What whoever set the filter should know. */
  warnings(filter: Filter): readonly string[];
  /** Throws ApiError `not_found`, also for a filter of another account. */
  remove(account: AccountId, id: number, by: ChangedBy): Promise<void>;
  /** All filters, oldest first, in batches. */
  all(account: AccountId): AsyncGenerator<Filter[]>;
}

interface Parts {
  readonly store: Pick<Store, 'clock' | 'filters' | 'keys'>;
  readonly clock: Clock;
  readonly domainData: () => DomainData;
  /** How many there were so far. */
  readonly singleCalls: () => number;
}

export function createFilterService({ store, clock, domainData, singleCalls }: Parts): FilterService {
  const { filters, keys } = store;
  const actorOf = actorFor(keys);
  const way = new GiveWay(clock, singleCalls);
  /** The store's clock, where one of the filters has to be compared with it. */
  const timeFor = async (inputs: readonly (NewFilter | ApiError)[]): Promise<number> =>
    inputs.some((input) => !(input instanceof ApiError) && input.expiresAt !== null)
      ? (await store.clock.peek()).now
      : clock.now();
  return {
    async add(account, input, by, stored = null) {
      const now = await timeFor([input]);
      return filters.add(account, toStored(input, now), await actorOf(by), stored);
    },
    async addMany(account, inputs, by) {
      const now = await timeFor(inputs);
      const parsed = inputs.map((input) => (input instanceof ApiError ? input : toStoredOrError(input, now)));
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
    async get(account, id) {
      const filter = await filters.get(account, id);
      if (filter === null) throw noFilter(id);
      return filter;
    },
    async change(account, id, change, by) {
      const plan = (filter: Filter, now: number) => planChange(filter, change, now);
      const changed = await filters.change(account, id, plan, await actorOf(by));
      if (changed === null) throw noFilter(id);
      if ('existingId' in changed) throw filterExists(changed.existingId);
      return changed;
    },
    warnings({ filterType, action, value }) {
      if (filterType !== 'mx_host' || action !== 'block') return [];
      const below = value.startsWith(ANY_LABEL);
      const shared = domainData().sharedHosts(below ? value.slice(ANY_LABEL.length) : value, below);
      if (shared.length === 0) return [];
      const named = shared.slice(0, PROVIDERS_NAMED).join(', ');
      const rest = shared.length - PROVIDERS_NAMED;
      const whose = rest > 0 ? `${named} and ${rest} more` : named;
      return [
        `${value} covers mail hosts of ${whose}, which many domains share: addresses at all of them are blocked.`,
      ];
    },
    list: (account, { page, perPage, ...wanted }) =>
      filters.list(account, { ...wanted, offset: (page - 1) * perPage, limit: perPage }),
    async remove(account, id, by) {
      const removed = await filters.remove(account, id, await actorOf(by));
      if (!removed) throw noFilter(id);
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

const noFilter = (id: number) => new ApiError('not_found', `There is no filter ${id}.`);

export const filterExists = (id: number): ApiError =>
  new ApiError('filter_exists', undefined, { field: 'value', existing_id: id });

const invalid = (field: string, sentence: string) => new ApiError('invalid_filter', sentence, { field });

/** Throws ApiError `invalid_filter`. `now`: the store's clock. */
function toStored({ reason, action, match, expiresAt, ...input }: NewFilter, now: number): FilterInput {
  const { filterType, value } = canonicalFilter(input);
  if (expiresAt !== null) checkExpiry(expiresAt, now);
  const filter = { filterType, value: matchedValue(filterType, match, value), reason, action, match, expiresAt };
  checkAction(filter);
  return filter;
}

function toStoredOrError(input: NewFilter, now: number) {
  try {
    return toStored(input, now);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The change of a filter as it is stored. Throws ApiError `invalid_filter`. */
function planChange(filter: Filter, { match, ...change }: ChangedFilter, now: number): FilterChange {
  const { expiresAt = filter.expiresAt } = change;
  if (expiresAt !== null && expiresAt !== filter.expiresAt) checkExpiry(expiresAt, now);
  checkAction({ ...filter, ...change });
  if (match === undefined || match === filter.match) return change;
  return { ...change, matching: { match, value: matchedValue(filter.filterType, match, filter.value) } };
}

/** What is compared with the mailbox of an address is a mailbox, too. */
function matchedValue(filterType: FilterType, match: FilterMatch, value: string): string {
  if (match === 'exact') return value;
  if (filterType !== 'email') throw invalid('match', 'match can be "mailbox" only where filter_type is "email".');
  return mailboxOf(value);
}

function checkExpiry(expiresAt: number, now: number): void {
  const last = toDate(now);
  last.setUTCFullYear(last.getUTCFullYear() + FILTER_EXPIRY_YEARS);
  if (expiresAt > now && expiresAt <= last.getTime()) return;
  const years = counted(FILTER_EXPIRY_YEARS, 'year');
  throw invalid('expires_at', `expires_at must be in the future, and at most ${years} ahead.`);
}

/** An `allow` that covers everybody would switch the lists off. */
function checkAction({ filterType, value, action }: Pick<FilterInput, 'filterType' | 'value' | 'action'>): void {
  if (action === 'block') return;
  const covers = ALLOWED_FOR_ALL[filterType](value);
  if (covers !== null)
    throw invalid(
      'value',
      `${value} is ${covers}: to allow all of it would switch the lists off. Allow what is below.`,
    );
}

const PUBLIC_SUFFIX = 'a public suffix';
/** As what a value of this type covers everybody; null: it does not. */
const ALLOWED_FOR_ALL: Readonly<Record<FilterType, (value: string) => string | null>> = {
  email: () => null,
  domain: (value) => (isPublicSuffix(value) ? PUBLIC_SUFFIX : null),
  ip_address: (value) => (value.endsWith('/0') ? 'every address' : null),
  mx_host: (value) =>
    isPublicSuffix(value.startsWith(ANY_LABEL) ? value.slice(ANY_LABEL.length) : value) ? PUBLIC_SUFFIX : null,
};

/** In front of a suffix of mail hosts. */
const ANY_LABEL = '*.';
/** In a warning. */
const PROVIDERS_NAMED = 3;

const EXPECTED: Readonly<Record<FilterType, string>> = {
  email: 'an email address such as spam@example.com',
  domain: 'a domain such as example.com',
  ip_address: 'an IPv4 or IPv6 address or a CIDR such as 192.0.2.0/24',
  mx_host: 'a mail host such as mx.example.com or *.example.com',
};

/** Trimmed and in canonical form. Without a given type, it is derived from the value. */
function canonicalFilter(input: Pick<NewFilter, 'filterType' | 'value'>): { filterType: FilterType; value: string } {
  const text = trimBlanks(input.value);
  const filterType = input.filterType ?? typeOf(text);
  const value = canonical(filterType, text);
  if (value !== null) return { filterType, value };
  const named = input.filterType ? `For the filter type "${filterType}", value` : 'value';
  throw invalid('value', `${named} must be ${EXPECTED[filterType]}.`);
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
      return canonicalName(text);
    case 'ip_address':
      return canonicalCidr(text);
    case 'mx_host': {
      const below = text.startsWith(ANY_LABEL);
      const name = canonicalName(below ? text.slice(ANY_LABEL.length) : text);
      return name !== null && below ? `${ANY_LABEL}${name}` : name;
    }
  }
}

/** Also with the dot of the root, as zone files and resolvers write it. */
const canonicalName = (text: string): string | null =>
  orNull(canonicalDomain(text.replace(/(?<=[^.])\.$/, ''), ANY_TLD));

const orNull = (canonical: Canonical): string | null => (canonical.ok ? canonical.value : null);
