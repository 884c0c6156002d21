import type { IncomingMessage, ServerResponse } from 'node:http';
import { BODY_BYTES, BODY_WITHIN_SECONDS } from '../../kernel/limits.ts';

interface Arrival {
  timer: NodeJS.Timeout;
  late: boolean;
  /** Called when the time is over; whoever waits for the body then answers without it. */
  onLate: (() => void) | null;
  /** The time is over. */
  readonly expire: () => void;
}
const arrivals = new WeakMap<IncomingMessage, Arrival>();

const announcedBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0);
const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined;

/**
 * Bounds the time in which the body of a request arrives, whatever becomes of the request: a reply does not end a request
 * whose body is still on its way (RFC 9112 §9.6). Node's own `requestTimeout` is the same for all routes.
 */
export function boundArrival(request: IncomingMessage, response: ServerResponse): void {
  if (!isChunked(request) && !(announcedBytes(request) > 0)) return;
  const expire = () => {
    if (request.complete) return;
    arrival.late = true;
    arrival.onLate?.();
    if (response.writableFinished) request.socket.destroy();
    else response.once('finish', () => request.socket.destroySoon());
  };
  const arrival: Arrival = { timer: setTimeout(expire, BODY_WITHIN_SECONDS * 1000), late: false, onLate: null, expire };
  arrivals.set(request, arrival);
  request.once('close', () => clearTimeout(arrival.timer));
}

/** Gives the body of this request another time, seconds from now. */
export function expectWithin(request: IncomingMessage, seconds: number): void {
  const arrival = arrivals.get(request);
  if (arrival === undefined || arrival.late) return;
  clearTimeout(arrival.timer);
  arrival.timer = setTimeout(arrival.expire, seconds * 1000);
}

/** Calls back when the time for the body is over before it arrived. */
export function whenLate(request: IncomingMessage, act: () => void): void {
  const arrival = arrivals.get(request);
  if (arrival === undefined) return;
  if (arrival.late) act();
  else arrival.onLate = act;
}

/**
 * Whether the rest of a body is not worth waiting for once the reply is made: more than a small one is to come, or it was
 * too slow. The connection is closed then.
 */
export function isNotAwaited(request: IncomingMessage): boolean {
  if (request.complete) return false;
  return isChunked(request) || announcedBytes(request) > BODY_BYTES || arrivals.get(request)?.late === true;
}
