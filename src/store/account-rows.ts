/** Maps accounts to rows, and changes of accounts to columns and audit events. */

import type { Updateable } from 'kysely';
import type { AuditAction } from '../kernel/audit-actions.ts';
import { limitOf } from './charge/window.ts';
import type { AuditEvent } from './people/audit-rows.ts';
import { accountId } from './rows.ts';
import type { Account, AccountChange } from './store.ts';
import type { AccountsTable, Row } from './tables.ts';
import { storable } from './text.ts';

/** For accounts that are not deleted. */
export const toAccount = (row: Row<'accounts'>): Account => ({
  id: accountId(row.id),
  name: row.name,
  plan: row.plan,
  rateLimit: limitOf({ plan: row.plan, rateLimit: row.rate_limit }),
  rateLimitSet: row.rate_limit !== null,
  status: row.status === 'suspended' ? 'suspended' : 'active',
  balance: row.balance,
  locked: row.locked,
  retentionDays: row.retention_days,
  lowBalance: row.low_balance,
  secondFactorRequired: row.second_factor_required === 1,
  createdAt: row.created_at,
  testOf: row.test_of === null ? null : accountId(row.test_of),
});

export function whole(credits: number): number {
  if (!Number.isSafeInteger(credits)) throw new RangeError(`Credits are whole numbers, not ${credits}.`);
  return credits;
}

/** Columns to write and events to log; unchanged values are omitted. */
export function changesTo(
  before: Row<'accounts'>,
  { name, plan, rateLimit, status, retentionDays, lowBalance, secondFactorRequired }: AccountChange,
): { values: Updateable<AccountsTable>; events: AuditEvent[] } {
  const values: Updateable<AccountsTable> = {};
  const events: AuditEvent[] = [];
  const put = <C extends 'name' | 'plan' | 'rate_limit' | 'status' | 'retention_days' | 'low_balance'>(
    column: C,
    to: Row<'accounts'>[C] | undefined,
    action: AuditAction,
  ): void => {
    const from = before[column];
    if (to === undefined || to === from) return;
    Object.assign(values, { [column]: to });
    events.push({ action, target: before.name, detail: { from, to } });
  };
  put('name', name === undefined ? undefined : storable(name), 'account.renamed');
  put('plan', plan, 'account.plan_set');
  put('rate_limit', rateLimit, 'account.rate_limit_set');
  put('status', status, status === 'suspended' ? 'account.suspended' : 'account.resumed');
  put('retention_days', retentionDays, 'account.retention_set');
  put('low_balance', lowBalance, 'account.low_balance_set');
  const required = secondFactorRequired === undefined ? before.second_factor_required : Number(secondFactorRequired);
  if (required !== before.second_factor_required) {
    values.second_factor_required = required;
    const action = required === 1 ? 'account.second_factor_required' : 'account.second_factor_optional';
    events.push({ action, target: before.name, detail: {} });
  }
  // A new threshold can alert again.
  if (values.low_balance !== undefined) values.low_balance_told_at = null;
  return { values, events };
}
