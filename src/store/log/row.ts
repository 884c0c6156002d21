import type { Row } from '../tables.ts';

export const toVerification = (row: Row<'verifications'>) => ({
  id: row.id,
  email: row.email,
  requested: row.requested,
  validationType: row.validation_type,
  status: row.status,
  deliverability: row.deliverability,
  reason: row.reason,
  credits: row.credits,
  clientIp: row.client_ip,
  durationMs: row.duration_ms,
  body: row.body,
  createdAt: row.created_at,
  keyId: row.key_id,
  list: row.hold_id,
  via: row.via,
});

/** Bounds of an account's log, for `StorageDriver.seqRange`. */
export const FIRST_SEQ = 0;
export const AFTER_LAST_SEQ = Number.MAX_SAFE_INTEGER;
