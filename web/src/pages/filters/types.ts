import { t } from '@lingui/core/macro';
import type { FilterAction } from '../../../../src/kernel/facts/filter-types.ts';
import type { Filter } from '../../api/schema.ts';

export type FilterType = Filter['filter_type'];

export const FILTER_TYPE_LABELS: Readonly<Record<FilterType, { one: string; many: string; covers: string }>> = {
  email: { one: t`Email address`, many: t`Email addresses`, covers: t`this address` },
  domain: { one: t`Domain`, many: t`Domains`, covers: t`all addresses at this domain and its subdomains` },
  ip_address: { one: t`IP network`, many: t`IP networks`, covers: t`requests for clients in this network` },
  mx_host: { one: t`Mail host`, many: t`Mail hosts`, covers: t`all addresses at domains with this mail host` },
};

/** `blocks`: as in "This blocks this address". */
export const ACTION_LABELS: Readonly<Record<FilterAction, { one: string; does: string }>> = {
  block: { one: t`Block`, does: 'blocks' },
  allow: { one: t`Allow`, does: 'allows' },
};

export const MATCH_LABELS: Readonly<Record<Filter['match'], string>> = {
  exact: t`This address only`,
  mailbox: t`Every spelling of its mailbox`,
};

/** The kind, and what is not as usual: "Email address, every spelling". */
export const kindOf = ({ filter_type, match }: Pick<Filter, 'filter_type' | 'match'>): string =>
  match === 'mailbox' ? t`Mailbox` : FILTER_TYPE_LABELS[filter_type].one;

/** What a filter covers, as in "This blocks …". */
export const coverOf = ({ filter_type, match }: Pick<Filter, 'filter_type' | 'match'>): string =>
  match === 'mailbox' ? t`every spelling of this mailbox` : FILTER_TYPE_LABELS[filter_type].covers;

/** What of a filter can be set, to add it again. */
export const settingsOf = ({ value, reason, filter_type, action, match, expires_at }: Filter) => ({
  value,
  reason,
  filter_type,
  action,
  match,
  ...(expires_at === null ? {} : { expires_at }),
});
