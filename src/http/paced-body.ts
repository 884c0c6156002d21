import { Readable } from 'node:stream';
import { systemClock } from '../kernel/clock.ts';
import { COSTS, type Pace } from '../kernel/costs.ts';
import { ApiError } from '../kernel/errors.ts';
import type { PacedReading } from '../service/costs.ts';

/** Passed on at a time, bytes: what a client has taken is known in steps of this. */
const PACED_BYTES = 20_000;

/**
 * The body of a reply that is made as the client takes it. A client that takes less than the pace of its row is ended,
 * and so is one whose place went to another account: a body that breaks off is not taken for a whole one.
 */
export class PacedBody extends Readable {
  readonly #reading: PacedReading<string | Uint8Array>;
  readonly #pieces: AsyncGenerator<string | Uint8Array, void, undefined>;
  readonly #pace: Pace;
  #rest: Buffer = Buffer.alloc(0);
  /** Milliseconds that the client may still let us wait. */
  #allowedMs: number;
  /** The wait for the client began at this time of the clock's `elapsed`; null while it is we who work. */
  #waitingSince: number | null = null;
  #offered = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(reading: PacedReading<string | Uint8Array>) {
    super({ highWaterMark: PACED_BYTES });
    this.#reading = reading;
    this.#pieces = reading.pieces();
    this.#pace = COSTS[reading.cost].pace;
    this.#allowedMs = this.#pace.seconds * 1000;
    reading.place.onLost(() => this.destroy(new ApiError('overloaded', 'The download was too slow, and ended.')));
  }

  override _read(): void {
    this.#taken();
    this.#next().then(
      (slice) => {
        if (this.destroyed) return;
        if (slice !== null) this.#offer(slice.length);
        this.push(slice);
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#reading.place.release();
    // It ends once the piece is made that is being made.
    this.#pieces.return().then(
      () => done(error),
      (failure: Error) => done(error ?? failure),
    );
  }

  async #next(): Promise<Buffer | null> {
    while (this.#rest.length === 0) {
      const step = await this.#pieces.next();
      if (step.done) return null;
      this.#rest = typeof step.value === 'string' ? Buffer.from(step.value) : bytesOf(step.value);
      // Pushing nothing, the stream notices that the client has disconnected.
      if (this.#rest.length === 0) return this.#rest;
    }
    const slice = this.#rest.subarray(0, PACED_BYTES);
    this.#rest = this.#rest.subarray(slice.length);
    return slice;
  }

  #offer(bytes: number): void {
    this.#offered = bytes;
    this.#waitingSince = systemClock.elapsed();
    const slow = () => this.destroy(new ApiError('request_timeout', 'The download was too slow, and ended.'));
    this.#timer = setTimeout(slow, this.#allowedMs).unref();
  }

  /** What was offered last has been taken, as more is asked for. */
  #taken(): void {
    if (this.#waitingSince === null) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const { seconds, bytes } = this.#pace;
    const earnedMs = (this.#offered / bytes) * seconds * 1000;
    const left = this.#allowedMs - (systemClock.elapsed() - this.#waitingSince) + earnedMs;
    this.#allowedMs = Math.max(0, Math.min(seconds * 1000, left));
    this.#waitingSince = null;
    this.#reading.place.moved(this.#offered);
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);
