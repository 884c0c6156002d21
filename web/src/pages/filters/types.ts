import type { Filter } from '../../api/schema.ts';

export type FilterType = Filter['filter_type'];

export const FILTER_TYPE_LABELS: Readonly<Record<FilterType, { one: string; many: string; blocks: string }>> = {
  email: { one: 'Email address', many: 'Email addresses', blocks: 'this address' },
  domain: { one: 'Domain', many: 'Domains', blocks: 'all addresses at this domain and its subdomains' },
  ip_address: { one: 'IP network', many: 'IP networks', blocks: 'requests for clients in this network' },
};
