import type { Checks, Report } from '../engine/report.ts';
import type { VerificationReply } from './verify.ts';

type Nullable = { readonly [K in keyof VerificationReply as null extends VerificationReply[K] ? K : never]: null };

/** Fields that null stands for where a version did not have them yet, or has them no more. */
const UNKNOWN: Nullable & Pick<Report, 'warnings'> = {
  reason: null,
  did_you_mean: null,
  normalized_email: null,
  canonical_email: null,
  canonical_rule: null,
  seen: null,
  history: null,
  confidence: null,
  local_part: null,
  domain: null,
  tag: null,
  decision: null,
  is_role: null,
  is_free: null,
  is_relay: null,
  relay_provider: null,
  is_catch_all: null,
  is_mailbox_full: null,
  is_disabled: null,
  retry_after: null,
  warnings: [],
};

const skipped = { result: 'skipped' } as const;
const SKIPPED: Checks = {
  syntax: skipped,
  filter: skipped,
  disposable: { ...skipped, list_version: '' },
  domain: skipped,
  mx: skipped,
  smtp: skipped,
  catch_all: skipped,
};

/** A reply as it was stored, perhaps by another version, with all fields of this one. */
export function storedReply(body: string): VerificationReply {
  const reply: Partial<VerificationReply> & Omit<VerificationReply, keyof Nullable | 'warnings' | 'checks'> =
    JSON.parse(body);
  const { checks } = reply;
  // Twice, so that what was stored comes first, in its order.
  return { ...reply, ...UNKNOWN, ...reply, checks: { ...checks, ...SKIPPED, ...checks } };
}
