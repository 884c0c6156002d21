export const FILTER_TYPES = ['email', 'domain', 'ip_address'] as const;
export type FilterType = (typeof FILTER_TYPES)[number];

export const FILTER_ACTIONS = ['block'] as const;
export type FilterAction = (typeof FILTER_ACTIONS)[number];
