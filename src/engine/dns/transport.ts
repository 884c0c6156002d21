/** One query to one server: UDP first, TCP if truncated, without EDNS if the server does not support it. */
import { createSocket, type Socket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { randomInt } from '../../kernel/ids.ts';
import type { HostPort } from '../../kernel/ip.ts';
import { LinkedList, type Place } from '../../kernel/linked-list.ts';
import type { DnsFailure } from '../evidence.ts';
import { type DnsQuestion, type DnsReply, encodeQuestion, type ReadReply, readReply } from './message.ts';

export type DnsServer = HostPort;

/**
 * Sockets are connected, so that the kernel drops datagrams from other addresses and reports closed ports. A socket
 * serves this many queries and closes when none is pending, so that source ports keep changing (RFC 5452) without a new
 * socket per query under load.
 */
const QUESTIONS_PER_SOCKET = 32;

type OnReplyRead = (result: ReadReply | { kind: 'network' }) => void;

interface OpenQuery {
  readonly id: number;
  readonly question: DnsQuestion;
  readonly onResult: OnReplyRead;
}

interface SharedSocket {
  readonly socket: Socket;
  /** Pending queries: so few that a Map would take longer. */
  readonly open: OpenQuery[];
  /** Queries waiting for the socket to connect; null once it has. */
  waiting: Buffer[] | null;
  used: number;
  /** The place among open sockets is null before the socket is opened. */
  place: Place<SharedSocket> | null;
  closed: boolean;
  /** Called when a query was sent, or not. */
  readonly onSent: (error: Error | null) => void;
}

function withId({ open }: SharedSocket, id: number): OpenQuery | undefined {
  for (const one of open) if (one.id === id) return one;
  return undefined;
}

/** Reports `network` asynchronously, when the caller has its cancel function. */
function failLater(onResult: OnReplyRead): () => void {
  const timer = setImmediate(contain(warnOfFault, () => onResult({ kind: 'network' })));
  return () => clearImmediate(timer);
}

function createUdp(server: DnsServer) {
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
  function remove(shared: SharedSocket, open: OpenQuery): void {
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
    // The port is closed, there is no route, or there are no more file descriptors.
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

  function send(question: DnsQuestion, edns: boolean, onResult: OnReplyRead): () => void {
    if (!current || current.closed || current.used >= QUESTIONS_PER_SOCKET) current = openSocket();
    const shared = current;
    if (shared.closed) return failLater(onResult); // out of file descriptors: known before `openSocket` returns
    shared.used++;
    let id = randomInt(65536);
    while (withId(shared, id)) id = randomInt(65536);
    const open: OpenQuery = { id, question, onResult };
    shared.open.push(open);
    transmit(shared, encodeQuestion(id, question, edns));
    return () => remove(shared, open);
  }

  return {
    /** Sends one query; `onResult` is called at most once, and not after the returned function was called. */
    send,
    /** Closes every socket; pending queries end with `network`. */
    close: () => {
      for (const { value } of [...sockets]) end(value);
    },
  };
}

/**
 * Sends one query over TCP (RFC 7766), with a connection of its own, after a truncated UDP reply; `onResult` is called
 * at most once, and not after the returned function was called. The two-octet length prefix bounds the reply to 64 KiB,
 * in any number of packets. A connection that closes mid-reply, or a reply to another question, is `malformed`.
 */
function askTcp(server: DnsServer, question: DnsQuestion, edns: boolean, onResult: OnReplyRead): () => void {
  const id = randomInt(65536);
  const message = encodeQuestion(id, question, edns);
  const socket = connect({ host: server.address, port: server.port, noDelay: true });
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let done = false;

  function finish(result: Parameters<OnReplyRead>[0] | null): void {
    if (done) return;
    done = true;
    socket.destroy();
    if (result) onResult(result);
  }

  function receive(chunk: Buffer): void {
    if (done) return;
    chunks.push(chunk);
    sizeBytes += chunk.length;
    const [first = chunk] = chunks;
    if (sizeBytes < 2) return;
    const length = (first.length > 1 ? first : Buffer.concat(chunks, sizeBytes)).readUInt16BE(0);
    if (sizeBytes < length + 2) return;
    const reply = Buffer.concat(chunks, sizeBytes).subarray(2, length + 2);
    const read = length >= 2 && reply.readUInt16BE(0) === id ? readReply(reply, question) : null;
    finish(read && read.kind !== 'truncated' ? read : { kind: 'malformed' });
  }

  const cutOff = (): void => finish({ kind: sizeBytes > 0 ? 'malformed' : 'network' });
  const onFault = (fault: unknown): void => {
    warnOfFault(fault);
    finish({ kind: 'malformed' });
  };
  socket.on('data', contain(onFault, receive));
  socket.on('error', contain(onFault, cutOff));
  socket.on('close', contain(onFault, cutOff));
  const frame = Buffer.allocUnsafe(message.length + 2);
  frame.writeUInt16BE(message.length, 0);
  message.copy(frame, 2);
  socket.write(frame);
  return () => finish(null);
}

export type QueryOutcome = { readonly kind: 'reply'; readonly reply: DnsReply } | { readonly kind: DnsFailure };

export interface DnsTransport {
  /**
   * Sends one query. `done` is called exactly once, never synchronously, unless the returned function, which cancels
   * the query, was called before. `timeoutMs` applies to UDP, and again to TCP. Replies with another id, question, type
   * or class are ignored: a forged one must not make a name fail.
   */
  ask(question: DnsQuestion, timeoutMs: number, done: (outcome: QueryOutcome) => void): () => void;
  close(): void;
}

export function createDnsTransport(server: DnsServer): DnsTransport {
  const udp = createUdp(server);

  function ask(question: DnsQuestion, timeoutMs: number, done: (outcome: QueryOutcome) => void): () => void {
    let edns = true;
    let tcp = false;
    let timer: NodeJS.Timeout;
    let late: NodeJS.Immediate | undefined;
    let stop: (() => void) | undefined;
    let isOver = false;

    function cancel(): void {
      isOver = true;
      clearTimeout(timer);
      clearImmediate(late);
      stop?.();
    }
    function finish(outcome: QueryOutcome): void {
      if (isOver) return;
      cancel();
      done(outcome);
    }
    /** A fault of ours: another server may do better. */
    function onFault(fault: unknown): void {
      warnOfFault(fault);
      finish({ kind: 'network' });
    }
    function begin(): void {
      timer = setTimeout(contain(onFault, onTimeout), timeoutMs);
      send();
    }
    /** If this process was too busy to read the reply in time, it reads it now. */
    function onTimeout(): void {
      late = setImmediate(contain(onFault, () => finish({ kind: 'timeout' })));
    }
    function send(): void {
      stop = tcp ? askTcp(server, question, edns, receive) : udp.send(question, edns, receive);
    }
    const onResult: OnReplyRead = (result) => {
      switch (result.kind) {
        case 'truncated':
          clearTimeout(timer);
          clearImmediate(late);
          tcp = true;
          return begin();
        case 'no_edns':
          // The server rejects the plain query as well.
          if (!edns) return finish({ kind: 'servfail' });
          edns = false;
          return send();
        case 'reply':
        case 'servfail':
        case 'refused':
        case 'malformed':
        case 'network':
          return finish(result);
      }
    };
    const receive = contain(onFault, onResult);
    begin();
    return () => cancel();
  }

  return { ask, close: () => udp.close() };
}
