/**
 * What a process does at once for lists, while nobody else charges and while single calls come. Calls wait for each of
 * the steps, and longer the more is in memory (docs/architecture.md#what-v8-does).
 */
export const LIST_STEPS = {
  alone: { chunks: 4, blocks: 4, pass: 500, sliceMs: 3, outcomes: 1_000, outcomesWaiting: 1_000 },
  besideCalls: { chunks: 1, blocks: 1, pass: 100, sliceMs: 1, outcomes: 25, outcomesWaiting: 200 },
} as const satisfies Record<string, ListSteps>;

export interface ListSteps {
  /** How many chunks one transaction claims. */
  readonly chunks: number;
  /** Blocks of an upload that are stored in one transaction. */
  readonly blocks: number;
  /** Addresses whose evidence is in memory together. */
  readonly pass: number;
  /** Addresses are judged for so long without a pause. */
  readonly sliceMs: number;
  /** How many outcomes one transaction records. */
  readonly outcomes: number;
  /** Outcomes that wait to be recorded before no more addresses are judged from memory. */
  readonly outcomesWaiting: number;
}
