/** The main thread's end of a thread with a connection (thread.ts). */

import { Worker } from 'node:worker_threads';
import { StoreVersionError } from '../migrations.ts';
import { ThreadLostError } from './failure.ts';
import {
  type Calls,
  MEMORY,
  type Operation,
  type StoreThreadOptions,
  type ThreadFailure,
  type ThreadReply,
} from './thread-messages.ts';

/**
 * One writer at a time in this process, in order of arrival: there is one connection that writes, and a transaction on
 * it may take several messages. Batches of charges, each of which is one message, may be under way together.
 */
export class WriteMutex {
  /** All that was queued. */
  #last: Promise<unknown> = Promise.resolve();
  /** What was queued last to run alone, and all before it. */
  #lastAlone: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all work queued before it. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    this.#lastAlone = this.#last;
    return result;
  }

  /** Runs `work` beside other such work, after whatever was queued before it to run alone. */
  runShared<T>(work: () => T | Promise<T>): Promise<T> {
    const [before, result] = [this.#last, this.#lastAlone.then(work)];
    const ended = () => before;
    this.#last = result.then(ended, ended);
    return result;
  }

  /** Waits for the mutex; the returned function releases it. */
  acquire(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    this.#lastAlone = promise;
    return before.then(() => resolve);
  }
}

/** Next to this file in the sources; by its name in dist/. */
const CODE = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './sqlite-thread.js', import.meta.url);

/** Of its heap, MB: the short-lived objects of a few batches. */
const YOUNG_MB = 8;

interface Waiting {
  readonly resolve: (output: Calls[Operation]['output']) => void;
  readonly reject: (error: Error) => void;
}

/** One thread, from its start to its end. */
export class ThreadSession {
  readonly exited: Promise<void>;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onLost: (error: ThreadLostError) => void;
  #last = 0;
  /** Why it takes no more calls. */
  #ended: Error | null = null;

  private constructor(options: StoreThreadOptions, onLost: (error: ThreadLostError) => void) {
    this.#onLost = onLost;
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB };
    this.#worker = new Worker(CODE, { workerData: options, execArgv: [], resourceLimits });
    this.#worker.on('message', (reply: ThreadReply) => this.#receive(reply));
    this.#worker.on('error', (error: Error) => this.#lose(error.message));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.exited = promise;
    this.#worker.once('exit', (code) => {
      this.#lose(`exit code ${code}`);
      resolve();
    });
  }

  /**
   * `onLost`: told when it ends without having been closed. Throws an Error of SQLite when the database cannot be
   * opened.
   */
  static async open(options: StoreThreadOptions, onLost: (error: ThreadLostError) => void): Promise<ThreadSession> {
    const session = new ThreadSession(options, onLost);
    try {
      await session.#reply(0);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Rejects with ThreadLostError when the thread ends before it replies: the outcome is unknown. */
  call<O extends Operation>(operation: O, ...input: Calls[O]['input']): Promise<Calls[O]['output']> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    this.#last += 1;
    this.#worker.postMessage([this.#last, operation, ...input]);
    return this.#reply(this.#last);
  }

  /** After the calls before it; those after it are rejected. */
  async close(): Promise<void> {
    if (this.#ended === null) {
      this.#ended = new Error('The store is closed.');
      this.#worker.ref();
      this.#worker.postMessage([0, 'close']);
    }
    await this.exited;
  }

  #reply<O extends Operation>(id: number): Promise<Calls[O]['output']> {
    // A process may end while its threads are idle, not while it waits for one.
    if (this.#waiting.size === 0) this.#worker.ref();
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #receive([id, failure, output = null]: ThreadReply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0 && this.#ended === null) this.#worker.unref();
    if (failure === null) waiting?.resolve(output);
    else waiting?.reject(errorOf(failure));
  }

  #lose(why: string): void {
    const closed = this.#ended !== null;
    const lost = new ThreadLostError(why);
    if (!closed) this.#ended = lost;
    for (const { reject } of this.#waiting.values()) reject(lost);
    this.#waiting.clear();
    if (!closed) this.#onLost(lost);
  }
}

function errorOf(failure: ThreadFailure): Error {
  if ('newer' in failure) return new StoreVersionError(failure.newer, failure.known);
  const { message, ...codes } = failure;
  return Object.assign(new Error(message), codes);
}

/** A thread that is started again when it was lost; but not with a database in memory, which was lost with it. */
export class StoreThread {
  readonly #options: StoreThreadOptions;
  readonly #onLost: (error: ThreadLostError) => void;
  #current: Promise<ThreadSession> | null = null;
  #before: ThreadSession | null = null;

  constructor(options: StoreThreadOptions, onLost: (error: ThreadLostError) => void) {
    this.#options = options;
    this.#onLost = onLost;
  }

  /** Whether it was used or told to start. */
  get started(): boolean {
    return this.#current !== null || this.#before !== null;
  }

  /** In the background; what fails is reported by the next call. */
  start(): void {
    this.session().catch(() => undefined);
  }

  /** Throws an Error of SQLite when the database cannot be opened. */
  session(): Promise<ThreadSession> {
    this.#current ??= this.#open().catch((error: unknown) => {
      this.#current = null;
      throw error;
    });
    return this.#current;
  }

  async call<O extends Operation>(operation: O, ...input: Calls[O]['input']): Promise<Calls[O]['output']> {
    return (await this.session()).call(operation, ...input);
  }

  async close(): Promise<void> {
    const session = await this.#current?.catch(() => null);
    await session?.close();
  }

  async #open(): Promise<ThreadSession> {
    // Its connection holds its locks until it has ended.
    await this.#before?.exited;
    this.#before = await ThreadSession.open(this.#options, (error) => {
      if (this.#options.path !== MEMORY) this.#current = null;
      this.#onLost(error);
    });
    return this.#before;
  }
}
