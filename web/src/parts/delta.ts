import { t } from '@lingui/core/macro';
import { formatDecimal, formatMs, formatNumber } from './format.ts';

/** A change from the period before. `tone` only where the change is good or bad for the user. */
export interface Delta {
  readonly direction: 'up' | 'down' | 'same';
  /** `20.5 %`, `0.8 points`, `90 ms`; `no change`. */
  readonly change: string;
  /** The value before. */
  readonly from: string;
  readonly tone?: 'better' | 'worse';
}

/** `64.1 %`; a dash where there is nothing to divide by. */
export const formatShare = (share: number | null): string => (share === null ? '–' : `${formatDecimal(share * 100)} %`);

export const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

type Better = 'more' | 'less' | null;

function deltaOf(difference: number, change: string, from: string, better: Better): Delta {
  if (difference === 0) return { direction: 'same', change: t`no change`, from };
  const direction = difference > 0 ? 'up' : 'down';
  const tone = better === null ? undefined : difference > 0 === (better === 'more') ? 'better' : 'worse';
  return { direction, change, from, ...(tone === undefined ? {} : { tone }) };
}

/** Null where there was nothing before. */
export const countDelta = (now: number, before: number, better: Better = null): Delta | null =>
  before === 0
    ? null
    : deltaOf(now - before, `${formatDecimal(Math.abs(now / before - 1) * 100)} %`, formatNumber(before), better);

/** Differences of less than 0.05 points are none. */
export function shareDelta(now: number | null, before: number | null, better: Better = null): Delta | null {
  if (now === null || before === null) return null;
  const points = Math.round((now - before) * 1000) / 10;
  return deltaOf(points, t`${formatDecimal(Math.abs(points))} points`, formatShare(before), better);
}

export const timeDelta = (now: number | null, before: number | null): Delta | null =>
  now === null || before === null
    ? null
    : deltaOf(now - before, formatMs(Math.abs(now - before)), formatMs(before), 'less');
