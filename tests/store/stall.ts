/** A store that hangs: the server no longer answers, or another process has SQLite's write lock. */
import { DatabaseSync } from 'node:sqlite';
import { commitProxy } from './commit-proxy.ts';

interface Stallable {
  /** For stores that are to hang. */
  readonly url: string;
  stall(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function stallable(url: string): Promise<Stallable> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.slice('sqlite:'.length));
    return {
      url,
      stall: () => db.exec('BEGIN IMMEDIATE'),
      resume: () => db.exec('COMMIT'),
      close: async () => db.close(),
    };
  }
  const proxy = await commitProxy(url);
  return { url: proxy.url, stall: () => proxy.stall(true), resume: () => proxy.stall(false), close: proxy.close };
}
