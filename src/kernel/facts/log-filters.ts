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
