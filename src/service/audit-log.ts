import type { AuditSubject } from '../kernel/audit-actions.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type { AccountId, AuditEntry, Store } from '../store/store.ts';

/** All entries, newest first, in batches: for an export. */
export async function* auditEntries(
  auditLog: Store['auditLog'],
  of: AccountId | 'all',
  about: AuditSubject | null,
): AsyncGenerator<readonly AuditEntry[]> {
  for (let last: AuditEntry | undefined, full = true; full; ) {
    const before = last?.id ?? null;
    const batch = await andRest(() => auditLog.list(of, { before, limit: EXPORT_ROWS, about }));
    if (batch.length > 0) yield batch;
    full = batch.length === EXPORT_ROWS;
    last = batch.at(-1);
  }
}
