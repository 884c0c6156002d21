import type { Transaction } from 'kysely';
import { newId } from '../../../kernel/ids.ts';
import type { JobPolicies } from '../../../kernel/jobs.ts';
import type { NewJob } from '../../jobs/queue.ts';
import { payloadText } from '../../jobs/row.ts';
import type { Tables } from '../../tables.ts';

export async function addJob(
  { now: storeNow, policies }: { readonly now: () => Promise<number>; readonly policies: JobPolicies },
  trx: Transaction<Tables>,
  { kind, payload, key = null, account = null, delayMs = 0 }: NewJob,
): Promise<string | null> {
  const now = await storeNow();
  const id = newId('job', now);
  const row = {
    id,
    kind,
    key: key ?? id,
    account_id: account,
    payload: payloadText(payload),
    state: 'waiting' as const,
    attempts: 0,
    attempt_limit: policies[kind].attempts,
    due_at: now + delayMs,
    set_at: now,
    last_error: null,
    created_at: now,
    failed_at: null,
  };
  const insert = trx
    .insertInto('jobs')
    .values(row)
    .onConflict((oc) => oc.doNothing());
  const { numInsertedOrUpdatedRows } = await insert.executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n ? id : null;
}
