import { type Canonical, canonicalDomain, canonicalEmail } from '../engine/address/canonical.ts';
import { canonicalCidr } from '../engine/address/ip.ts';
import { Refusal } from '../kernel/errors.ts';
import type { AccountId, Actor, Caller, Filter, FilterType, Page, Store } from '../store/store.ts';

export type { Filter, FilterType };

export interface NewFilter {
  readonly filterType: FilterType | null;
  readonly value: string;
  readonly reason: string | null;
}

/** What became of one line of an import. */
export type Imported =
  | { readonly outcome: 'added'; readonly filter: Filter }
  | { readonly outcome: 'exists' }
  /** `error`: one sentence. */
  | { readonly outcome: 'invalid'; readonly error: string };

export interface FilterService {
  /** Throws Refusal `invalid_filter` or `filter_exists`. */
  add(account: AccountId, input: NewFilter, by: Actor): Promise<Filter>;
  /** One outcome for each, in their order; what is refused does not hold up the others. A Refusal stays one. */
  addMany(account: AccountId, inputs: readonly (NewFilter | Refusal)[], by: Actor): Promise<Imported[]>;
  list(
    account: AccountId,
    input: { filterType: FilterType | null; query: string | null; page: number; perPage: number },
  ): Promise<Page<Filter>>;
  /** Throws Refusal `not_found`, also for what belongs to another account. */
  remove(account: AccountId, id: number, by: Actor): Promise<void>;
  /** All of them, oldest first, in portions. */
  all(account: AccountId): AsyncGenerator<Filter[]>;
  /** Who an API key is, for the audit log. */
  actorOf(caller: Caller, ip: string): Promise<Actor>;
}

const PORTION = 1000;

export function createFilterService({ filters, keys }: Pick<Store, 'filters' | 'keys'>): FilterService {
  return {
    async add(account, input, by) {
      const outcome = await filters.add(account, toStored(input), by);
      if (outcome.added) return outcome.filter;
      throw new Refusal('filter_exists', undefined, { field: 'value', existing_id: outcome.existingId });
    },
    async addMany(account, inputs, by) {
      const read = inputs.map((input) => (input instanceof Refusal ? input : usableOrRefusal(input)));
      const usable = read.flatMap((input) => (input instanceof Refusal ? [] : [input]));
      const stored = usable.length === 0 ? [] : await filters.addMany(account, usable, by);
      let next = 0;
      return read.map((input): Imported => {
        if (input instanceof Refusal) return { outcome: 'invalid', error: input.message };
        const outcome = stored[next++]!;
        return outcome.added ? { outcome: 'added', filter: outcome.filter } : { outcome: 'exists' };
      });
    },
    list: (account, { filterType, query, page, perPage }) =>
      filters.list(account, { filterType, query, offset: (page - 1) * perPage, limit: perPage }),
    async remove(account, id, by) {
      if (!(await filters.remove(account, id, by))) throw new Refusal('not_found', `There is no filter ${id}.`);
    },
    async *all(account) {
      for (let after = 0; ; ) {
        const portion = await filters.from(account, after, PORTION);
        if (portion.length > 0) yield portion;
        if (portion.length < PORTION) return;
        after = portion.at(-1)!.id;
      }
    },
    async actorOf({ keyId }, ip) {
      return { kind: 'key', id: keyId, name: (await keys.get(keyId))?.name ?? keyId, ip };
    },
  };
}

const toStored = (input: NewFilter) => ({ ...canonicalFilter(input), reason: input.reason });

function usableOrRefusal(input: NewFilter) {
  try {
    return toStored(input);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

const WANTED: Readonly<Record<FilterType, string>> = {
  email: 'an email address such as spam@example.com',
  domain: 'a domain such as example.com',
  ip_address: 'an IPv4 or IPv6 address or a CIDR such as 192.0.2.0/24',
};

/** Trimmed and in canonical form, with the type that the value shows where none was named. */
export function canonicalFilter(input: NewFilter): { filterType: FilterType; value: string } {
  const text = input.value.trim();
  const filterType = input.filterType ?? typeOf(text);
  const value = canonical(filterType, text);
  if (value !== null) return { filterType, value };
  const named = input.filterType ? `For the filter type "${filterType}", value` : 'value';
  throw new Refusal('invalid_filter', `${named} must be ${WANTED[filterType]}.`, { field: 'value' });
}

function typeOf(text: string): FilterType {
  if (text.includes('@')) return 'email';
  // What can only be meant as an address of the network is told so, not that it is no domain.
  return /^[\d.]+(\/\d*)?$/.test(text) || text.includes(':') ? 'ip_address' : 'domain';
}

function canonical(type: FilterType, text: string): string | null {
  switch (type) {
    case 'email':
      return orNull(canonicalEmail(text));
    case 'domain':
      return orNull(canonicalDomain(text));
    case 'ip_address':
      return canonicalCidr(text);
  }
}

const orNull = (canonical: Canonical): string | null => (canonical.ok ? canonical.value : null);
