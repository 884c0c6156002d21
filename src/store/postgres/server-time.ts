import type { Clock } from '../../kernel/clock.ts';

/** A better reading counts for so long, ms: clocks drift, and the server's may be set. */
const BEST_FOR_MS = 10_000;

/** The server's clock as this process knows it: the last good reading, and the time that has passed since. */
export class ServerTime {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** `ahead`: the server's time minus `elapsed()`, right to within half of `tookMs`. */
  #best: { readonly ahead: number; readonly tookMs: number; readonly at: number } | null = null;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** ms; null: it was never read. */
  now(): number | null {
    return this.#best === null ? null : Math.round(this.#best.ahead + this.#clock.elapsed());
  }

  /** `time`: what the server's clock showed at some moment since `asked`, by `elapsed()`. */
  read(time: number, asked: number): void {
    const at = this.#clock.elapsed();
    const tookMs = at - asked;
    const best = this.#best;
    if (best !== null && tookMs > best.tookMs && at - best.at < BEST_FOR_MS) return;
    this.#best = { ahead: time - (asked + at) / 2, tookMs, at };
  }

  /** It is not what it was taken for. */
  forget(): void {
    this.#best = null;
  }
}
