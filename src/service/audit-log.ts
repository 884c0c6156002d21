import type { AuditSubject } from '../kernel/audit-actions.ts';
import type { AccountId, AuditEntry, Store } from '../store/store.ts';

const BATCH = 1_000;

/** All entries, newest first, in batches: for an export. */
export async function* auditEntries(
  auditLog: Store['auditLog'],
  of: AccountId | 'all',
  about: AuditSubject | null,
): AsyncGenerator<readonly AuditEntry[]> {
  for (let last: AuditEntry | undefined, full = true; full; ) {
    const batch = await auditLog.list(of, { before: last?.id ?? null, limit: BATCH, about });
    if (batch.length > 0) yield batch;
    full = batch.length === BATCH;
    last = batch.at(-1);
  }
}
