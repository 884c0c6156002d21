import { plural, t } from '@lingui/core/macro';
import { NO_REASON_COPY, REASONS, type ReasonRow, type VerdictCopy } from '../../../../src/kernel/facts/reasons.ts';
import type { Verification } from '../../api/schema.ts';
import { factText } from '../fact-text.ts';
import { inSentence } from '../format.ts';
import { reasonName } from './outcome.ts';

type Status = Verification['status'];

const STATUS_LABELS: Readonly<Record<Status, string>> = { good: t`Good`, bad: t`Bad` };

type Judged = Pick<Verification, 'reason' | 'status' | 'validation_type'>;

/** Undefined for a reason that is newer than this page. */
const ROWS: Readonly<Record<string, ReasonRow | undefined>> = REASONS;

export function wordsOf({ reason, status, validation_type }: Judged): VerdictCopy {
  if (reason === null) return translated(NO_REASON_COPY[validation_type]);
  const copy = ROWS[reason]?.copy;
  if (copy === undefined) {
    return {
      title: reasonName(reason),
      meaning: t`The page of verdicts in the documentation explains it.`,
      advice: '',
    };
  }
  const words = 'title' in copy ? copy : copy[status];
  const { title, meaning, advice } = translated(words);
  return { title, meaning, advice: advice.replaceAll('`', '') };
}

const translated = ({ title, meaning, advice }: VerdictCopy): VerdictCopy => ({
  title: factText(title),
  meaning: factText(meaning),
  advice: factText(advice),
});

/** The verdict in one line: `Good: the mailbox exists`. */
export function headline(judged: Judged): string {
  const { title } = wordsOf(judged);
  return `${STATUS_LABELS[judged.status]}: ${inSentence(title)}`;
}

/** `in 5 minutes`, for `retry_after`. */
export function retryWords(seconds: number): string {
  if (seconds < 90) return t`in ${plural(seconds, { one: '# second', other: '# seconds' })}`;
  if (seconds < 5400) return t`in ${plural(Math.ceil(seconds / 60), { one: '# minute', other: '# minutes' })}`;
  return t`in ${plural(Math.ceil(seconds / 3600), { one: '# hour', other: '# hours' })}`;
}
