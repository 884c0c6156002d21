import { type Canonical, canonicalDomain, canonicalEmail } from '../engine/address/canonical.ts';
import { canonicalCidr } from '../engine/address/ip.ts';
import { Refusal } from '../kernel/errors.ts';
import type { AccountId, Filter, Filters, FilterType, Page } from '../store/store.ts';

export type { Filter, FilterType };

export interface NewFilter {
  readonly filterType: FilterType | null;
  readonly value: string;
  readonly reason: string | null;
}

export interface FilterService {
  /** Throws Refusal `invalid_filter` or `filter_exists`. */
  add(account: AccountId, input: NewFilter): Promise<Filter>;
  list(
    account: AccountId,
    input: { filterType: FilterType | null; query: string | null; page: number; perPage: number },
  ): Promise<Page<Filter>>;
  /** Throws Refusal `not_found`, also for what belongs to another account. */
  remove(account: AccountId, id: number): Promise<void>;
}

export function createFilterService(filters: Filters): FilterService {
  return {
    async add(account, input) {
      const canonical = canonicalFilter(input);
      const outcome = await filters.add(account, { ...canonical, reason: input.reason });
      if (outcome.added) return outcome.filter;
      throw new Refusal('filter_exists', undefined, { field: 'value', existing_id: outcome.existingId });
    },
    list: (account, { filterType, query, page, perPage }) =>
      filters.list(account, { filterType, query, offset: (page - 1) * perPage, limit: perPage }),
    async remove(account, id) {
      if (!(await filters.remove(account, id))) throw new Refusal('not_found', `There is no filter ${id}.`);
    },
  };
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
