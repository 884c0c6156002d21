import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import { pipeline, type Readable } from 'node:stream';
import type { PolicyAction } from '../kernel/facts/policies.ts';
import { canonicalIp, ipMatcher, parseHostPort, withoutZone } from '../kernel/ip.ts';
import type { Logger } from '../kernel/log.ts';
import type { Caller } from '../service/admission.ts';
import { isNotAwaited } from './input/arrival.ts';

/** Names in lower case. Several Set-Cookie lines are a list. */
export type ReplyHeaders = Readonly<Record<string, string | string[]>>;

/** Names and values come in turn, as an object would cost four times as much (docs/architecture.md#what-v8-does). */
export type HeaderList = (string | string[])[];

/** Adds a header, or replaces it. */
export function putHeader(list: HeaderList, name: string, value: string | string[]): void {
  const at = headerIndex(list, name);
  if (at < 0) list.push(name, value);
  else list[at + 1] = value;
}

export function putHeaders(list: HeaderList, headers: ReplyHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) putHeader(list, name, value);
  }
}

export function removeHeader(list: HeaderList, name: string): void {
  const at = headerIndex(list, name);
  if (at >= 0) list.splice(at, 2);
}

/** Returns the index of its name; -1: it is nowhere. */
function headerIndex(list: HeaderList, name: string): number {
  for (let at = 0; at < list.length; at += 2) if (list[at] === name) return at;
  return -1;
}

/** Says whether the client has disconnected before its reply. */
export const isDisconnected = ({ raw }: HttpReply): boolean => raw.destroyed && !raw.writableFinished;

const signals = new WeakMap<HttpReply, AbortSignal>();

/** Aborted when the client disconnects before its reply; one for all that a request asks for. */
export function disconnectSignal(reply: HttpReply): AbortSignal {
  const known = signals.get(reply);
  if (known !== undefined) return known;
  const disconnected = new AbortController();
  signals.set(reply, disconnected.signal);
  const { raw } = reply;
  if (raw.destroyed) disconnected.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) disconnected.abort();
  });
  return disconnected.signal;
}

/**
 * Who calls: the socket's address, or, only behind the proxies named in the configuration, the one they forward: the
 * right-most entry of X-Forwarded-For that is no trusted proxy itself. Canonical; v4-mapped addresses as IPv4.
 */
export function callerIp(trusted: readonly string[]): (request: IncomingMessage) => string {
  const isProxy = ipMatcher(trusted);
  // A connection has one far end; finding its canonical form again for each of its requests would be for nothing.
  const peers = new WeakMap<Socket, string>();
  const peerOf = (connection: Socket): string => {
    let peer = peers.get(connection);
    if (peer === undefined) {
      peer = peerIp(connection);
      peers.set(connection, peer);
    }
    return peer;
  };
  return (request) => {
    const socket = peerOf(request.socket);
    if (trusted.length === 0 || !isProxy(socket)) return socket;
    const hops = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').slice(-32).reverse();
    let caller = socket;
    for (const hop of hops) {
      const ip = hopIp(hop.trim());
      // What is not an address was not written by a proxy that we trust: stop at the last one that was.
      if (ip === null) break;
      caller = ip;
      if (!isProxy(ip)) break;
    }
    return caller;
  };
}

/** The far end of a connection, canonical; `0.0.0.0` once it is closed. */
export const peerIp = (connection: Pick<Socket, 'remoteAddress'>): string =>
  canonicalIp(withoutZone(connection.remoteAddress ?? '')) ?? '0.0.0.0';

/** Some proxies append the port, as in `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function hopIp(hop: string): string | null {
  const parsed = parseHostPort(hop, 1);
  return parsed && withoutZone(parsed.address);
}

/** Values of the path are percent-decoded. */
export type Params = Readonly<Record<string, string>>;

/** The received body, not yet parsed; null until it was asked for. */
type ReceivedBody = Buffer | 'too_large' | 'in_pieces' | 'cut_short' | 'late' | null;

