import { once } from 'node:events';
import { constants } from 'node:os';
import { systemClock } from '../kernel/clock.ts';

/** A launcher and a service manager may both send the signal; within this time they count as one. */
const ECHO_MS = 1000;
/** A step of the start may hang; the stop has its own limit of 30 s. */
const EXIT_MS = 35_000;

type StopSignal = 'SIGTERM' | 'SIGINT';

/** Returns the exit status that a shell gives to the signal. */
const exitCodeOf = (name: StopSignal): number => 128 + constants.signals[name];

/** Says why the signal of `Termination` aborted. */
export class Terminated extends Error {
  readonly exitCode: number;
  constructor(name: StopSignal) {
    super(`ended by ${name}`);
    this.exitCode = exitCodeOf(name);
  }
}

/** What signals ask of a process: the first one to stop, the next to skip the drain, or to exit at once. */
export class Termination {
  readonly #asked = new AbortController();
  #askedAt = 0;
  /** The first signal was a Ctrl-C: somebody is waiting. */
  #interactive = false;
  #endDrain: (() => void) | null = null;
  #exit: NodeJS.Timeout | null = null;

  constructor() {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => this.#on(name));
  }

  /** Aborts at the first SIGTERM or SIGINT, also during the start. */
  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** Resolves after `ms` from the first signal, at the next signal, or immediately after a Ctrl-C. */
  async drain(ms: number): Promise<void> {
    if (ms === 0 || this.#interactive) return;
    this.#exitWithin(ms + EXIT_MS);
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#endDrain = resolve;
    await promise;
    clearTimeout(timer);
    this.#endDrain = null;
    this.#exitWithin(EXIT_MS);
  }

  #on(name: StopSignal): void {
    const now = systemClock.elapsed();
    if (!this.signal.aborted) {
      this.#interactive = name === 'SIGINT' && onTerminal();
      this.#askedAt = now;
      this.#exitWithin(EXIT_MS);
      this.#asked.abort(new Terminated(name));
    } else if (now - this.#askedAt > ECHO_MS) {
      this.#askedAt = now;
      if (this.#endDrain === null) process.exit(exitCodeOf(name));
      this.#endDrain();
    }
  }

  #exitWithin(ms: number): void {
    if (this.#exit !== null) clearTimeout(this.#exit);
    this.#exit = exitWithin(ms);
  }
}

export const onTerminal = (): boolean => [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Exits even if something abandoned still keeps the event loop alive. */
export const exitSoon = (): void => void exitWithin(1000);

const exitWithin = (ms: number): NodeJS.Timeout => setTimeout(() => process.exit(process.exitCode ?? 1), ms).unref();
