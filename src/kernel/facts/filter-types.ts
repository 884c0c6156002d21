export const FILTER_TYPES = ['email', 'domain', 'ip_address', 'mx_host'] as const;
export type FilterType = (typeof FILTER_TYPES)[number];

/** What a filter does with what it matches. */
export const FILTER_ACTIONS = ['block', 'allow'] as const;
export type FilterAction = (typeof FILTER_ACTIONS)[number];

/** How the address of a filter is compared: as it is, or by its mailbox. */
export const FILTER_MATCHES = ['exact', 'mailbox'] as const;
export type FilterMatch = (typeof FILTER_MATCHES)[number];
