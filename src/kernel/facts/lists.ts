/** Lists of addresses that are verified as one job: the closed sets. */
import { READ_WARNING_CODES } from './read-warnings.ts';

export const LIST_STATUSES = ['ready', 'running', 'paused', 'completed', 'cancelled', 'failed'] as const;
export type ListStatus = (typeof LIST_STATUSES)[number];

const LIST_ACTIONS = ['start', 'pause', 'resume', 'cancel', 'delete'] as const;
export type ListAction = (typeof LIST_ACTIONS)[number];

/** What a row of the file is: `duplicate`: an earlier row has its address or, where they are compared, its mailbox. */
export const ROW_KINDS = ['address', 'duplicate', 'blank', 'unreadable'] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/**
 * Which rows are verified and charged once: those of one address, or those of one mailbox, where a provider documents
 * which spellings lead to it.
 */
export const DEDUPES = ['address', 'mailbox'] as const;
export type Dedupe = (typeof DEDUPES)[number];
export const DEFAULT_DEDUPE: Dedupe = 'address';

interface ListStatusFacts {
  /** Whether it has ended, so that no result is still to come. */
  readonly isFinal: boolean;
  /** What is allowed in it. */
  readonly actions: readonly ListAction[];
}
const ROWS = {
  ready: { isFinal: false, actions: ['start', 'cancel', 'delete'] },
  running: { isFinal: false, actions: ['pause', 'cancel'] },
  paused: { isFinal: false, actions: ['resume', 'cancel', 'delete'] },
  completed: { isFinal: true, actions: ['delete'] },
  cancelled: { isFinal: true, actions: ['delete'] },
  failed: { isFinal: true, actions: ['delete'] },
} as const satisfies Record<ListStatus, ListStatusFacts>;
const LIST_STATUS_FACTS: Readonly<Record<ListStatus, ListStatusFacts>> = ROWS;

export type FinalListStatus = { [S in ListStatus]: (typeof ROWS)[S]['isFinal'] extends true ? S : never }[ListStatus];
export const hasEnded = (status: ListStatus): boolean => LIST_STATUS_FACTS[status].isFinal;

const statusesFor = (action: ListAction): readonly ListStatus[] =>
  LIST_STATUSES.filter((status) => LIST_STATUS_FACTS[status].actions.includes(action));
/** An action is allowed in these statuses. */
export const LIST_ACTION_STATUSES: Readonly<Record<ListAction, readonly ListStatus[]>> = {
  start: statusesFor('start'),
  pause: statusesFor('pause'),
  resume: statusesFor('resume'),
  cancel: statusesFor('cancel'),
  delete: statusesFor('delete'),
};

/** Workbooks and what is read like them. `ods`: also as a flat document; `spreadsheetml`: XML of Excel 2003. */
export const BOOK_FORMATS = ['xlsx', 'xlsb', 'xls', 'ods', 'spreadsheetml', 'html'] as const;
export type BookFormat = (typeof BOOK_FORMATS)[number];

/**
 * Files with addresses have these forms. `csv` has any delimiter, `text` an address per line, `json` is one value with
 * the records in it, `ndjson` one value after the other.
 */
export const FILE_FORMS = ['csv', 'tsv', 'text', 'ndjson', 'json', 'vcard', 'ldif', ...BOOK_FORMATS] as const;
export type FileForm = (typeof FILE_FORMS)[number];

/** Why a list did not start, or failed: a code of the error catalog and its sentence. */
export type ListError = { readonly code: string; readonly error: string };

/** What a column of a file of filters may hold. */
export const FILTER_FIELDS = ['filter_type', 'value', 'reason', 'action', 'match', 'expires_at'] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

/** How a file is to be read, as its sender said it; what is null or missing is detected. */
export interface ReadChoice {
  /** The columns of addresses are given by names, or by numbers from 1; `all` means every column with addresses. */
  readonly columns?: readonly string[] | 'all' | null;
  /** The row of the file with the names of the columns is counted from 1; 0: none. */
  readonly headerRow?: number | null;
  readonly delimiter?: string | null;
  readonly encoding?: string | null;
  /** Chooses a sheet of a workbook, by name or number. */
  readonly sheet?: string | null;
  /** Names an entry of an archive; for JSON, it is the path to the list in it. */
  readonly entry?: string | null;
}

/** What the request with a file says of it beside how it is to be read. */
export interface SentAs {
  /** `json`: it is an array of addresses; null: what it is is found out. */
  readonly form: 'json' | null;
  /** The media type has this charset. */
  readonly charset: string | null;
}

/** Between the cells of a row, these names stand for the characters that the API takes, too. */
export const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;
type DelimiterName = keyof typeof DELIMITERS;
const isDelimiterName = (text: string): text is DelimiterName => Object.hasOwn(DELIMITERS, text);
export const delimiterOf = (text: string): string => (isDelimiterName(text) ? DELIMITERS[text] : text);

/** A list may have the warnings of its file (read-warnings.ts), and those of the request that made or changed it. */
export const LIST_WARNING_CODES = [...READ_WARNING_CODES, 'unknown_field'] as const;

/** In the place of the status of a row whose result is still to come, in files with results. */
export const PENDING = 'pending';

/** Files with results have these forms; `jsonl` is one JSON object in each line. */
export const RESULT_FORMATS = ['csv', 'xlsx', 'jsonl'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];