/** A request, as guards, readers and handlers see it. */
export class HttpRequest {
  readonly raw: IncomingMessage;
  /** Appears in the reply and in the log. */
  readonly id: string;
  readonly params: Params;
  readonly log: Logger;
  body: ReceivedBody = null;
  /** Whose credits and rate window it was about; like the next two, for its log line and the counters. */
  caller: Caller | undefined = undefined;
  user: string | undefined = undefined;
  /** Names the account in the path. */
  account: string | undefined = undefined;
  /** The error that is its reply, in whatever form and with whatever status it was sent. */
  error: { readonly code: string; readonly status: number } | null = null;
  /** The answer of a hook has a status that says nothing about an error. */
  answer: PolicyAction | null = null;

  constructor(raw: IncomingMessage, { id, params, log }: Pick<HttpRequest, 'id' | 'params' | 'log'>) {
    this.raw = raw;
    this.id = id;
    this.params = params;
    this.log = log;
  }

  get method(): string {
    return this.raw.method ?? 'GET';
  }

  /** As it was sent, with the query. */
  get url(): string {
    return this.raw.url ?? '/';
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }

  /** Percent-decoded; a parameter that was sent more than once is a list. */
  get query(): Readonly<Record<string, string | readonly string[] | undefined>> {
    const { url } = this;
    const start = url.indexOf('?');
    return start < 0 ? NO_QUERY : parse(url.slice(start + 1));
  }
}

const NO_QUERY = parse('');

/** Can be sent once. */
export class HttpReply {
  readonly raw: ServerResponse;
  readonly #headers: HeaderList;

  /** `headers`: what the reply has whatever becomes of the request. */
  constructor(raw: ServerResponse, headers: HeaderList) {
    this.raw = raw;
    this.#headers = headers;
  }

  /** Adds headers, or replaces them. */
  set(headers: ReplyHeaders): void {
    putHeaders(this.#headers, headers);
  }

  unset(name: string): void {
    removeHeader(this.#headers, name);
  }

  /** Text or bytes; undefined for a status without content. Throws when nothing could be sent. */
  send(status: number, body: string | Buffer | undefined, own: ReplyHeaders = {}): void {
    const headers = this.#with(own);
    if (body !== undefined) putHeader(headers, 'content-length', String(Buffer.byteLength(body)));
    this.raw.writeHead(status, headers).end(body);
  }

  /** Rejects with an error of the stream before its first bytes; a later one ends the connection. */
  async stream(status: number, body: Readable, own: ReplyHeaders = {}): Promise<void> {
    // It is needed also between the two that listen.
    body.on('error', () => undefined);
    await once(body, 'readable');
    this.raw.writeHead(status, this.#with(own));
    if (this.raw.req.method === 'HEAD') {
      body.destroy();
      this.raw.end();
    } else pipeline(body, this.raw, () => undefined);
  }

  /** A copy: an error is sent without those of the reply that could not be. */
  #with(own: ReplyHeaders): HeaderList {
    const headers = this.#headers.slice();
    putHeaders(headers, own);
    return headers;
  }
}

/** How often a header was sent; node keeps only the first of some. `name` in lower case. */
export function headerCount(request: IncomingMessage, name: string): number {
  let n = 0;
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const sent = raw[i];
    if (sent?.length === name.length && sent.toLowerCase() === name) n += 1;
  }
  return n;
}

/** What a proxy in front may have understood otherwise; null: nothing. */
export function ambiguityOf(raw: IncomingMessage): string | null {
  const hosts = headerCount(raw, 'host');
  // RFC 9112 §3.2. A proxy may have looked at the other one.
  if (hosts > 1) return 'The Host header was sent more than once.';
  if (raw.httpVersion !== '1.0') return hosts === 0 ? 'The Host header is missing.' : null;
  // RFC 9112 §6.1. A proxy may have ignored it, and sees the end of the request elsewhere.
  return raw.headers['transfer-encoding'] === undefined ? null : 'HTTP/1.0 has no Transfer-Encoding.';
}

/** A reply to a request that need not arrive whole any more is the last one of its connection. */
export function closeUnlessRead({ raw }: HttpRequest, reply: HttpReply): void {
  if (isNotAwaited(raw)) reply.set({ connection: 'close' });
}
