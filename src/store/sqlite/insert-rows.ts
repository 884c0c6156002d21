import type { SQLInputValue } from 'node:sqlite';
import type { CompiledQuery } from 'kysely';
import type { NewResults } from '../driver.ts';
import type { Row } from '../tables.ts';
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

const INSERT_FILTERS = `INSERT INTO filters (account_id, id, filter_type, value, reason, reason_folded, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const FILTER_WIDTH = 7;

/** See `StorageDriver.insertFilters`. */
export function insertFilters(filters: readonly Row<'filters'>[]): CompiledQuery {
  const rows: SQLInputValue[] = [];
  for (const f of filters)
    rows.push(f.account_id, f.id, f.filter_type, f.value, f.reason, f.reason_folded, f.created_at);
  return new RowsQuery(INSERT_FILTERS, [], FILTER_WIDTH, rows);
}
