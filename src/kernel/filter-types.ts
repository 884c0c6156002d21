export const FILTER_TYPES = ['email', 'domain', 'ip_address'] as const;
export type FilterType = (typeof FILTER_TYPES)[number];
