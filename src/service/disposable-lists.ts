import { type UpdateSource, type UpdateSummary, updateDisposable } from '../engine/data/update.ts';
import { obeyProxyVariables } from '../engine/http/proxy.ts';
import type { Clock } from '../kernel/clock.ts';
import { Thread, threadCode } from '../kernel/thread.ts';

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
  updateDisposable({
    dir: options.listsDir,
    urls: urlsOf(options),
    fetchText,
    clock,
  });

/** Merging takes seconds, and would block requests. What was written so far is put in place whole or not at all. */
const updateThread = new Thread<ListsOptions, UpdateSummary>({
  code: threadCode(import.meta.url, './disposable-lists-worker.ts', './disposable-lists-worker.js'),
  idleMs: 0,
  cancelMs: 0,
});

/** Does the same in a thread, for a process that serves requests. */
export const fetchListsInWorker = (
  {
    listsDir,
    listsDisposableUrl,
    listsFakefilterUrl,
    listsMailcheckerUrl,
    listsTompecUrl,
    listsIvoloUrl,
  }: ListsOptions,
  signal?: AbortSignal,
): Promise<UpdateSummary> =>
  updateThread.call(
    { listsDir, listsDisposableUrl, listsFakefilterUrl, listsMailcheckerUrl, listsTompecUrl, listsIvoloUrl },
    { ...(signal && { signal }) },
  );

/** Writes `Version 2026-11-20: 40,840 disposable domains …`, after what went wrong. */
export const summaryLine = ({ version, total, added, removed, sources }: UpdateSummary): string =>
  [
    ...sources.flatMap(({ problem }) => (problem === null ? [] : `Kept as it was: ${problem.replace(/\.$/, '')}.`)),
    `Version ${version}: ${total} disposable domains, ${added} added, ${removed} removed.`,
  ].join('\n');

/**
 * Downloads a text over HTTP(S), with limits on size and time. Throws an Error with a message that contains the URL.
 */
async function fetchText(url: string, limit: { maxBytes: number; timeoutMs: number }): Promise<string> {
  obeyProxyVariables();
  const response = await fetch(url, { signal: AbortSignal.timeout(limit.timeoutMs), redirect: 'follow' }).catch(
    (error: unknown) => {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`cannot download ${url}: ${why}`, { cause: error });
    },
  );
  if (!response.ok) throw new Error(`${url} returned ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > limit.maxBytes) throw new Error(`${url} is larger than ${limit.maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
