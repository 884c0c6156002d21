import { severalOf } from '../../../src/kernel/facts/log-filters.ts';

/** The router parses `?query=42` as a number. */
export const textSearch = (query: unknown): { query?: string } =>
  (typeof query === 'string' || typeof query === 'number') && query !== '' ? { query: String(query) } : {};

export const oneOf = <T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((one) => one === value);

/** Those of a closed set, with commas between them as in the URL. */
export function several<T extends string>(values: readonly T[], value: unknown): string | undefined {
  const found = severalOf(values, String(value ?? ''));
  return found.length === 0 ? undefined : found.join(',');
}

export function textOf(value: unknown, max: number): string | undefined {
  // The router parses digits as a number.
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  return text !== '' && text.length <= max ? text : undefined;
}

/** `?create=true`. */
export const flagSearch = <K extends string>(name: K, value: unknown): { [P in K]?: true } =>
  (value === true ? { [name]: true } : {}) as { [P in K]?: true };

/** Page 1 is not written to the URL. */
export const pageSearch = (page: unknown, max: number): { page?: number } =>
  typeof page === 'number' && Number.isInteger(page) && page > 1 && page <= max ? { page } : {};
