import { within } from '../kernel/bounded-wait.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/log.ts';

/** Closing everything may take this long. */
const CLOSE_TIMEOUT_MS = 30_000;
/** Each closer has at least this long, even if earlier ones used up the total. */
const FLOOR_MS = 500;

interface Closer {
  readonly name: string;
  readonly withinMs: number;
  readonly close: () => void | Promise<void>;
}

/**
 * A stack of closers: everything that opens adds its closer. A failed start and a stop both run all of them, newest
 * first.
 */
export class Closers {
  readonly #stack: Closer[] = [];
  readonly #logger: Logger;
  readonly #totalMs: number;
  readonly #clock: Clock;
  #closed: Promise<readonly string[]> | null = null;

  constructor(
    logger: Logger,
    { totalMs = CLOSE_TIMEOUT_MS, clock = systemClock }: { totalMs?: number; clock?: Clock } = {},
  ) {
    this.#logger = logger;
    this.#totalMs = totalMs;
    this.#clock = clock;
  }

  /** True once closing has begun. */
  get closing(): boolean {
    return this.#closed !== null;
  }

  /** `close` is abandoned after `withinMs`. */
  add(name: string, withinMs: number, close: () => void | Promise<void>): void {
    this.#stack.push({ name, withinMs, close });
  }

  /**
   * Never throws: closers that fail or hang are logged, and the others still run. Returns the names of the failed ones.
   */
  closeAll(): Promise<readonly string[]> {
    this.#closed ??= this.#run();
    return this.#closed;
  }

  async #run(): Promise<readonly string[]> {
    const untilMs = this.#clock.elapsed() + this.#totalMs;
    const failed: string[] = [];
    for (let closer = this.#stack.pop(); closer !== undefined; closer = this.#stack.pop()) {
      const left = untilMs - this.#clock.elapsed() - FLOOR_MS * this.#stack.length;
      const ms = Math.max(Math.min(closer.withinMs, left), FLOOR_MS);
      if (!(await this.#close(closer, ms))) failed.push(closer.name);
    }
    return failed;
  }

  async #close({ name, close }: Closer, ms: number): Promise<boolean> {
    const closed = async () => {
      await close();
      return true;
    };
    const late = () => {
      this.#logger.error({ part: name, waited_ms: Math.round(ms) }, 'a part of the service did not close in time');
      return false;
    };
    try {
      return await within({ ms, late }, closed);
    } catch (error) {
      this.#logger.error({ part: name, err: error }, 'a part of the service failed to close');
      return false;
    }
  }
}
