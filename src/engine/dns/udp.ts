/**
 * Questions over UDP. A socket is connected, so that the kernel drops what other addresses send and reports a refused
 * port; it lives while questions are open on it and for a bounded number of them, so that ports keep changing
 * (RFC 5452) without a new socket for each question of a busy second.
 */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { randomInt } from '../../kernel/ids.ts';
import { encodeQuestion, type Question, type ReadReply, readReply } from './message.ts';
import type { Server } from './servers.ts';

const QUESTIONS_PER_SOCKET = 32;

export type Got = (result: ReadReply | { kind: 'network' }) => void;

export interface Udp {
  /** Sends one question; `got` is called at most once, not after the returned function was called. */
  send(question: Question, edns: boolean, got: Got): () => void;
  /** Closes every socket; open questions end in `network`. */
  close(): void;
}

interface Open {
  readonly question: Question;
  readonly got: Got;
}

interface Lane {
  readonly socket: Socket;
  readonly open: Map<number, Open>;
  /** Questions waiting for the socket to be connected; null once it is. */
  waiting: Buffer[] | null;
  used: number;
  closed: boolean;
}

/** `network`, but not before the caller has what stops it. */
function fail(got: Got): () => void {
  const timer = setImmediate(() => got({ kind: 'network' }));
  return () => clearImmediate(timer);
}

export function createUdp(server: Server): Udp {
  const lanes = new Set<Lane>();
  let current: Lane | null = null;

  /** Ends a lane; whatever is open on it could not be delivered. */
  function end(lane: Lane): void {
    if (lane.closed) return;
    lane.closed = true;
    lanes.delete(lane);
    if (current === lane) current = null;
    lane.socket.close();
    const open = [...lane.open.values()];
    lane.open.clear();
    for (const { got } of open) got({ kind: 'network' });
  }

  const endIfIdle = (lane: Lane): void => {
    if (lane.open.size === 0) end(lane);
  };

  function receive(lane: Lane, octets: Buffer): void {
    const id = octets.length < 2 ? -1 : octets.readUInt16BE(0);
    const open = lane.open.get(id);
    const result = open && readReply(octets, open.question);
    if (!open || !result) return; // somebody else's, or forged: the true reply may still come
    lane.open.delete(id);
    endIfIdle(lane);
    open.got(result);
  }

  function newLane(): Lane {
    const socket = createSocket({
      type: isIPv6(server.address) ? 'udp6' : 'udp4',
      // The address is an IP already; node's default would take it to getaddrinfo.
      lookup: (address, _options, done) => done(null, address, isIPv6(address) ? 6 : 4),
    });
    const lane: Lane = { socket, open: new Map(), waiting: [], used: 0, closed: false };
    socket.on('error', () => end(lane)); // refused port, no route, no descriptors left
    socket.on('message', (octets) => receive(lane, octets));
    // An event and not connect's callback: that one would be given the errors too.
    socket.on('connect', () => {
      const waiting = lane.waiting ?? [];
      lane.waiting = null;
      for (const octets of waiting) transmit(lane, octets);
    });
    socket.connect(server.port, server.address);
    if (!lane.closed) lanes.add(lane);
    return lane;
  }

  function transmit(lane: Lane, octets: Buffer): void {
    if (lane.closed) return;
    if (lane.waiting) lane.waiting.push(octets);
    else
      lane.socket.send(octets, (error) => {
        if (error) end(lane);
      });
  }

  function send(question: Question, edns: boolean, got: Got): () => void {
    if (!current || current.closed || current.used >= QUESTIONS_PER_SOCKET) current = newLane();
    const lane = current;
    if (lane.closed) return fail(got); // no descriptor left: known before `newLane` returns
    lane.used++;
    let id = randomInt(65536);
    while (lane.open.has(id)) id = randomInt(65536);
    const open: Open = { question, got };
    lane.open.set(id, open);
    transmit(lane, encodeQuestion(id, question, edns));
    return () => {
      if (lane.open.get(id) !== open) return;
      lane.open.delete(id);
      endIfIdle(lane);
    };
  }

  return {
    send,
    close: () => {
      for (const lane of [...lanes]) end(lane);
    },
  };
}
