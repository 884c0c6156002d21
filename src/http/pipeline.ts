import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PIPELINED_AT_ONCE, PIPELINED_WAITING, PIPELINED_WAITING_TOTAL } from '../kernel/facts/limits.ts';

type Exchange = readonly [request: IncomingMessage, response: ServerResponse];
type Serve = (...exchange: Exchange) => void;

/** The requests of one connection. */
interface Line {
  running: number;
  waiting: Exchange[];
  served: boolean;
  /** Its place may go to another client while no request is under way. */
  readonly closable: boolean;
  /** The last request has come. */
  last: boolean;
  /** Its last reply was made: nothing more is answered (RFC 9112 §9.6). */
  ended: boolean;
}

/**
 * Whether nothing that follows on its connection is a request. One that asks for another protocol may be answered in
 * this one (RFC 9110 §7.8); but Node drops what arrives in one piece with it, so the next bytes may be anything.
 */
export const isLast = ({ headers }: IncomingMessage): boolean => headers.upgrade !== undefined;

/**
 * Serves few of the pipelined requests of a connection at once and lets the others wait untouched, so that a client
 * that sends many and reads no reply costs little. Nothing is read from its socket meanwhile; but what arrived in one
 * piece is parsed as a whole, therefore the number of those that wait is bounded as well.
 */
export class Pipelines {
  readonly #lines = new Map<Socket, Line>();
  /** Closable connections without a request under way, longest first. */
  readonly #idle = new Set<Socket>();
  readonly #serve: Serve;
  #waitingTotal = 0;

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  /** To be called for every connection. */
  open(socket: Socket, closable: boolean): void {
    const line: Line = { running: 0, waiting: [], served: false, closable, last: false, ended: false };
    this.#lines.set(socket, line);
    if (closable) this.#idle.add(socket);
    socket.once('close', () => {
      this.#idle.delete(socket);
      this.#drop(line);
      this.#lines.delete(socket);
    });
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const line = this.#lines.get(socket);
    if (line === undefined || line.last || line.ended) return;
    line.last = isLast(request);
    if (line.running < PIPELINED_AT_ONCE) {
      this.#run(line, request, response);
      return;
    }
    line.waiting.push([request, response]);
    this.#waitingTotal += 1;
    socket.pause();
    if (line.waiting.length <= PIPELINED_WAITING && this.#waitingTotal <= PIPELINED_WAITING_TOTAL) return;
    this.#drop(line);
    socket.destroy();
  }

  /** Nothing more of this connection is served. */
  end(socket: Socket): void {
    const line = this.#lines.get(socket);
    if (line !== undefined) this.#drop(line);
  }

  /** `idle`: no request is under way, and there was one before. */
  stateOf(socket: Socket): 'new' | 'busy' | 'idle' {
    const line = this.#lines.get(socket);
    if (line === undefined || !line.served) return 'new';
    return line.running > 0 ? 'busy' : 'idle';
  }

  /** Closes the one of these that has been without a request for longest; false where there is none. */
  closeOneIdle(of?: ReadonlySet<Socket>): boolean {
    for (const socket of of ?? this.#idle) {
      if (!this.#idle.delete(socket)) continue;
      socket.destroy();
      return true;
    }
    return false;
  }

  /** Closes the connections without a request under way. Node itself does not count those that never sent one. */
  closeIdle(): void {
    for (const [socket, line] of this.#lines) if (line.running === 0) socket.destroy();
  }

  #run(line: Line, request: IncomingMessage, response: ServerResponse): void {
    line.running += 1;
    line.served = true;
    this.#idle.delete(request.socket);
    response.on('close', () => {
      line.running -= 1;
      this.#next(line, request.socket);
      if (line.closable && line.running === 0 && !request.socket.destroyed) this.#idle.add(request.socket);
    });
    this.#serve(request, response);
  }

  #next(line: Line, socket: Socket): void {
    if (line.waiting.length === 0) return;
    while (line.running < PIPELINED_AT_ONCE) {
      const exchange = line.waiting.shift();
      if (exchange === undefined) break;
      this.#waitingTotal -= 1;
      this.#run(line, ...exchange);
    }
    if (line.waiting.length === 0 && !line.ended) socket.resume();
    else socket.pause();
  }

  #drop(line: Line): void {
    line.ended = true;
    this.#waitingTotal -= line.waiting.length;
    line.waiting = [];
  }
}
