import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { systemClock } from '../../kernel/clock.ts';
import type { Pace } from '../../kernel/costs.ts';
import { ApiError } from '../../kernel/errors.ts';
import { BODY_BYTES, BODY_WITHIN_SECONDS } from '../../kernel/facts/limits.ts';
import type { HeldPlace } from '../../kernel/fair-queue.ts';

/** A body whose pieces are smaller on the average is read at most so fast, with all others of that kind. */
const PIECE_BYTES = 256;
const PIECES_PER_SECOND = 30_000;

const ARRIVAL_SWEEP_MS = 250;

interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The body is due at this time of the clock's `elapsed`. */
  due: number;
  late: boolean;
  /** What has to arrive until when: null for a body that only has to arrive whole in time. */
  pace: (Pace & { readonly untilMs: number; readonly before: number }) | null;
  /** Called when the time is over; whoever waits for the body then answers without it. */
  onLate: (() => void) | null;
}

/**
 * What a connection is sending: the bodies of one connection arrive one after the other. One timer looks after all of
 * them, as a timer and a listener for each request cost more than reading it.
 */
const arrivals = new Map<Socket, Arrival>();
const dueIn = (seconds: number): number => systemClock.elapsed() + seconds * 1000;
let timer: NodeJS.Timeout | null = null;

const announcedBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0);
const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;

/** Returns the body of `request`, if it is still on its way. */
function arrivalOf(request: IncomingMessage): Arrival | undefined {
  const arrival = arrivals.get(request.socket);
  return arrival?.request === request ? arrival : undefined;
}

/**
 * Bounds the time in which the body of a request arrives, whatever becomes of the request: a reply does not end a
 * request whose body is still on its way (RFC 9112 §9.6). Node's own `requestTimeout` is the same for all routes.
 */
export function boundArrival(request: IncomingMessage, response: ServerResponse): void {
  if (!isChunked(request) && !(announcedBytes(request) > 0)) return;
  arrivals.set(request.socket, {
    request,
    response,
    due: dueIn(BODY_WITHIN_SECONDS),
    late: false,
    pace: null,
    onLate: null,
  });
  timer ??= setInterval(sweep, ARRIVAL_SWEEP_MS).unref();
}

/** The request whose body the connection is in the middle of, or null. */
export function arrivingOn(socket: Socket): IncomingMessage | null {
  const arrival = arrivals.get(socket);
  return arrival === undefined || arrival.request.complete ? null : arrival.request;
}

function sweep(): void {
  const now = systemClock.elapsed();
  for (const [socket, arrival] of arrivals) {
    if (arrival.request.complete || socket.destroyed) arrivals.delete(socket);
    else if (!arrival.late && (arrival.due <= now || isSlow(arrival, socket, now))) expire(arrival);
  }
  if (arrivals.size > 0 || timer === null) return;
  clearInterval(timer);
  timer = null;
}

/** Begins another window if enough has arrived in the last one. */
function isSlow(arrival: Arrival, { bytesRead }: Socket, now: number): boolean {
  const { pace, request } = arrival;
  if (pace === null || now < pace.untilMs) return false;
  // What has arrived and is not read yet keeps the rest from coming: then it is us who are slow.
  if (request.readableLength === 0 && bytesRead - pace.before < pace.bytes) return true;
  arrival.pace = { ...pace, untilMs: dueIn(pace.seconds), before: bytesRead };
  return false;
}

function expire(arrival: Arrival): void {
  const { request, response } = arrival;
  arrival.late = true;
  arrival.onLate?.();
  if (response.writableFinished) request.socket.destroy();
  else response.once('finish', () => request.socket.destroySoon());
}

/** Gives the body of this request another time from now, and a pace. */
export function expectAtPace(
  request: IncomingMessage,
  { withinSeconds, pace }: { readonly withinSeconds: number; readonly pace: Pace },
): void {
  const arrival = arrivalOf(request);
  if (arrival === undefined) return;
  arrival.due = dueIn(withinSeconds);
  arrival.pace = { ...pace, untilMs: dueIn(pace.seconds), before: request.socket.bytesRead };
}

/** Calls back when the time for the body is over before it arrived. */
export function whenLate(request: IncomingMessage, act: () => void): void {
  const arrival = arrivalOf(request);
  if (arrival === undefined) return;
  if (arrival.late) act();
  else arrival.onLate = act;
}

/**
 * Whether the rest of a body is not worth waiting for once the reply is made: more than a small one is to come, or it
 * was too slow. The connection is closed then.
 */
export function isNotAwaited(request: IncomingMessage): boolean {
  if (request.complete) return false;
  return isChunked(request) || announcedBytes(request) > BODY_BYTES || arrivalOf(request)?.late === true;
}

/** Small pieces of all bodies have used up what is read of them until then, by the clock's `elapsed`. */
let usedUntilMs = 0;

/** How long not to read on after so many pieces with so many bytes, ms. */
function restAfter(pieces: number, bytes: number): number {
  const small = pieces - bytes / PIECE_BYTES;
  if (small <= 1) return 0;
  const now = systemClock.elapsed();
  usedUntilMs = Math.max(now, usedUntilMs) + (small / PIECES_PER_SECOND) * 1000;
  return usedUntilMs - now;
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
    let sizeBytes = 0;
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
      sizeBytes += piece.length;
      pieces.push(piece);
      if (sizeBytes > this.#limit) stream.destroy(this.#tooLarge());
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
