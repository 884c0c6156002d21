import { api, unwrap } from '../../../api/client.ts';
import type { FilterImport } from '../../../api/schema.ts';
import { type ImportLine, nextChunk, toRequest } from './lines.ts';

type Answer = FilterImport['results'][number];
export type Outcome = Answer['outcome'];
export type LineResult = Answer & { readonly line: ImportLine };

export interface ImportState {
  /** Of the lines that were judged, in their order. */
  readonly results: readonly LineResult[];
  readonly phase: 'running' | 'stopping' | 'stopped' | 'failed' | 'done';
  /** Why it `failed`. */
  readonly error: Error | null;
}

/** Adds many filters, one request after the other. */
export interface ImportRun {
  readonly total: number;
  readonly state: () => ImportState;
  readonly subscribe: (listener: () => void) => () => void;
  /** After the request that is under way. */
  readonly stop: () => void;
  /** After a halt. What was sent but not answered is sent again: what arrived is there already then. */
  readonly goOn: () => void;
}

/** Begins at once. `onHalt` is called whenever it comes to a halt. */
export function startImport(account: string, lines: readonly ImportLine[], onHalt: () => void): ImportRun {
  const sendable = lines.filter(({ problem }) => problem === null);
  const refused = lines.filter(({ problem }) => problem !== null);
  const listeners = new Set<() => void>();
  let sent = 0;
  let state: ImportState = { results: refused.map(refusedHere), phase: 'running', error: null };

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
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => {
      if (state.phase === 'running') set({ phase: 'stopping' });
    },
    goOn: () => {
      if (state.phase === 'stopped' || state.phase === 'failed') void run();
    },
  };
}

const refusedHere = (line: ImportLine): LineResult => ({ line, outcome: 'invalid', filter: null, error: line.problem });

async function send(account: string, chunk: readonly ImportLine[]): Promise<LineResult[]> {
  const path = '/dashboard/accounts/{account}/filters/import';
  const body = { lines: chunk.map(toRequest) };
  const { results } = await unwrap(api.POST(path, { params: { path: { account } }, body }));
  if (results.length !== chunk.length) throw new Error('The service did not answer for every line. Try again.');
  return results.map((answer, at) => ({ ...answer, line: chunk[at]! }));
}
