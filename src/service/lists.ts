import { Worker } from 'node:worker_threads';
import { type UpdateSummary, updateLists } from '../engine/lists/update.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Said } from './lists-worker.ts';

export interface ListsOptions {
  readonly listsDir: string;
  readonly listsDisposableUrl: string;
  readonly listsFakefilterUrl: string;
}

/** Fetches the newest disposable list; running services take it by themselves. Throws an Error that says why not. */
export const fetchLists = (options: ListsOptions, clock: Clock): Promise<UpdateSummary> =>
  updateLists({
    dir: options.listsDir,
    urls: { disposable: options.listsDisposableUrl, fakefilter: options.listsFakefilterUrl },
    fetchText,
    clock,
  });

/** Beside this file, from the sources as from dist/. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './lists-worker.ts' : './lists-worker.js', import.meta.url);

/** The same in a thread of its own, for a process that has requests to answer meanwhile. */
export function fetchListsApart(options: ListsOptions): Promise<UpdateSummary> {
  const { listsDir, listsDisposableUrl, listsFakefilterUrl } = options;
  const workerData: ListsOptions = { listsDir, listsDisposableUrl, listsFakefilterUrl };
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { workerData, execArgv: [] });
    worker.once('message', (said: Said) => {
      if ('summary' in said) resolve(said.summary);
      else reject(new Error(said.problem));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the update ended with ${code}`)));
  });
}

/** `Version 2026-11-20: 40,840 disposable domains …` */
export const summaryLine = ({ version, total, added, removed }: UpdateSummary): string =>
  `Version ${version}: ${total} disposable domains, ${added} new, ${removed} gone.`;

/** One text over HTTP(S), bounded in size and time. Throws with a sentence that names the address. */
async function fetchText(url: string, limit: { maxBytes: number; timeoutMs: number }): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(limit.timeoutMs), redirect: 'follow' }).catch(
    (error: unknown) => {
      const { message } = ((error as Error).cause ?? error) as Error;
      throw new Error(`${url} cannot be fetched: ${message}`, { cause: error });
    },
  );
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit.maxBytes) throw new Error(`${url} is larger than ${limit.maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
