/** Charges that follow one another in a batch mostly differ in little: only that is sent to the thread. */
import type { AdmissionRequest, Filter, VerificationRecord, VerifyAdmission } from '../store.ts';

/** What `decide` gave for this filter, or for none. */
export interface Decision {
  readonly filter: Filter | null;
  readonly record: VerificationRecord | null;
}

/** A charge without filter and Idempotency-Key: what most of a batch consists of. */
export interface PlainCharge {
  readonly admit: AdmissionRequest;
  readonly verify: VerifyAdmission;
  readonly record: VerificationRecord;
}

/** Null for any other request. */
export function plainCharge(admit: AdmissionRequest, decision: Decision | null): PlainCharge | null {
  const { verify, idempotency } = admit;
  if (verify === null || idempotency !== null || decision === null || decision.filter !== null) return null;
  const { record } = decision;
  return record !== null && record.id === verify.id ? { admit, verify, record } : null;
}

/** All fields but those in `Own`; does not compile where one is left out. */
const allBut =
  <T, Own extends keyof T>() =>
  <const N extends readonly Exclude<keyof T, Own>[]>(names: Exclude<keyof T, Own> extends N[number] ? N : never): N =>
    names;

/** What charges of one client have in common; all other fields are sent with each (`pushLike`). */
const ADMISSION = allBut<AdmissionRequest, 'idempotency' | 'verify' | 'gone'>()(['keyHash', 'scope', 'ip', 'invalid']);
const VERIFY = allBut<VerifyAdmission, 'id' | 'filterKeys' | 'decide'>()(['level', 'test', 'holdMs']);
const RECORD = allBut<VerificationRecord, 'id' | 'email' | 'durationMs' | 'body'>()([
  'requested',
  'validationType',
  'status',
  'deliverability',
  'reason',
  'credits',
  'clientIp',
  'via',
]);

export const isLike = (a: PlainCharge, b: PlainCharge): boolean =>
  ADMISSION.every((name) => a.admit[name] === b.admit[name]) &&
  VERIFY.every((name) => a.verify[name] === b.verify[name]) &&
  a.verify.filterKeys.ip === b.verify.filterKeys.ip &&
  RECORD.every((name) => a.record[name] === b.record[name]);
