/** Worker thread for list updates: merging takes seconds and would block requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.ts';
import { fetchLists, type ListsOptions, type WorkerMessage } from './disposable-lists.ts';

const result: WorkerMessage = await fetchLists(workerData as ListsOptions, systemClock).then(
  (summary) => ({ summary }),
  (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
);
parentPort?.postMessage(result);
