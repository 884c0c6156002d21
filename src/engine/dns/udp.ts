/**
 * DNS over UDP. Sockets are connected, so that the kernel drops datagrams from other addresses and reports closed
 * ports. A socket serves a bounded number of queries and closes when none is pending, so that source ports keep
 * changing (RFC 5452) without a new socket per query under load.
 */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { randomInt } from '../../kernel/ids.ts';
import { LinkedList, type Place } from '../../kernel/linked-list.ts';
import { encodeQuestion, type Question, type ReadReply, readReply } from './message.ts';
import type { Server } from './servers.ts';

const QUESTIONS_PER_SOCKET = 32;

export type OnResult = (result: ReadReply | { kind: 'network' }) => void;

interface Udp {
  /** Sends one query; `onResult` is called at most once, and not after the returned function was called. */
  send(question: Question, edns: boolean, onResult: OnResult): () => void;
  /** Closes every socket; pending queries end with `network`. */
  close(): void;
}

interface Open {
  readonly id: number;
  readonly question: Question;
  readonly onResult: OnResult;
}

interface SharedSocket {
  readonly socket: Socket;
  /** Pending queries: so few that a Map would take longer. */
  readonly open: Open[];
  /** Queries waiting for the socket to connect; null once it has. */
  waiting: Buffer[] | null;
  used: number;
  /** Among those that are open; null before. */
  place: Place<SharedSocket> | null;
  closed: boolean;
  /** Called when a query was sent, or not. */
  readonly onSent: (error: Error | null) => void;
}

function withId({ open }: SharedSocket, id: number): Open | undefined {
  for (const one of open) if (one.id === id) return one;
  return undefined;
}

/** Reports `network` asynchronously, when the caller has its cancel function. */
function fail(onResult: OnResult): () => void {
  const timer = setImmediate(contain(warnOfFault, () => onResult({ kind: 'network' })));
  return () => clearImmediate(timer);
}

export function createUdp(server: Server): Udp {
  const sockets = new LinkedList<SharedSocket>();
  let current: SharedSocket | null = null;
  /** To be sent at the end of this turn of the event loop. */
  let burst: { readonly shared: SharedSocket; readonly octets: Buffer }[] = [];

  /** Closes a socket; its pending queries end with `network`. */
  function end(shared: SharedSocket): void {
    if (shared.closed) return;
    shared.closed = true;
    if (shared.place !== null) sockets.remove(shared.place);
    if (current === shared) current = null;
    shared.socket.close();
    for (const { onResult } of shared.open.splice(0)) onResult({ kind: 'network' });
  }

  /** Takes it from the pending queries, unless it is none any more; the last one closes the socket. */
  function remove(shared: SharedSocket, open: Open): void {
    const { open: all } = shared;
    const at = all.indexOf(open);
    if (at < 0) return;
    const last = all.pop();
    if (last !== undefined && last !== open) all[at] = last;
    if (all.length === 0) end(shared);
  }

  function receive(shared: SharedSocket, octets: Buffer): void {
    const id = octets.length < 2 ? -1 : octets.readUInt16BE(0);
    const open = withId(shared, id);
    const result = open && readReply(octets, open.question);
    if (!open || !result) return; // not ours, or forged: the real reply may still arrive
    remove(shared, open);
    open.onResult(result);
  }

  function openSocket(): SharedSocket {
    const socket = createSocket({
      type: isIPv6(server.address) ? 'udp6' : 'udp4',
      // The address is an IP literal; Node's default lookup would call getaddrinfo.
      lookup: (address, _options, done) => done(null, address, isIPv6(address) ? 6 : 4),
    });
    const onFault = (fault: unknown): void => {
      warnOfFault(fault);
      end(shared);
    };
    const onSent = contain(onFault, (error: Error | null): void => {
      if (error) end(shared);
    });
    const shared: SharedSocket = { socket, open: [], waiting: [], used: 0, place: null, closed: false, onSent };
    const onConnect = (): void => {
      const waiting = shared.waiting ?? [];
      shared.waiting = null;
      for (const octets of waiting) transmit(shared, octets);
    };
    const onMessage = (octets: Buffer): void => receive(shared, octets);
    // Port closed, no route, out of file descriptors.
    const onError = (): void => end(shared);
    socket.on('error', contain(onFault, onError));
    socket.on('message', contain(onFault, onMessage));
    // The event instead of connect's callback, which would get errors too.
    socket.on('connect', contain(onFault, onConnect));
    socket.connect(server.port, server.address);
    if (!shared.closed) shared.place = sockets.add(shared);
    return shared;
  }

  function transmit(shared: SharedSocket, octets: Buffer): void {
    if (shared.closed) return;
    if (shared.waiting) shared.waiting.push(octets);
    else {
      if (burst.length === 0) setImmediate(contain(onFault, flush));
      burst.push({ shared, octets });
    }
  }

  /**
   * Queries that follow from the replies of one turn go out together, so a server on this host is woken once for them.
   */
  function flush(): void {
    const all = burst;
    burst = [];
    for (const { shared, octets } of all) if (!shared.closed) shared.socket.send(octets, shared.onSent);
  }

  /** What was to be sent is sent again when its time is over. */
  function onFault(fault: unknown): void {
    burst = [];
    warnOfFault(fault);
  }

  function send(question: Question, edns: boolean, onResult: OnResult): () => void {
    if (!current || current.closed || current.used >= QUESTIONS_PER_SOCKET) current = openSocket();
    const shared = current;
    if (shared.closed) return fail(onResult); // out of file descriptors: known before `openSocket` returns
    shared.used++;
    let id = randomInt(65536);
    while (withId(shared, id)) id = randomInt(65536);
    const open: Open = { id, question, onResult };
    shared.open.push(open);
    transmit(shared, encodeQuestion(id, question, edns));
    return () => remove(shared, open);
  }

  return {
    send,
    close: () => {
      for (const { value } of [...sockets]) end(value);
    },
  };
}
