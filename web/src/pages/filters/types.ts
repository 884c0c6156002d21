import type { Filter } from '../../api/schema.ts';

export type FilterType = Filter['filter_type'];

export const FILTER_TYPE_LABELS: Readonly<Record<FilterType, { one: string; many: string; covers: string }>> = {
  email: { one: 'Email address', many: 'Email addresses', covers: 'this address' },
  domain: { one: 'Domain', many: 'Domains', covers: 'all addresses at this domain and its subdomains' },
  ip_address: { one: 'IP network', many: 'IP networks', covers: 'requests for clients in this network' },
  mx_host: { one: 'Mail host', many: 'Mail hosts', covers: 'all addresses at domains with this mail host' },
};

/** `blocks`: as in "This blocks this address". */
export const ACTION_LABELS: Readonly<Record<Filter['action'], { one: string; does: string }>> = {
  block: { one: 'Block', does: 'blocks' },
  allow: { one: 'Allow', does: 'allows' },
};

export const MATCH_LABELS: Readonly<Record<Filter['match'], string>> = {
  exact: 'This address only',
  mailbox: 'Every spelling of its mailbox',
};

/** The kind, and what is not as usual: "Email address, every spelling". */
export const kindOf = ({ filter_type, match }: Pick<Filter, 'filter_type' | 'match'>): string =>
  match === 'mailbox' ? 'Mailbox' : FILTER_TYPE_LABELS[filter_type].one;

/** What a filter covers, as in "This blocks …". */
export const coverOf = ({ filter_type, match }: Pick<Filter, 'filter_type' | 'match'>): string =>
  match === 'mailbox' ? 'every spelling of this mailbox' : FILTER_TYPE_LABELS[filter_type].covers;

/** What of a filter can be set, to add it again. */
export const settingsOf = ({ value, reason, filter_type, action, match, expires_at }: Filter) => ({
  ...{ value, reason, filter_type, action, match },
  ...(expires_at === null ? {} : { expires_at }),
});
