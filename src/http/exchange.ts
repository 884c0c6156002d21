import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { pipeline, type Readable } from 'node:stream';
import type { Logger } from '../kernel/log.ts';
import type { Caller } from '../service/admission.ts';
import { type HeaderList, putHeader, putHeaders, type ReplyHeaders, removeHeader } from './header-list.ts';

/** Of the path, percent-decoded. */
export type Params = Readonly<Record<string, string>>;

/** The received body, not yet parsed; null until it was asked for. */
type ReceivedBody = Buffer | 'too_large' | 'in_pieces' | 'cut_short' | 'late' | null;

/** A request, as guards, readers and handlers see it. */
export class HttpRequest {
  readonly raw: IncomingMessage;
  /** In the reply and in the log. */
  readonly id: string;
  readonly params: Params;
  readonly log: Logger;
  body: ReceivedBody = null;
  /** Whose credits and rate window it was about; like the next two, for its log line and the counters. */
  caller: Caller | undefined = undefined;
  /** The signed-in user. */
  user: string | undefined = undefined;
  /** The account in the path. */
  account: string | undefined = undefined;
  /** The error that is its reply, in whatever form and with whatever status it was sent. */
  error: { readonly code: string; readonly status: number } | null = null;

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

/** The reply to a request; sent once. */
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
    // Also between the two that listen.
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
