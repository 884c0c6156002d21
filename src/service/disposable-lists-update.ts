import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.ts';
import type { Jobs } from '../store/jobs/queue.ts';
import type { ListsOptions } from './disposable-lists.ts';
import type { SharedLists } from './shared-lists.ts';

const UPDATE_POLL_MS = 100;
const UPDATE_WAIT_MS = 120_000;

/** Updates of the disposable list, as a job and for an operator who waits for the result. */
export function createListsUpdate(parts: {
  jobs: Pick<Jobs, 'add' | 'list' | 'get'>;
  clock: Clock;
  shared: SharedLists;
  options: ListsOptions & { readonly role: 'all' | 'api' | 'worker' };
}) {
  const { jobs, clock, shared, options } = parts;
  /** Says what this process's last update did. */
  let summary: string | null = null;

  async function run(signal?: AbortSignal): Promise<void> {
    // Imported lazily, to keep the start fast.
    const { fetchListsInWorker, summaryLine } = await import('./disposable-lists.ts');
    const updated = await fetchListsInWorker(options, signal).catch(async (error: Error) => {
      if (!signal?.aborted) await shared.record([], error.message);
      throw error;
    });
    summary = summaryLine(updated);
    await shared.record(updated.sources, null);
    await shared.exchange();
  }

  /** Returns the ID of the new job, or of the one that is already open. */
  async function enqueue(): Promise<string | null> {
    const id = await jobs.add({ kind: 'lists_update', payload: {}, key: 'lists' });
    if (id !== null) return id;
    const { items } = await jobs.list({ failed: false, limit: 1000 });
    return items.find(({ kind }) => kind === 'lists_update')?.id ?? null;
  }

  return {
    /** Updates in this process, in a worker thread. Throws an Error with a message for users. */
    run,
    /** Adds a job, which any node may claim, and waits for it. Returns a sentence on the outcome; throws as `run`. */
    async request() {
      summary = null;
      // Such a process runs no jobs, so the update must be made here, in its own folder.
      if (options.role === 'api') await run();
      else await ended(await enqueue());
      await shared.exchange();
      return summary ?? 'The lists were updated on another node.';
    },
  };

  async function ended(id: string | null): Promise<void> {
    for (const untilMs = clock.elapsed() + UPDATE_WAIT_MS; id !== null; await sleep(UPDATE_POLL_MS)) {
      const job = await jobs.get(id);
      if (job === null) return;
      if (job.state === 'failed') throw new Error(job.lastError ?? 'the update failed');
      if (clock.elapsed() > untilMs) throw new Error('the update is still running in the background');
    }
  }
}

export type ListsUpdate = ReturnType<typeof createListsUpdate>;
