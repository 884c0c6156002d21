import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../kernel/ip.ts';
import { CONNECTIONS_MAX, HEADER_BYTES, HEADERS_WITHIN_SECONDS, OUTPUT_STALL_SECONDS } from '../kernel/limits.ts';
import { peerIp } from './caller-ip.ts';
import { arrivingOn, boundArrival } from './input/arrival.ts';
import { Pipelines } from './pipeline.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ConnectionBounds {
  /** Connections of one network at once. */
  readonly perNetwork: number;
  /** Clients of many networks come through this address. */
  readonly isProxy: (ip: string) => boolean;
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
  server.maxConnections = CONNECTIONS_MAX;
  server.closeIdleConnections = () => pipelines.closeIdle();
  const isTooMany = connectionCounter(bounds);
  server.prependListener('connection', (socket: Socket) => {
    if (isTooMany(socket)) socket.destroy();
    else {
      pipelines.open(socket);
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

function connectionCounter({ perNetwork, isProxy }: ConnectionBounds): (socket: Socket) => boolean {
  const open = new Map<string, number>();
  return (socket) => {
    const ip = peerIp(socket);
    if (isProxy(ip)) return false;
    const network = networkOf(ip);
    const count = open.get(network) ?? 0;
    if (count >= perNetwork) return true;
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
    return false;
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
