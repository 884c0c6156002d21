import type { AuditSubject } from '../kernel/audit-actions.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type { AccountId, Actor, AuditEntry, Caller, Keys, Store } from '../store/store.ts';

/** Who makes a change: a user, or an API key, whose name is looked up for the audit log. */
export type ChangedBy = Actor | { readonly caller: Caller; readonly ip: string };

export const actorFor =
  (keys: Pick<Keys, 'get'>) =>
  async (by: ChangedBy): Promise<Actor> => {
    if (!('caller' in by)) return by;
    const { keyId } = by.caller;
    return { kind: 'key', id: keyId, name: (await keys.get(keyId))?.name ?? keyId, ip: by.ip };
  };

/** Yields all entries in batches, newest first, for an export. */
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
