/** An API key as a row, and what a change does to it. */

import { toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import type { KeyEventData } from '../kernel/facts/events.ts';
import { KEY_SCOPES, type KeyScope } from '../kernel/facts/scopes.ts';
import { KEY_PREFIXES } from '../kernel/ids.ts';
import { accountId } from './rows.ts';
import type { Key, KeyLimits } from './store.ts';
import type { Row } from './tables.ts';

const scopesOf = (text: string | null): KeyScope[] => {
  const named = text?.split(' ');
  return KEY_SCOPES.filter((scope) => named?.includes(scope) ?? true);
};

/** `test_of`: of its account. */
type KeyRow = Row<'keys'> & Pick<Row<'accounts'>, 'test_of'>;

export const toKey = (row: KeyRow): Key => ({
  id: row.id,
  accountId: accountId(row.account_id),
  testOf: row.test_of === null ? null : accountId(row.test_of),
  name: row.name,
  lastFour: row.last_four,
  allowIps: JSON.parse(row.allow_ips),
  scopes: scopesOf(row.scopes),
  budget: budgetOf(row),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
  lastUsedIp: row.last_used_ip,
});

const budgetOf = ({ budget, budget_month: month, budget_spent: spent, budget_held: held }: Row<'keys'>) =>
  budget === null ? null : { credits: budget, month, spent, held };

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

/** What webhooks are told of a key. */
export const keyEvent = (row: KeyRow): KeyEventData => ({
  id: row.id,
  name: row.name,
  key: `${KEY_PREFIXES[row.test_of === null ? 'live' : 'test']}…${row.last_four}`,
  allow_ips: JSON.parse(row.allow_ips),
  scopes: scopesOf(row.scopes),
  monthly_credits: row.budget,
  created_at: toIso(row.created_at),
  expires_at: isoOrNull(row.expires_at),
  revoked_at: isoOrNull(row.revoked_at),
});

/** The columns of the limits that are given. */
export function limitColumns({
  expiresAt,
  scopes,
  budget,
}: KeyLimits): Partial<Pick<Row<'keys'>, 'expires_at' | 'scopes' | 'budget'>> {
  return {
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(scopes === undefined ? {} : { scopes: scopesText(scopes) }),
    ...(budget === undefined ? {} : { budget }),
  };
}

function scopesText(scopes: readonly KeyScope[]): string | null {
  const named = KEY_SCOPES.filter((scope) => scopes.includes(scope));
  if (named.length === 0) throw new RangeError('A key needs a scope.');
  return named.length === KEY_SCOPES.length ? null : named.join(' ');
}

/** Throws ApiError for an expiry that is over; one that the key has already stays. */
export function refusePastExpiry({ expiresAt }: KeyLimits, before: number | null, now: number): void {
  if (typeof expiresAt !== 'number' || expiresAt === before || expiresAt > now) return;
  throw new ApiError('invalid_parameter', 'expires_at must be in the future.', { field: 'expires_at' });
}

/** For the audit log: what limits a new key. */
export const limitDetail = ({ expires_at, scopes, budget }: Row<'keys'>): Record<string, unknown> => ({
  ...(expires_at === null ? {} : { expires_at }),
  ...(scopes === null ? {} : { scopes: scopesOf(scopes) }),
  ...(budget === null ? {} : { monthly_credits: budget }),
});

/** The detail of a change for the audit log: only what changed. */
export function changedKey(before: Row<'keys'>, after: Row<'keys'>): Record<string, unknown> | null {
  const fields = {
    name: ({ name }: Row<'keys'>) => name,
    allow_ips: ({ allow_ips }: Row<'keys'>): unknown => JSON.parse(allow_ips),
    expires_at: ({ expires_at }: Row<'keys'>) => expires_at,
    scopes: ({ scopes }: Row<'keys'>) => scopesOf(scopes),
    monthly_credits: ({ budget }: Row<'keys'>) => budget,
  };
  const detail = Object.entries(fields).flatMap(([name, read]) => {
    const [from, to] = [read(before), read(after)];
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [[name, { from, to }] as const];
  });
  return detail.length === 0 ? null : { key: after.id, ...Object.fromEntries(detail) };
}
