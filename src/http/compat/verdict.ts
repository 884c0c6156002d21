/** Our verdicts as the tables of other services know them: every vendor has a row for each. */
import type { VerifyReply } from '../../contract/verify.ts';
import type { Reason } from '../../kernel/facts/reasons.ts';

/** A full mailbox has two verdicts, and what needs no reason has two as well. */
export type CompatVerdict =
  | Exclude<Reason, 'mailbox_full'>
  | 'mailbox_full_for_now'
  | 'mailbox_full_permanently'
  | 'mailbox_exists'
  /** Of the mx level: the mailbox was not checked. */
  | 'domain_accepts_mail';

/** What a vendor's reply is made of: a report, or a row of a list. Null: not known. */
export interface CompatResult
  extends Pick<
    VerifyReply,
    'email' | 'status' | 'reason' | 'did_you_mean' | 'validation_type' | 'is_disposable' | 'is_role' | 'is_free'
  > {
  readonly checks: VerifyReply['checks'];
  readonly is_catch_all: boolean | null;
}

export function verdictOf({ reason, status, validation_type }: CompatResult): CompatVerdict {
  if (reason === 'mailbox_full') return status === 'good' ? 'mailbox_full_for_now' : 'mailbox_full_permanently';
  return reason ?? (validation_type === 'smtp' ? 'mailbox_exists' : 'domain_accepts_mail');
}

/** The parts of an address as its sender wrote them; null where it has no @. */
export function partsOf({ email, checks }: CompatResult): {
  readonly user: string | null;
  readonly domain: string | null;
} {
  const text = email.trim();
  const at = text.lastIndexOf('@');
  if (at < 0 || checks.syntax.result === 'fail') return { user: null, domain: null };
  return { user: text.slice(0, at), domain: text.slice(at + 1).toLowerCase() };
}

/** The mail host of best preference. */
export const mailHostOf = ({ checks }: CompatResult): string | null => {
  const records = (checks.mx.records ?? []).toSorted((a, b) => a.priority - b.priority);
  return records[0]?.host ?? null;
};
