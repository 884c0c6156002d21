/** What the main thread and the threads of SQLite send each other: statements with their rows, and batches. */
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { QueryResult } from 'kysely';
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import { UndecidedError } from '../charge/apply-batch.ts';
import { type ChargeAnswer, type ChargeRequest, isAdmission } from '../charge/state.ts';
import type {
  AdmissionRequest,
  FilterRule,
  Settlement,
  StoreEvent,
  VerificationRecord,
  VerifyAdmission,
} from '../store.ts';
import type { RowsQuery } from './statements.ts';

/** `columns`: null for a statement that returns no rows. `values`: of all rows, one after the other. */
export type ThreadResult = readonly [
  columns: readonly string[] | null,
  values: readonly unknown[],
  changes: number | bigint,
  lastInsertRowid: number | bigint,
];

/** Runs one statement, in a thread. */
export function query(statement: StatementSync, values: readonly SQLInputValue[]): ThreadResult {
  if (statement.columns().length === 0) {
    const { changes, lastInsertRowid } = statement.run(...values);
    return [null, [], changes, lastInsertRowid];
  }
  statement.setReturnArrays(true);
  // With setReturnArrays, each row is an array.
  const rows: unknown[] = statement.all(...values);
  // Not before: where another process has migrated the store, running it compiles it again.
  return [statement.columns().map(({ name }) => name), rows.flat(), 0, 0];
}

/** The same for a statement that runs once for each row. */
export function runForRows(
  statement: StatementSync,
  { width, parameters }: Pick<RowsQuery, 'width' | 'parameters'>,
): void {
  for (let at = 0; at < parameters.length; at += width) statement.run(...parameters.slice(at, at + width));
}

export function resultOf<R>([columns, values, changes, lastInsertRowid]: ThreadResult): QueryResult<R> {
  if (columns === null) return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  const rows: R[] = [];
  for (let at = 0; at < values.length; at += columns.length) {
    const entries: unknown[][] = columns.map((column, i) => [column, values[at + i]]);
    rows.push(Object.fromEntries(entries));
  }
  return { rows };
}

// A batch of requests and its answers: plain objects. As flat arrays of values, without what a charge has in common
// with the one before it, they took 1.1 µs a charge in batches of 32 instead of 4.1. A verification takes some 65.

/** What `decide` gave for this filter, or for none. */
export interface FilterDecision {
  readonly filter: FilterRule | null;
  readonly record: VerificationRecord | null;
}

/** Functions cannot be sent. */
type SentAdmission = Omit<AdmissionRequest, 'verify' | 'hasDisconnected'> & {
  readonly verify: (Omit<VerifyAdmission, 'decide'> & { readonly decision: FilterDecision }) | null;
};
export type SentRequest =
  | { readonly kind: 'admit'; readonly admit: SentAdmission }
  | { readonly kind: 'settle'; readonly settle: Settlement };

export interface ChargeMessage {
  readonly node: string;
  readonly now: number;
  /** This program has this schema version. */
  readonly known: number;
  readonly requests: readonly SentRequest[];
}

/** `readRequest` reads it; `decision` is for a request for a verification. */
export function sentRequest(request: ChargeRequest, decision: FilterDecision | null): SentRequest {
  if (request.kind === 'settle') return { kind: 'settle', settle: request.settle };
  const { verify, hasDisconnected: _, ...admit } = request.admit;
  if (verify === null || decision === null) return { kind: 'admit', admit: { ...admit, verify: null } };
  const { decide: __, ...sent } = verify;
  return { kind: 'admit', admit: { ...admit, verify: { ...sent, decision } } };
}

export function readRequest(sent: SentRequest): ChargeRequest {
  const enter = () => true;
  if (sent.kind === 'settle') return { ...sent, enter };
  const { verify, ...admit } = sent.admit;
  return {
    kind: 'admit',
    admit: { ...admit, verify: verify && { ...verify, decide: decider(verify.decision) } },
    enter,
  };
}

const decider =
  ({ filter: decidedFor, record }: FilterDecision): VerifyAdmission['decide'] =>
  (filter) => {
    // What it does may be changed while a decision is under way.
    if (filter?.id !== decidedFor?.id || filter?.action !== decidedFor?.action) throw new UndecidedError(filter);
    return record;
  };

/** `undecided`: nothing was recorded, because `decide` has to be called with this filter first. */
export type SentAnswer =
  | Extract<ChargeAnswer, { value: unknown }>
  | { readonly failed: Pick<ApiError, 'message' | 'details'> & { readonly code: ErrorCode | null } }
  | { readonly undecided: FilterRule | null };

export interface AnswersMessage {
  readonly events: readonly StoreEvent[];
  readonly answers: readonly SentAnswer[];
}

export function sentAnswer(answer: ChargeAnswer): SentAnswer {
  if ('error' in answer) return sentError(answer.error);
  const value = 'value' in answer ? answer.value : null;
  // The record is known to who sent it.
  return { value: isAdmission(value) && value.outcome === 'settled' ? { ...value, record: null } : value };
}

function sentError(error: unknown): SentAnswer {
  if (error instanceof UndecidedError) return { undecided: error.filter };
  if (!(error instanceof ApiError)) return { failed: { code: null, message: String(error), details: {} } };
  const { code, message, details } = error;
  return { failed: { code, message, details } };
}

export function readAnswer(answer: Exclude<SentAnswer, { undecided: unknown }>, to: SentRequest): ChargeAnswer {
  if ('failed' in answer) {
    const { code, message, details } = answer.failed;
    return { error: code === null ? new Error(message) : new ApiError(code, message, details) };
  }
  const { value } = answer;
  if (!isAdmission(value) || value.outcome !== 'settled') return answer;
  const record = to.kind === 'admit' ? (to.admit.verify?.decision.record ?? null) : null;
  if (record === null) throw new TypeError('A charge was answered that was not asked for.');
  return { value: { ...value, record } };
}
