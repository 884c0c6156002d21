/** A store that hangs: the server no longer answers, or another process has SQLite's write lock. */
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { commitProxy } from './commit-proxy.ts';

interface Stallable {
  /** For stores that are to hang. */
  readonly url: string;
  stall(): Promise<void>;
  resume(): void;
  close(): Promise<void>;
}

export async function stallable(url: string): Promise<Stallable> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.slice('sqlite:'.length));
    return {
      url,
      // Tried again while the store writes: waiting for it in SQLite would hold up the thread that it needs.
      stall: () => expect.poll(() => db.exec('BEGIN IMMEDIATE'), { timeout: 10_000, interval: 10 }).toBeUndefined(),
      resume: () => db.exec('COMMIT'),
      close: async () => db.close(),
    };
  }
  const proxy = await commitProxy(url);
  return { url: proxy.url, stall: async () => proxy.stall(true), resume: () => proxy.stall(false), close: proxy.close };
}
