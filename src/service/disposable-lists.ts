import { Worker } from 'node:worker_threads';
import type { UpdateSource } from '../engine/lists/sources.ts';
import { type UpdateSummary, updateLists } from '../engine/lists/update.ts';
import type { Clock } from '../kernel/clock.ts';

export interface ListsOptions {
  readonly listsDir: string;
  readonly listsDisposableUrl: string;
  readonly listsFakefilterUrl: string;
  readonly listsMailcheckerUrl: string | null;
  readonly listsTompecUrl: string | null;
  readonly listsIvoloUrl: string | null;
}

export const urlsOf = (options: Omit<ListsOptions, 'listsDir'>): Record<UpdateSource, string | null> => ({
  disposable: options.listsDisposableUrl,
  fakefilter: options.listsFakefilterUrl,
  mailchecker: options.listsMailcheckerUrl,
  tompec: options.listsTompecUrl,
  ivolo: options.listsIvoloUrl,
});

/** Downloads the latest disposable list, which running services pick up. Throws an Error with a message for users. */
export const fetchLists = (options: ListsOptions, clock: Clock): Promise<UpdateSummary> =>
  updateLists({
    dir: options.listsDir,
    urls: urlsOf(options),
    fetchText,
    clock,
  });

/** What the thread reports, once. */
export type WorkerMessage = { readonly summary: UpdateSummary } | { readonly problem: string };

/** Next to this file, in the sources and in dist/. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './disposable-lists-worker.ts' : './disposable-lists-worker.js',
  import.meta.url,
);

/** The same in a worker thread, for a process that serves requests. */
export function fetchListsInWorker(options: ListsOptions, signal?: AbortSignal): Promise<UpdateSummary> {
  const { listsDir, listsDisposableUrl, listsFakefilterUrl, listsMailcheckerUrl, listsTompecUrl, listsIvoloUrl } =
    options;
  const workerData: ListsOptions = {
    ...{ listsDir, listsDisposableUrl, listsFakefilterUrl },
    ...{ listsMailcheckerUrl, listsTompecUrl, listsIvoloUrl },
  };
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { workerData, execArgv: [] });
    worker.once('message', (message: WorkerMessage) => {
      if ('summary' in message) resolve(message.summary);
      else reject(new Error(message.problem));
    });
    worker.on('error', reject);
    worker.once('exit', (code) => reject(new Error(`the update exited with ${code}`)));
    // What it wrote so far is put in place whole or not at all.
    signal?.addEventListener('abort', () => void worker.terminate(), { once: true });
  });
}

/** `Version 2026-11-20: 40,840 disposable domains …`, after what went wrong. */
export const summaryLine = ({ version, total, added, removed, sources }: UpdateSummary): string =>
  [
    ...sources.flatMap(({ problem }) => (problem === null ? [] : `Kept as it was: ${problem.replace(/\.$/, '')}.`)),
    `Version ${version}: ${total} disposable domains, ${added} added, ${removed} removed.`,
  ].join('\n');

/**
 * Downloads a text over HTTP(S), with limits on size and time. Throws an Error with a message that contains the URL.
 */
async function fetchText(url: string, limit: { maxBytes: number; timeoutMs: number }): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(limit.timeoutMs), redirect: 'follow' }).catch(
    (error: unknown) => {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`cannot download ${url}: ${why}`, { cause: error });
    },
  );
  if (!response.ok) throw new Error(`${url} returned ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit.maxBytes) throw new Error(`${url} is larger than ${limit.maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
