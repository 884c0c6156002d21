/**
 * A process proves that it is alive by an exclusive lock on a small file beside the database, `<db>-node-<id>`. The
 * kernel drops the lock when the process ends for any reason, and other containers on the host see it.
 */
import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { NodeLife } from '../driver.ts';
import { isBusy } from './failure.ts';
import { makePrivateFile } from './private-files.ts';

/** The open, locked file; null when another process has the lock. */
function lock(path: string): DatabaseSync | null {
  makePrivateFile(path);
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec('BEGIN EXCLUSIVE');
    return file;
  } catch (error) {
    file.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

export class SqliteNode implements NodeLife {
  /** Null for an in-memory database, which no other process can see. */
  readonly #path: string | null;
  readonly #newId: () => string;
  #file: DatabaseSync | null = null;
  current: string | null = null;

  constructor(path: string | null, newId: () => string) {
    this.#path = path;
    this.#newId = newId;
  }

  /**
   * Returns this process's node, which the first call creates, locks and announces by `announce`. Make one call at a
   * time.
   */
  async acquire(announce: (id: string) => Promise<void>): Promise<string> {
    if (this.current !== null) return this.current;
    const id = this.#newId();
    this.#file ??= this.#path === null ? null : lock(this.#lockPath(id));
    try {
      await announce(id);
    } catch (error) {
      this.#drop(id);
      throw error;
    }
    this.current = id;
    return id;
  }

  async ifDead<T>(id: string, sweep: () => Promise<T>): Promise<T | null> {
    if (id === this.current) return null;
    if (this.#path === null || !existsSync(this.#lockPath(id))) return sweep();
    const file = lock(this.#lockPath(id));
    if (file === null) return null;
    try {
      const result = await sweep();
      rmSync(this.#lockPath(id), { force: true });
      return result;
    } finally {
      file.close();
    }
  }

  close(): void {
    if (this.current !== null) this.#drop(this.current);
    this.current = null;
  }

  #drop(id: string): void {
    if (this.#file === null) return;
    rmSync(this.#lockPath(id), { force: true });
    this.#file.close();
    this.#file = null;
  }

  #lockPath(id: string): string {
    return `${this.#path}-node-${id}`;
  }
}
