/** An account as a row, and what a change does to it. */
import type { Updateable } from 'kysely';
import { limitOf } from './charge/window.ts';
import type { Deed } from './people/trail.ts';
import type { Account, AccountChange, AccountId } from './store.ts';
import type { AccountsTable, Row } from './tables.ts';
import { storable } from './text.ts';

/** Of one that was not deleted. */
export const toAccount = (row: Row<'accounts'>): Account => ({
  id: row.id as AccountId,
  name: row.name,
  plan: row.plan,
  rateLimit: limitOf({ plan: row.plan, rateLimit: row.rate_limit }),
  rateLimitSet: row.rate_limit !== null,
  status: row.status as Account['status'],
  balance: row.balance,
  locked: row.locked,
  retentionDays: row.retention_days,
  lowBalance: row.low_balance,
  createdAt: row.created_at,
});

export function whole(credits: number): number {
  if (!Number.isSafeInteger(credits)) throw new RangeError(`Credits are whole numbers, not ${credits}.`);
  return credits;
}

/** What to write and to tell of; nothing of what is so already. */
export function changes(
  before: Row<'accounts'>,
  { name, plan, rateLimit, status, retentionDays, lowBalance }: AccountChange,
): { values: Updateable<AccountsTable>; deeds: Deed[] } {
  const values: Updateable<AccountsTable> = {};
  const deeds: Deed[] = [];
  const put = <C extends 'name' | 'plan' | 'rate_limit' | 'status' | 'retention_days' | 'low_balance'>(
    column: C,
    to: Row<'accounts'>[C] | undefined,
    action: string,
  ): void => {
    const from = before[column];
    if (to === undefined || to === from) return;
    Object.assign(values, { [column]: to });
    deeds.push({ action, target: before.name, detail: { from, to } });
  };
  put('name', name === undefined ? undefined : storable(name), 'account.renamed');
  put('plan', plan, 'account.plan_set');
  put('rate_limit', rateLimit, 'account.rate_limit_set');
  put('status', status, status === 'suspended' ? 'account.suspended' : 'account.resumed');
  put('retention_days', retentionDays, 'account.retention_set');
  put('low_balance', lowBalance, 'account.low_balance_set');
  // A new line counts anew.
  if (values.low_balance !== undefined) values.low_balance_told_at = null;
  return { values, deeds };
}
