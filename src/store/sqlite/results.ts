import type { SQLInputValue } from 'node:sqlite';
import type { CompiledQuery } from 'kysely';
import type { NewResults } from '../driver.ts';
import { storable, storableOrNull } from '../text.ts';
import { RowsQuery } from './rows-query.ts';

const ADD = `INSERT INTO verifications (account_id, key_id, hold_id, created_at, id, email, client_ip, requested,
    validation_type, status, deliverability, reason, credits, duration_ms, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const WIDTH = 11;

/** See `StorageDriver.addResults`. */
export function addResults({ hold, now, records }: NewResults): CompiledQuery {
  const rows: SQLInputValue[] = [];
  for (const r of records) {
    rows.push(r.id, storable(r.email), storableOrNull(r.clientIp), r.requested, r.validationType, r.status);
    rows.push(r.deliverability, r.reason, r.credits, r.durationMs, storable(r.body));
  }
  return new RowsQuery(ADD, [hold.account_id, hold.key_id, hold.id, now], WIDTH, rows);
}
