import { formatNumber } from '../../parts/format.ts';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const;
/** Each unit is 2 to this power of the one before. */
const STEP = 10;

/** `164 KiB`, `2.4 MiB`. */
export function formatBytes(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / STEP));
  const size = bytes / 2 ** (unit * STEP);
  return `${formatNumber(unit > 0 && size < 10 ? Math.round(size * 10) / 10 : Math.round(size))} ${UNITS[unit]}`;
}
