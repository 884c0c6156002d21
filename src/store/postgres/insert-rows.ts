import { CompiledQuery } from 'kysely';
import type { NewResults } from '../driver.ts';
import type { Row } from '../tables.ts';
import { storable, storableOrNull } from '../text.ts';
import { statement } from './write.ts';

const ADD = `INSERT INTO verifications (id, email, client_ip, requested, validation_type, status, deliverability, reason,
    credits, duration_ms, body, account_id, key_id, hold_id, created_at)
  SELECT c.*, $12, $13, $14, $15 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
    $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::text[]) AS c`;

/** See `StorageDriver.addResults`. */
export function addResults({ hold, now, records }: NewResults): CompiledQuery {
  const rows = records.map((r) => [
    ...[r.id, storable(r.email), storableOrNull(r.clientIp), r.requested, r.validationType, r.status],
    ...[r.deliverability, r.reason, r.credits, r.durationMs, storable(r.body)],
  ]);
  const { text, values } = statement('add-results', ADD, rows, hold.account_id, hold.key_id, hold.id, now);
  return CompiledQuery.raw(text, values);
}

const INSERT_FILTERS = `INSERT INTO filters (account_id, id, filter_type, value, reason, reason_folded, created_at)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])`;

/** See `StorageDriver.insertFilters`. */
export function insertFilters(filters: readonly Row<'filters'>[]): CompiledQuery {
  const rows = filters.map((f) => [
    ...[f.account_id, f.id, f.filter_type, f.value, f.reason, f.reason_folded, f.created_at],
  ]);
  const { text, values } = statement('insert-filters', INSERT_FILTERS, rows);
  return CompiledQuery.raw(text, values);
}
