/** Columns that results add to a file. Those of an earlier run are replaced. */
export const RESULT_PREFIX = 'mailvet_';

export const RESULT_COLUMNS = [
  'status',
  'deliverability',
  'reason',
  'did_you_mean',
  'validation_type',
  'is_disposable',
  'is_role',
  'is_free',
  'is_relay',
  'is_catch_all',
  'credits_used',
  'verified_at',
  'part',
  'column',
  'decision',
  'canonical_email',
  'is_duplicate',
  'egress',
] as const;

type ResultColumn = (typeof RESULT_COLUMNS)[number];
export type ResultCell = string | number | boolean | null;
/** Which of the addresses of its row it is; null: it is the only one. */
export const partText = (part: number, parts: number): string | null => (parts > 1 ? `${part} of ${parts}` : null);

/** What is not known is left out, or null. */
export type RowResult = Readonly<Partial<Record<ResultColumn, ResultCell>>>;
