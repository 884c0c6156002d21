import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  HEADER_BYTES,
  HEADERS_WITHIN_SECONDS,
  OUTPUT_STALL_SECONDS,
  PIPELINED_AT_ONCE,
  PIPELINED_WAITING,
  PIPELINED_WAITING_TOTAL,
} from '../kernel/facts/limits.ts';
import { ipMatcher, networksOf } from '../kernel/ip.ts';
import { peerIp } from './exchange.ts';
import { arrivingOn, boundArrival } from './input/arrival.ts';

type Exchange = readonly [request: IncomingMessage, response: ServerResponse];
type ServeExchange = (...exchange: Exchange) => void;

/** Each connection has such a line of requests. */
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
class Pipelines {
  readonly #lines = new Map<Socket, Line>();
  /** These closable connections have no request under way; the one that is idle for longest comes first. */
  readonly #idle = new Set<Socket>();
  readonly #serve: ServeExchange;
  #waitingTotal = 0;

  constructor(serve: ServeExchange) {
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

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ConnectionBounds {
  /** Connections at once: of the narrowest network (kernel/ip.ts), and of all that are neither proxy nor this host. */
  readonly perNetwork: number;
  readonly ofRemoteHosts: number;
  /** Clients of many networks come through this address. */
  readonly isProxy: (ip: string) => boolean;
  /** Returns the far end of a connection, canonical; that of the socket by default. */
  readonly ipOf?: (socket: Socket) => string;
}

const HTTP_KEEP_ALIVE_MS = 65_000;
/** What a client still sends after the last reply is discarded for this long before its connection is closed. */
const HTTP_LINGER_MS = 500;

const SETTINGS: ServerOptions = {
  maxHeaderSize: HEADER_BYTES,
  headersTimeout: HEADERS_WITHIN_SECONDS * 1000,
  // Bodies have a bound of their own (input/arrival.ts), which routes can change.
  requestTimeout: 0,
  keepAliveTimeout: HTTP_KEEP_ALIVE_MS,
  // Checked with the other headers; Node's own reply would not have ours.
  requireHostHeader: false,
  // How often headersTimeout is checked.
  connectionsCheckingInterval: 1000,
};

/** The HTTP server below the routes: bounds what a connection may cost, whatever is requested over it. */
export function createHttpServer(handler: NodeHandler, bounds: ConnectionBounds): Server {
  const pipelines = new Pipelines((request, response) => {
    boundArrival(request, response);
    handler(request, response);
  });
  const server = createServer(SETTINGS, (request, response) => pipelines.take(request, response));
  // A connection that could not be accepted; while `listen` is under way, its caller listens as well.
  server.on('error', () => undefined);
  // An expectation that nobody knows may be ignored (RFC 9110 §10.1.1); Node's own reply would not have our headers.
  server.on('checkExpectation', (request, response) => pipelines.take(request, response));
  // Connections of remote hosts and those that are always accepted are bounded separately.
  server.maxConnections = 2 * bounds.ofRemoteHosts;
  server.closeIdleConnections = () => pipelines.closeIdle();
  const admit = connectionBounds(bounds, pipelines);
  server.prependListener('connection', (socket: Socket) => {
    const admitted = admit(socket);
    if (admitted === null) socket.destroy();
    else {
      pipelines.open(socket, admitted.closable);
      endWithLastReply(socket, () => pipelines.end(socket));
    }
  });
  // Node calls back when nothing arrived, and nothing of a pending reply was taken, for so long.
  server.setTimeout(OUTPUT_STALL_SECONDS * 1000, (socket: Socket) => {
    const state = pipelines.stateOf(socket);
    if (state === 'idle' || socket.writableLength > 0) socket.destroy();
  });
  return server;
}

const isLoopbackIp = ipMatcher(['127.0.0.0/8', '::1/128']);

/**
 * Bounds connections: of each network that counts a client, and of all remote hosts together. Where one is at its
 * bound, an idle connection is closed for the new one, so that nobody keeps others out by holding. Proxies and this
 * host have places of their own: a check of the service's health always finds one.
 */
function connectionBounds(
  { perNetwork, ofRemoteHosts, isProxy, ipOf = peerIp }: ConnectionBounds,
  pipelines: Pipelines,
): (socket: Socket) => { readonly closable: boolean } | null {
  const open = new Map<string, Set<Socket>>();
  let remote = 0;
  return (socket) => {
    const ip = ipOf(socket);
    if (isProxy(ip)) return { closable: false };
    const networks = networksOf(ip);
    for (const { network, times } of networks) {
      const own = open.get(network);
      if (own !== undefined && own.size >= times * perNetwork && !pipelines.closeOneIdle(own)) return null;
    }
    const isRemote = !isLoopbackIp(ip);
    if (isRemote && remote >= ofRemoteHosts && !pipelines.closeOneIdle()) return null;
    if (isRemote) remote += 1;
    for (const { network } of networks) open.set(network, (open.get(network) ?? new Set()).add(socket));
    socket.once('close', () => {
      if (isRemote) remote -= 1;
      for (const { network } of networks) {
        const own = open.get(network);
        own?.delete(socket);
        if (own?.size === 0) open.delete(network);
      }
    });
    return { closable: isRemote };
  };
}

/**
 * Node calls `destroySoon` when it has made the last reply of a connection. Closing a connection with unread bytes
 * resets it, which may take the reply away from a client that is still sending: so only our half is closed at first, as
 * RFC 9112 §9.6 advises.
 */
function endWithLastReply(socket: Socket, ended: () => void): void {
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    ended();
    const request = arrivingOn(socket);
    if (request === null) return destroySoon();
    socket.end();
    request.resume();
    const end = setTimeout(() => socket.destroy(), HTTP_LINGER_MS);
    socket.once('close', () => clearTimeout(end));
  };
}
