/** Lists of addresses that are verified as one job: the closed sets. */

export const LIST_STATUSES = ['ready', 'running', 'paused', 'completed', 'cancelled', 'failed'] as const;
export type ListStatus = (typeof LIST_STATUSES)[number];

const LIST_ACTIONS = ['start', 'pause', 'resume', 'cancel', 'delete'] as const;
export type ListAction = (typeof LIST_ACTIONS)[number];

/** What a row of the file is: `duplicate`: an address that an earlier row has. */
export const ROW_KINDS = ['address', 'duplicate', 'blank', 'unreadable'] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/** In which statuses an action is allowed. */
export const LIST_ACTION_STATUSES = {
  start: ['ready'],
  pause: ['running'],
  resume: ['paused'],
  cancel: ['ready', 'running', 'paused'],
  delete: ['ready', 'paused', 'completed', 'cancelled', 'failed'],
} as const satisfies Record<ListAction, readonly ListStatus[]>;

/** Why a list did not start, or failed: a code of the error catalog and its sentence. */
export type ListError = { readonly code: string; readonly error: string };

/** Of files with results; `jsonl`: one JSON object in each line. */
export const RESULT_FORMATS = ['csv', 'xlsx', 'jsonl'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];
