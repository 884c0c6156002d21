import { STATUSES } from './reasons.ts';

/** Filters of the log that can also be asked for what does not match. */
export const LOG_NEGATABLE = [
  'level',
  'deliverability',
  'reason',
  'key',
  'origin',
  'operator',
  'egress',
  'status',
  'decision',
] as const;
export type LogNegatable = (typeof LOG_NEGATABLE)[number];

/** `rejected`: rejected requests instead of verifications. */
export const LOG_STATUSES = [...STATUSES, 'rejected'] as const;
export type LogStatus = (typeof LOG_STATUSES)[number];

/** Those of a closed set that a text names, with commas between them. */
export const severalOf = <const T extends string>(values: readonly T[], text: string): readonly T[] =>
  values.filter((value) => text.split(',').includes(value));
