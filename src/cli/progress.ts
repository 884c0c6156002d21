import type { Clock } from '../kernel/clock.ts';
import { counted, grouped } from '../kernel/format.ts';

/** Counts rows written so far, by outcome. */
export interface Tally {
  good: number;
  bad: number;
  withoutVerdict: number;
  /** Counts rows without an address. */
  blank: number;
  unreadable: number;
}
export const EMPTY_TALLY: Readonly<Tally> = { good: 0, bad: 0, withoutVerdict: 0, blank: 0, unreadable: 0 };
export const rowCount = (tally: Tally): number =>
  tally.good + tally.bad + tally.withoutVerdict + tally.blank + tally.unreadable;

/** `1,000 good, 34 bad` and what else there was. */
function tallyText({ good, bad, withoutVerdict, blank, unreadable }: Tally): string {
  const parts = [`${grouped(good)} good`, `${grouped(bad)} bad`];
  if (withoutVerdict > 0) parts.push(`${grouped(withoutVerdict)} without a verdict`);
  if (blank > 0) parts.push(`${grouped(blank)} blank`);
  if (unreadable > 0) parts.push(`${grouped(unreadable)} unreadable`);
  return parts.join(', ');
}

const REDRAW_MS = 100;
const WIDTH = 30;
export const CLEAR_LINE = '\r\u001b[K';

/** A progress bar for a terminal; `sizeBytes` is that of the input, 0 if unknown. */
export function createProgress(sizeBytes: number, clock: Pick<Clock, 'elapsed'>, write: (text: string) => void) {
  const began = clock.elapsed();
  let drawn = Number.NEGATIVE_INFINITY;
  const summary = (tally: Tally): string => {
    const took = duration((clock.elapsed() - began) / 1000);
    return `${counted(rowCount(tally), 'row')} in ${took}: ${tallyText(tally)}`;
  };
  return {
    /** `bytes` of the input are done. */
    at(bytes: number, tally: Tally) {
      const now = clock.elapsed();
      if (now - drawn < REDRAW_MS) return;
      drawn = now;
      const rows = rowCount(tally);
      const seconds = (now - began) / 1000;
      const share = sizeBytes === 0 ? 0 : Math.min(1, bytes / sizeBytes);
      const rate = seconds > 0 ? `, ${grouped(Math.round(rows / seconds))}/s` : '';
      const left = share > 0 ? `, ${duration((seconds / share) * (1 - share))} left` : '';
      write(`${CLEAR_LINE}${bar(share)}  ${counted(rows, 'row')}${rate}${left}`);
    },
    /** Replaces the bar with the totals. */
    end: (tally: Tally) => write(`${CLEAR_LINE}${summary(tally)}\n`),
    /** Returns the totals: `1,236 rows in 10 min: 1,200 good, 36 bad`. */
    summary,
  };
}

/** `[####      ] 40 %` */
export function bar(share: number): string {
  const full = Math.round(share * WIDTH);
  return `[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] ${Math.floor(share * 100)} %`;
}

/** A bar for work without rows; the last share, 1, removes it. */
export function createShareBar(clock: Pick<Clock, 'elapsed'>, write: (text: string) => void): (share: number) => void {
  let drawn = Number.NEGATIVE_INFINITY;
  return (share) => {
    if (share >= 1) return write(CLEAR_LINE);
    if (clock.elapsed() - drawn < REDRAW_MS) return;
    drawn = clock.elapsed();
    write(`${CLEAR_LINE}${bar(share)}`);
  };
}

/** `12 s`, `3 min`, `2 h 05 min` */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
