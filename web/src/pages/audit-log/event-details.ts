/** Formatting of the details of audit log entries. Old entries may have another shape, so every value is checked. */
import type { AuditLog } from '../../api/schema.ts';
import { formatDateTime, formatNumber, pluralize } from '../../parts/format.ts';
import { PLAN_LABELS, parsePlan } from '../../parts/plans.ts';

export type Detail = AuditLog['entries'][number]['detail'];

export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const isNegative = (value: unknown): boolean => isNumber(value) && value < 0;
export const text = (value: unknown): string => (typeof value === 'string' ? value : '?');
export const numeral = (value: unknown): string => (isNumber(value) ? formatNumber(value) : '?');
export const quoted = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? `“${value}”` : null;
export const asRole = (role: unknown): string | null => (typeof role === 'string' ? `as ${role}` : null);
export const creditsOf = (value: unknown): string | null => (isNumber(value) ? pluralize(value, 'credit') : null);
export const ending = (lastFour: unknown): string | null =>
  typeof lastFour === 'string' ? `ending in ${lastFour}` : null;
export const joinParts = (parts: readonly (string | null)[]): string | null =>
  parts.filter((part) => part !== null).join(', ') || null;

export function planName(plan: unknown): string {
  const known = parsePlan(text(plan));
  return known === undefined ? text(plan) : PLAN_LABELS[known];
}
export function retention(days: unknown): string {
  return isNumber(days) ? pluralize(days, 'day') : 'the server default';
}
export function rateLimit(requests: unknown): string {
  return isNumber(requests) ? pluralize(requests, 'request') : 'the plan default';
}
export function granted({ credits, note }: Detail): string | null {
  return joinParts([isNumber(credits) ? pluralize(Math.abs(credits), 'credit') : null, quoted(note)]);
}
export function allowlist(ips: unknown): string {
  return Array.isArray(ips) && ips.length > 0 ? ips.map(text).join(', ') : 'any IP address';
}
export function grace(seconds: unknown): string | null {
  if (!isNumber(seconds)) return null;
  if (seconds === 0) return 'old key revoked immediately';
  const [size, unit] =
    seconds % 86_400 === 0
      ? ([86_400, 'day'] as const)
      : seconds % 3600 === 0
        ? ([3600, 'hour'] as const)
        : ([60, 'minute'] as const);
  return `old key valid for ${pluralize(Math.round(seconds / size), `more ${unit}`)}`;
}
const expiry = (at: unknown): string => (isNumber(at) ? formatDateTime(new Date(at).toISOString()) : 'never');
const scopeNames = (scopes: unknown): string => (Array.isArray(scopes) ? scopes.map(text).join(', ') : '?');
const monthly = (credits: unknown): string => creditsOf(credits) ?? 'unlimited';
const labelled = (label: string, part: string | null): string | null => (part === null ? null : `${label} ${part}`);

/** What a new key is limited to, beside its addresses. */
export const keyLimits = ({ expires_at, scopes, monthly_credits }: Detail): (string | null)[] => [
  isNumber(expires_at) ? `expires ${expiry(expires_at)}` : null,
  Array.isArray(scopes) ? `scopes ${scopeNames(scopes)}` : null,
  isNumber(monthly_credits) ? `${monthly(monthly_credits)} a month` : null,
];
export function keyChange({ name, allow_ips, expires_at, scopes, monthly_credits }: Detail): string | null {
  return joinParts([
    change((value) => `“${text(value)}”`)(name),
    labelled('allowed', change(allowlist)(allow_ips)),
    labelled('expiry', change(expiry)(expires_at)),
    labelled('scopes', change(scopeNames)(scopes)),
    labelled('monthly budget', change(monthly)(monthly_credits)),
  ]);
}

const onOff = (enabled: unknown): string => (enabled === true ? 'enabled' : 'disabled');
export function webhookChange({ url, events, description, enabled }: Detail): string | null {
  return joinParts([
    labelled('URL', change(text)(url)),
    labelled('events', change(scopeNames)(events)),
    labelled('description', change((value) => quoted(value) ?? 'none')(description)),
    change(onOff)(enabled),
  ]);
}

const FACTORS: Readonly<Record<string, string>> = {
  password: 'with a password',
  code: 'with a code',
  recovery_code: 'with a recovery code',
  passkey: 'with a passkey',
  link: 'by a link',
};
const factor = (name: unknown): string | null => FACTORS[typeof name === 'string' ? name : ''] ?? null;
const device = (name: unknown): string | null => (typeof name === 'string' ? name : null);

/** How users proved who they are, and where. `more`: of many different ones. */
export function howAndWhere(detail: Detail): string | null {
  return joinParts([
    factor(detail.factor),
    device(detail.device),
    detail.more === true ? 'from further addresses' : null,
  ]);
}
export const passkeyAndDevice = (detail: Detail): string | null =>
  joinParts([quoted(detail.passkey), device(detail.device)]);
/** Of events that share an entry. */
export const repeated = ({ count, last_at }: AuditLog['entries'][number]): string | null =>
  count > 1 ? `${formatNumber(count)} times, the last at ${formatDateTime(last_at)}` : null;

/** `from A to B`, each formatted. */
export function change(format: (value: unknown) => string): (detail: unknown) => string | null {
  return (detail) => {
    if (typeof detail !== 'object' || detail === null) return null;
    const { from, to } = { from: undefined, to: undefined, ...detail };
    return `from ${format(from)} to ${format(to)}`;
  };
}
