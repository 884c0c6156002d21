import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { systemClock } from '../../kernel/clock.ts';
import { PIECE_BYTES, PIECES_PER_SECOND } from '../../kernel/costs.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { HeldPlace } from '../../kernel/fair-queue.ts';
import { whenLate } from './arrival.ts';

/** Until when small pieces of all bodies have used up what is read of them, by the clock's `elapsed`. */
let usedUntil = 0;

/** How long not to read on after so many pieces with so many bytes, ms. */
function restAfter(pieces: number, bytes: number): number {
  const small = pieces - bytes / PIECE_BYTES;
  if (small <= 1) return 0;
  const now = systemClock.elapsed();
  usedUntil = Math.max(now, usedUntil) + (small / PIECES_PER_SECOND) * 1000;
  return usedUntil - now;
}

/** A body that is not read before there is a place for it. */
export class ArrivingBody {
  readonly #source: IncomingMessage;
  readonly #limit: number;
  readonly #tooLarge: () => ApiError;

  constructor(source: IncomingMessage, limit: number, tooLarge: () => ApiError) {
    this.#source = source;
    this.#limit = limit;
    this.#tooLarge = tooLarge;
  }

  /**
   * The body as it arrives; pieces that arrive at the same time are one. It fails when it is too long or too slow, or
   * when its place went to another account.
   */
  held(place: HeldPlace): Readable {
    const source = this.#source;
    let size = 0;
    let pieces: Buffer[] = [];
    let flushing: NodeJS.Immediate | null = null;
    let resting: NodeJS.Timeout | null = null;

    const stream = new Readable({
      read() {
        if (resting === null) source.resume();
      },
      destroy(error, done) {
        if (flushing !== null) clearImmediate(flushing);
        if (resting !== null) endRest();
        source.off('data', arrived).pause();
        done(error);
      },
    });
    const endRest = () => {
      if (resting !== null) clearTimeout(resting);
      resting = null;
      source.socket.resume();
      source.resume();
    };
    const flush = () => {
      flushing = null;
      const [count, block] = [pieces.length, Buffer.concat(pieces)];
      pieces = [];
      if (!stream.push(block)) source.pause();
      const restMs = restAfter(count, block.length);
      if (restMs <= 0 || source.complete) return;
      source.pause();
      // What arrives in one piece is parsed as a whole, so that nothing may be read from the connection either.
      source.socket.pause();
      resting = setTimeout(endRest, restMs).unref();
    };
    const arrived = (piece: Buffer) => {
      place.moved(piece.length);
      size += piece.length;
      pieces.push(piece);
      if (size > this.#limit) stream.destroy(this.#tooLarge());
      else flushing ??= setImmediate(flush);
    };
    source.on('data', arrived).pause();
    source.on('end', () => {
      if (stream.destroyed) return;
      if (flushing !== null) clearImmediate(flushing);
      if (pieces.length > 0) flush();
      place.keep();
      stream.push(null);
    });
    // Whoever reads it learns of it, then or later.
    stream.on('error', () => undefined);
    place.onLost(() => stream.destroy(new ApiError('overloaded', 'The upload was slow, and others wait.')));
    whenLate(source, () => stream.destroy(new ApiError('request_timeout')));
    source.on('error', (error) => stream.destroy(error));
    const endEarly = () => stream.destroy(new ApiError('malformed_request', 'The request body ended early.'));
    source.on('aborted', endEarly);
    if (source.destroyed && !source.complete) endEarly();
    return stream;
  }
}
