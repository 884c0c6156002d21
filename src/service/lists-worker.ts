/** A thread of its own for the update of the lists: putting them together takes seconds, and requests would wait. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.ts';
import { fetchLists, type ListsOptions } from './lists.ts';

/** What the thread says, once. */
export type Said = { readonly summary: Awaited<ReturnType<typeof fetchLists>> } | { readonly problem: string };

const said: Said = await fetchLists(workerData as ListsOptions, systemClock).then(
  (summary) => ({ summary }),
  (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
);
parentPort?.postMessage(said);
