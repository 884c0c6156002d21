/** What one or a few accounts do that costs much, without a pause until told to stop. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { answer } from './children.ts';

export const ATTACKS = ['searches', 'slow uploads', 'fast downloads', 'unread downloads', 'mcp'] as const;
export type Attack = (typeof ATTACKS)[number];

export interface Attacker {
  readonly key: string;
  /** Of a completed list of theirs. */
  readonly list: string;
}

export type AttackOrder =
  | { readonly is: 'start'; readonly attack: Attack; readonly port: number; readonly who: readonly Attacker[] }
  /** Replied to with an AttackReport. */
  | { readonly is: 'stop' };

/** How often each status came, and how often a connection ended without one. */
export type AttackReport = Readonly<Record<string, number>>;

/** Calls under way, for each account. */
const AT_ONCE: Readonly<Record<Attack, number>> = {
  searches: 20,
  'slow uploads': 2,
  'fast downloads': 4,
  'unread downloads': 4,
  mcp: 2,
};
const PAUSE_MS = 20;
/** Of a call of a tool; any other message is refused above 16 KiB. */
const MESSAGE_OCTETS = 250_000;

let port = 0;
let running = false;
let statuses: Record<string, number> = {};
let open: Set<Socket> = new Set();
let workers: Promise<void>[] = [];

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function count(status: number | string): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
}

/** One call, read to its end or to the end of the attack. */
function call(method: string, path: string, key: string, body?: string): Promise<void> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` }),
    };
    const end = (status: number | string) => {
      count(status);
      resolve();
    };
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (reply) => {
      reply.resume().once('close', () => end(reply.statusCode ?? 0));
    });
    sent.once('socket', (socket) => open.add(socket));
    sent.once('error', () => end('cut off'));
    sent.end(body);
  });
}

/** Sends a request over a socket of its own, then does with the socket what `go` does, until it closes. */
function raw(head: string, go: (socket: Socket) => void): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head);
      go(socket);
    });
    open.add(socket);
    socket.once('error', () => socket.destroy());
    socket.once('close', () => {
      open.delete(socket);
      count('closed');
      resolve();
    });
  });
}

const headOf = (method: string, path: string, key: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`;

/** A body in chunks of one octet each, as fast as the service takes them. */
function trickle(socket: Socket): void {
  socket.resume();
  const text = 'email\r\na@northworks0.com\r\n';
  let at = 0;
  const pieces = (): void => {
    while (running && !socket.destroyed) {
      const piece = text[at++ % text.length] ?? '';
      if (!socket.write(`1\r\n${piece}\r\n`)) {
        socket.once('drain', pieces);
        return;
      }
    }
  };
  pieces();
}

const UPLOAD = 'Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n';
const MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'verify_email', arguments: { email: 'x'.repeat(MESSAGE_OCTETS) } },
});

const ONCE: Readonly<Record<Attack, (who: Attacker) => Promise<void>>> = {
  searches: ({ key, list }) => call('GET', `/v1/lists/${list}/rows?query=zzz`, key),
  'slow uploads': ({ key }) => raw(headOf('POST', '/v1/lists?start=false', key, UPLOAD), trickle),
  'fast downloads': ({ key, list }) => call('GET', `/v1/lists/${list}/results`, key),
  'unread downloads': ({ key, list }) =>
    raw(headOf('GET', `/v1/lists/${list}/results`, key), (socket) => socket.pause()),
  mcp: ({ key }) => call('POST', '/mcp', key, MESSAGE),
};

async function work(attack: Attack, who: Attacker): Promise<void> {
  while (running) {
    await ONCE[attack](who);
    // A refused call is repeated as a client in a loop would.
    await pause(PAUSE_MS);
  }
}

answer<AttackOrder>(async (order): Promise<AttackReport | null> => {
  if (order.is === 'start') {
    ({ port } = order);
    [running, statuses, open] = [true, {}, new Set()];
    workers = order.who.flatMap((who) => Array.from({ length: AT_ONCE[order.attack] }, () => work(order.attack, who)));
    return null;
  }
  running = false;
  for (const socket of open) socket.destroy();
  await Promise.all(workers);
  return statuses;
});
