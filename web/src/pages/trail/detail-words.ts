/** The details of an audit log's entry, put in words. They come from the store as they were written then: all are checked. */
import type { Trail } from '../../api/schema.ts';
import { count, counted, PLAN_NAMES } from '../../parts/words.ts';

export type Detail = Trail['entries'][number]['detail'];

export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const isNegative = (value: unknown): boolean => isNumber(value) && value < 0;
export const text = (value: unknown): string => (typeof value === 'string' ? value : '?');
export const numeral = (value: unknown): string => (isNumber(value) ? count(value) : '?');
export const quoted = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? `“${value}”` : null;
export const asRole = (role: unknown): string | null => (typeof role === 'string' ? `as ${role}` : null);
export const creditsOf = (value: unknown): string | null => (isNumber(value) ? counted(value, 'credit') : null);
export const ending = (lastFour: unknown): string | null =>
  typeof lastFour === 'string' ? `ending in ${lastFour}` : null;
export const listed = (parts: readonly (string | null)[]): string | null =>
  parts.filter((part) => part !== null).join(', ') || null;

export function planName(plan: unknown): string {
  return PLAN_NAMES[text(plan)] ?? text(plan);
}
export function orServers(days: unknown): string {
  return isNumber(days) ? counted(days, 'day') : "the server's own";
}
export function limit(requests: unknown): string {
  return isNumber(requests) ? `${count(requests)} requests` : "the plan's own";
}
export function granted({ credits, note }: Detail): string | null {
  return listed([isNumber(credits) ? counted(Math.abs(credits), 'credit') : null, quoted(note)]);
}
export function addresses(ips: unknown): string {
  return Array.isArray(ips) && ips.length > 0 ? ips.map(text).join(', ') : 'all addresses';
}
export function grace(seconds: unknown): string | null {
  if (!isNumber(seconds)) return null;
  if (seconds === 0) return 'the old one refused at once';
  const [size, one] = seconds % 86_400 === 0 ? [86_400, 'day'] : seconds % 3600 === 0 ? [3600, 'hour'] : [60, 'minute'];
  return `the old one valid for ${counted(Math.round(seconds / (size as number)), one as string)} more`;
}
export function keyChange({ name, allow_ips }: Detail): string | null {
  const ips = change(addresses)(allow_ips);
  return listed([change((value) => `“${text(value)}”`)(name), ips === null ? null : `addresses ${ips}`]);
}

/** `from A to B`, each in words. */
export function change(inWords: (value: unknown) => string): (detail: unknown) => string | null {
  return (detail) => {
    if (typeof detail !== 'object' || detail === null) return null;
    const { from, to } = detail as Detail;
    return `from ${inWords(from)} to ${inWords(to)}`;
  };
}
