import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HEADER_BYTES, HEADERS_WITHIN_SECONDS, OUTPUT_STALL_SECONDS } from '../kernel/facts/limits.ts';
import { ipMatcher, networksOf } from '../kernel/ip.ts';
import { peerIp } from './caller-ip.ts';
import { arrivingOn, boundArrival } from './input/arrival.ts';
import { Pipelines } from './pipeline.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ConnectionBounds {
  /** Connections at once: of the narrowest network (kernel/ip.ts), and of all that are neither proxy nor this host. */
  readonly perNetwork: number;
  readonly ofStrangers: number;
  /** Clients of many networks come through this address. */
  readonly isProxy: (ip: string) => boolean;
  /** The far end of a connection, canonical; that of the socket by default. */
  readonly ipOf?: (socket: Socket) => string;
}

const KEEP_ALIVE_MS = 65_000;
/** What a client still sends after the last reply is discarded for this long before its connection is closed. */
const LINGER_MS = 500;

const SETTINGS: ServerOptions = {
  maxHeaderSize: HEADER_BYTES,
  headersTimeout: HEADERS_WITHIN_SECONDS * 1000,
  // Bodies have a bound of their own (input/arrival.ts), which routes can change.
  requestTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
  // Checked with the other headers; Node's own reply would not have ours.
  requireHostHeader: false,
  // How often headersTimeout is checked.
  connectionsCheckingInterval: 1000,
};

/** The HTTP server below the routes: bounds what a connection may cost, whatever is requested over it. */
export function createHttpServer(handler: Handler, bounds: ConnectionBounds): Server {
  const pipelines = new Pipelines((request, response) => {
    boundArrival(request, response);
    handler(request, response);
  });
  const server = createServer(SETTINGS, (request, response) => pipelines.take(request, response));
  // A connection that could not be accepted; while `listen` is under way, its caller listens as well.
  server.on('error', () => undefined);
  // An expectation that nobody knows may be ignored (RFC 9110 §10.1.1); Node's own reply would not have our headers.
  server.on('checkExpectation', (request, response) => pipelines.take(request, response));
  // Those of strangers and those that are always let in, each up to their bound.
  server.maxConnections = 2 * bounds.ofStrangers;
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

const isLoopback = ipMatcher(['127.0.0.0/8', '::1/128']);

/**
 * Bounds connections: of each network that counts a client, and of all strangers together. Where one is at its bound,
 * an idle connection is closed for the new one, so that nobody keeps others out by holding. Proxies and this host have
 * places of their own: a check of the service's health always finds one.
 */
function connectionBounds(
  { perNetwork, ofStrangers, isProxy, ipOf = peerIp }: ConnectionBounds,
  pipelines: Pipelines,
): (socket: Socket) => { readonly closable: boolean } | null {
  const open = new Map<string, Set<Socket>>();
  let strangers = 0;
  return (socket) => {
    const ip = ipOf(socket);
    if (isProxy(ip)) return { closable: false };
    const networks = networksOf(ip);
    for (const { network, times } of networks) {
      const own = open.get(network);
      if (own !== undefined && own.size >= times * perNetwork && !pipelines.closeOneIdle(own)) return null;
    }
    const isStranger = !isLoopback(ip);
    if (isStranger && strangers >= ofStrangers && !pipelines.closeOneIdle()) return null;
    if (isStranger) strangers += 1;
    for (const { network } of networks) open.set(network, (open.get(network) ?? new Set()).add(socket));
    socket.once('close', () => {
      if (isStranger) strangers -= 1;
      for (const { network } of networks) {
        const own = open.get(network);
        own?.delete(socket);
        if (own?.size === 0) open.delete(network);
      }
    });
    return { closable: isStranger };
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
    const end = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(end));
  };
}
