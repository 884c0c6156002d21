import { HOUR_MS } from '../../kernel/clock.ts';
import type { VerificationRecord } from '../store.ts';
import type { UsageEntry } from './state.ts';

/** Adds a record to the counters of its hour; `usage` has one entry per row of usage_hours. */
export function countUsage(
  usage: Map<string, UsageEntry>,
  now: number,
  { accountId, keyId, record }: { accountId: string; keyId: string; record: VerificationRecord },
): void {
  const { validationType, status, credits } = record;
  const reason = record.reason ?? '';
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  const id = `${accountId}\n${keyId}\n${validationType}\n${status}\n${reason}`;
  const entry = usage.get(id);
  if (entry === undefined) {
    usage.set(id, { accountId, keyId, hour, validationType, status, reason, requests: 1, credits });
  } else {
    entry.requests += 1;
    entry.credits += credits;
  }
}
