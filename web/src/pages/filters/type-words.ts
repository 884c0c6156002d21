import type { FilterType } from './search.ts';

/** What a filter of each type stops. */
export const TYPE_WORDS: Readonly<Record<FilterType, { one: string; many: string; stops: string }>> = {
  email: { one: 'Address', many: 'Addresses', stops: 'this address' },
  domain: { one: 'Domain', many: 'Domains', stops: 'every address at it and its sub-domains' },
  ip_address: { one: 'Network', many: 'Networks', stops: 'requests for clients from there' },
};
