/** Services whose API is served under `/compat/<vendor>`. */
export const COMPAT_VENDORS = ['reacher', 'kickbox', 'zerobounce', 'neverbounce', 'emailable'] as const;
export type CompatVendor = (typeof COMPAT_VENDORS)[number];
