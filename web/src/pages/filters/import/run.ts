import { api, unwrap } from '../../../api/client.ts';
import type { FilterImport } from '../../../api/schema.ts';
import { type ImportLine, nextChunk, toRequest } from './lines.ts';

type Answer = FilterImport['results'][number];
export type Outcome = Answer['outcome'];
export type LineResult = Answer & { readonly line: ImportLine };

export interface ImportState {
  /** Of the lines processed so far, in their order. */
  readonly results: readonly LineResult[];
  readonly phase: 'running' | 'stopping' | 'stopped' | 'failed' | 'done';
  /** Set if `phase` is `failed`. */
  readonly error: Error | null;
}

/** Imports filters with one request at a time. */
export interface ImportRun {
  readonly total: number;
  /** Lines that were not sent yet, or not answered. */
  readonly rest: () => readonly ImportLine[];
  readonly state: () => ImportState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Stops after the current request. */
  readonly stop: () => void;
  /**
   * Continues after a stop or a failure. The unanswered request is repeated, which is harmless: existing filters are
   * reported as such.
   */
  readonly resume: () => void;
}

/** Starts immediately. `onHalt` is called when it completes, stops or fails. */
export function startImport(account: string, lines: readonly ImportLine[], onHalt: () => void): ImportRun {
  const sendable = lines.filter(({ problem }) => problem === null);
  const unusable = lines.filter(({ problem }) => problem !== null);
  const listeners = new Set<() => void>();
  let sent = 0;
  let state: ImportState = { results: unusable.map(rejectedLine), phase: 'running', error: null };

  function set(change: Partial<ImportState>): void {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  }

  async function run(): Promise<void> {
    set({ phase: 'running', error: null });
    try {
      while (sent < sendable.length && state.phase === 'running') {
        const chunk = nextChunk(sendable, sent);
        const results = [...state.results, ...(await send(account, chunk))];
        sent += chunk.length;
        set({ results: results.sort((a, b) => a.line.number - b.line.number) });
      }
      set({ phase: sent < sendable.length ? 'stopped' : 'done' });
    } catch (error) {
      set({ phase: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
    }
    onHalt();
  }

  void run();
  return {
    total: lines.length,
    rest: () => sendable.slice(sent),
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => {
      if (state.phase === 'running') set({ phase: 'stopping' });
    },
    resume: () => {
      if (state.phase === 'stopped' || state.phase === 'failed') void run();
    },
  };
}

const rejectedLine = (line: ImportLine): LineResult => ({
  line,
  outcome: 'invalid',
  filter: null,
  error: line.problem,
});

async function send(account: string, chunk: readonly ImportLine[]): Promise<LineResult[]> {
  const path = '/dashboard/accounts/{account}/filters/import';
  const body = { lines: chunk.map(toRequest) };
  const { results } = await unwrap(api.POST(path, { params: { path: { account } }, body }));
  if (results.length !== chunk.length)
    throw new Error('The service did not return a result for every line. Try again.');
  return results.map((answer, at) => ({ ...answer, line: chunk[at]! }));
}
