import { NO_REASON_COPY, REASONS, type ReasonRow, type VerdictCopy } from '../../../../src/kernel/facts/reasons.ts';
import type { Verification } from '../../api/schema.ts';
import { pluralize } from '../format.ts';
import { reasonName } from './outcome.ts';

type Status = Verification['status'];

const STATUS_LABELS: Readonly<Record<Status, string>> = { good: 'Good', bad: 'Bad' };

type Judged = Pick<Verification, 'reason' | 'status' | 'validation_type'>;

/** Undefined for a reason that is newer than this page. */
const ROWS: Readonly<Record<string, ReasonRow | undefined>> = REASONS;

export function wordsOf({ reason, status, validation_type }: Judged): VerdictCopy {
  if (reason === null) return NO_REASON_COPY[validation_type];
  const copy = ROWS[reason]?.copy;
  if (copy === undefined) {
    return { title: reasonName(reason), meaning: 'The page of verdicts in the documentation explains it.', advice: '' };
  }
  const words = 'title' in copy ? copy : copy[status];
  return { ...words, advice: words.advice.replaceAll('`', '') };
}

/** The verdict in one line: `Good: the mailbox exists`. */
export function headline(judged: Judged): string {
  const { title } = wordsOf(judged);
  return `${STATUS_LABELS[judged.status]}: ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}

/** `in 5 minutes`, for `retry_after`. */
export function retryWords(seconds: number): string {
  if (seconds < 90) return `in ${pluralize(seconds, 'second')}`;
  if (seconds < 5400) return `in ${pluralize(Math.ceil(seconds / 60), 'minute')}`;
  return `in ${pluralize(Math.ceil(seconds / 3600), 'hour')}`;
}
