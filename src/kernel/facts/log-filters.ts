import { STATUSES } from './reasons.ts';

/** What became of mail to a verified address: `known` is any of the others. */
export const LOG_MAIL = ['known', 'arrived', 'bounced', 'contradicting'] as const;
export type LogMail = (typeof LOG_MAIL)[number];

/** Tenths of the confidence that a reply had, in percent. */
export const LOG_CONFIDENCES = [
  '0-10',
  '10-20',
  '20-30',
  '30-40',
  '40-50',
  '50-60',
  '60-70',
  '70-80',
  '80-90',
  '90-100',
] as const;
export type LogConfidence = (typeof LOG_CONFIDENCES)[number];

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
  'mail',
  'confidence',
  'reported',
  'list',
] as const;
export type LogNegatable = (typeof LOG_NEGATABLE)[number];

/** `rejected` means rejected requests instead of verifications. */
export const LOG_STATUSES = [...STATUSES, 'rejected'] as const;
export type LogStatus = (typeof LOG_STATUSES)[number];

/** Reads those of a closed set that a text names, with commas between them. */
export const severalOf = <const T extends string>(values: readonly T[], text: string): readonly T[] =>
  values.filter((value) => text.split(',').includes(value));
