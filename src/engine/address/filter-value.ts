/** What the value of a filter stands for, and its canonical form. */
import type { FilterType } from '../../kernel/facts/filter-types.ts';
import { canonicalCidr } from '../../kernel/ip.ts';
import { type Canonical, canonicalDomain, canonicalEmail } from './parse.ts';

/** Stands in front of a suffix of mail hosts. */
export const ANY_LABEL = '*.';

/** Returns the type of a trimmed value that is said to be of none; mail hosts look like domains. */
export function filterTypeOf(text: string): Exclude<FilterType, 'mx_host'> {
  if (text.includes('@')) return 'email';
  // Looks like an IP address, so that a malformed one is not reported as an invalid domain.
  return /^[\d.]+(\/\d*)?$/.test(text) || text.includes(':') ? 'ip_address' : 'domain';
}

/** A TLD may be newer than the lists, and an address under it is matched before the DNS is asked. */
const ANY_TLD = { allowUnknownTld: true };

/** Returns the value in canonical form; null if it is none of the type. */
export function filterValue(type: FilterType, text: string): string | null {
  switch (type) {
    case 'email':
      return valueOrNull(canonicalEmail(text, ANY_TLD));
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
  valueOrNull(canonicalDomain(text.replace(/(?<=[^.])\.$/, ''), ANY_TLD));

const valueOrNull = (canonical: Canonical): string | null => (canonical.ok ? canonical.value : null);
