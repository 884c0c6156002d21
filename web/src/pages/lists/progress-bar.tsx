import { plural, t } from '@lingui/core/macro';
import type { List } from '../../api/schema.ts';
import { formatNumber } from '../../parts/format.ts';
import type { Outcome } from '../../parts/glyph.tsx';
import css from './lists.module.css';

type Progress = Pick<List, 'name' | 'rows' | 'progress' | 'deliverability' | 'by_reason' | 'status'>;

/** Of how many addresses the mailbox was not asked about. */
export const notCheckedOf = (of: Progress): number => outcomesOf(of).find(([one]) => one === 'not_checked')?.[1] ?? 0;

/** How many addresses have each outcome, in the order of the bars. */
function outcomesOf({ progress, deliverability, by_reason }: Progress): readonly (readonly [Outcome, number])[] {
  const { deliverable, unknown, risky, undeliverable } = deliverability;
  const withReason = Object.values(by_reason).reduce((sum, count) => sum + count, 0);
  // Without a reason, what is unknown was not asked about.
  const notChecked = Math.max(0, Math.min(unknown, progress.done - withReason - deliverable));
  return [
    ['deliverable', deliverable],
    ['not_checked', notChecked],
    ['unknown', unknown - notChecked],
    ['risky', risky],
    ['undeliverable', undeliverable],
  ];
}

/** `about 2 minutes`, for an estimate in seconds. */
function formatEta(seconds: number): string {
  if (seconds < 60) return t`less than a minute`;
  if (seconds < 5400) return t`about ${plural(Math.round(seconds / 60), { one: '# minute', other: '# minutes' })}`;
  if (seconds < 129_600) return t`about ${plural(Math.round(seconds / 3600), { one: '# hour', other: '# hours' })}`;
  return t`about ${plural(Math.round(seconds / 86_400), { one: '# day', other: '# days' })}`;
}

/** Whether all that is left waits for its next attempt, of which nobody knows how it will end. */
export const onlyWaits = ({ progress, rows }: Progress): boolean =>
  progress.waiting > 0 && progress.waiting === rows.addresses - progress.done;

/** `about 2 minutes left`, of a list that is running; null while nothing is known. */
export function etaText(of: Progress): string | null {
  if (of.status !== 'running') return null;
  if (onlyWaits(of)) return t`${formatNumber(of.progress.waiting)} deferred`;
  return of.progress.eta_seconds === null ? null : t`${formatEta(of.progress.eta_seconds)} left`;
}

/** The verdicts of a list on what is left of it. `thin`: in the row of a table. */
export function ListProgress({ of, thin = false }: { of: Progress; thin?: boolean }) {
  const { rows, progress, name } = of;
  const total = Math.max(1, rows.addresses);
  const eta = etaText(of);
  return (
    <div
      className={css.bar}
      data-thin={thin}
      role="progressbar"
      aria-label={t`Addresses of ${name} verified`}
      aria-valuemin={0}
      aria-valuemax={rows.addresses}
      aria-valuenow={progress.done}
      aria-valuetext={t`${formatNumber(progress.done)} of ${formatNumber(rows.addresses)}${eta === null ? '' : `, ${eta}`}`}
    >
      {outcomesOf(of).map(
        ([outcome, count]) =>
          count > 0 && <i key={outcome} data-outcome={outcome} style={{ width: `${(count / total) * 100}%` }} />,
      )}
    </div>
  );
}
