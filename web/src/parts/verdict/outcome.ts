import { t } from '@lingui/core/macro';
import { NO_REASON, type Reason } from '../../../../src/kernel/facts/reasons.ts';
import type { Verification } from '../../api/schema.ts';
import type { Outcome } from '../glyph.tsx';

/** What a row of the log is judged by. */
type Judged = Pick<Verification, 'status' | 'deliverability' | 'reason' | 'validation_type'>;

/** The part of an address on which a verdict rests; null where nothing about it was found out. */
type Part = 'local' | 'domain' | 'all' | null;

interface Phrase {
  /** What was found. */
  readonly found: string;
  /** What is still open. */
  readonly open?: string;
  readonly part: Part;
}

/** The one name of each reason: in rows, filters, charts, files and prose. */
const PHRASES: Readonly<Record<Reason, Phrase>> = {
  blocked_by_filter: { found: t`Blocked by your filter`, part: null },
  bounced_before: { found: t`Bounced before`, part: 'all' },
  invalid_format: { found: t`Invalid address`, part: 'all' },
  disposable_domain: { found: t`Disposable address`, part: 'domain' },
  domain_not_found: { found: t`Domain not found`, part: 'domain' },
  no_mx_records: { found: t`No mail servers`, part: 'domain' },
  null_mx: { found: t`Domain does not accept mail`, open: t`null MX`, part: 'domain' },
  mx_unusable: { found: t`Mail servers unreachable`, part: 'domain' },
  dns_failure: { found: t`DNS failure`, open: t`try again later`, part: null },
  catch_all: { found: t`Catch-all server`, open: t`mailbox unconfirmed`, part: 'domain' },
  mailbox_not_found: { found: t`Mailbox not found`, part: 'local' },
  mailbox_full: { found: t`Mailbox full`, part: 'local' },
  mailbox_disabled: { found: t`Mailbox disabled`, part: 'local' },
  relay_denied: { found: t`Server does not accept mail for the domain`, part: 'domain' },
  greylisted: { found: t`Greylisted`, open: t`try again later`, part: null },
  smtp_temporary_failure: { found: t`Deferred`, open: t`try again later`, part: null },
  smtp_timeout: { found: t`Server timed out`, open: t`mailbox unknown`, part: null },
  smtp_unreachable: { found: t`No connection to the server`, open: t`mailbox unknown`, part: null },
  smtp_blocked: { found: t`Server blocked us`, open: t`says nothing about the mailbox`, part: null },
  smtp_unverifiable: { found: t`Provider does not disclose`, open: t`mailbox unknown`, part: null },
};

const WITHOUT_REASON: Readonly<Record<Verification['validation_type'], Phrase>> = {
  mx: { found: t`Domain accepts mail`, open: t`mailbox not checked`, part: null },
  smtp: { found: t`Mailbox exists`, part: 'local' },
};

/** Undefined for a reason that is newer than this page. */
const ROWS: Readonly<Record<string, Phrase | undefined>> = PHRASES;

/** The verdict in a few words. */
export function phraseOf({ reason, status, validation_type }: Judged): Phrase {
  if (reason === null) return WITHOUT_REASON[validation_type];
  if (reason === 'mailbox_full' && status === 'good') return { ...PHRASES.mailbox_full, open: t`temporary` };
  return ROWS[reason] ?? { found: reason, part: null };
}

/** The name of a reason: `Domain does not accept mail`. A reason that is newer than this page stays a code. */
export const reasonName = (reason: string | null): string =>
  reason === null || reason === NO_REASON ? t`No reason` : (ROWS[reason]?.found ?? reason);

/** An address at the mx level without a finding was not asked about: that is no failure to find out. */
export const outcomeOf = ({ deliverability, reason }: Judged): Outcome =>
  deliverability === 'unknown' && reason === null ? 'not_checked' : deliverability;
