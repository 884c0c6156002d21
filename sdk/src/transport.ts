import { MailvetError } from './error.ts';
import type { MailvetOptions, WriteOptions } from './types.ts';

const TIMEOUT_MS = 35_000;
/** Timers take no more: with more they end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A reply that is read as a whole has at most this size, unpacked. Clients in all languages have the same limit. */
const MAX_REPLY_BYTES = 32 * 1024 * 1024;

interface Call extends WriteOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the address of the service. */
  path: string;
  query?: object | undefined;
  body?: unknown;
  /** A field that every reply to the call has: what lacks it did not come from Mailvet. */
  replyField?: string | undefined;
  /** In place of `body`: sent as it is. A stream is sent once, so such a call is not retried. */
  upload?: Upload | undefined;
}
export interface Upload {
  readonly type: string;
  readonly content: Blob | ReadableStream<Uint8Array>;
}
/**
 * All reject with MailvetError, with the reason of the caller's signal, or with TypeError for a `timeout` that is none.
 */
export interface Transport {
  /** Resolves with the body of a 2xx reply. An upload has no time limit but the caller's. */
  send<Body>(call: Call): Promise<Body>;
  /** Resolves with the stream of a 2xx reply. The time limit is that until it begins. */
  download(call: Call): Promise<ReadableStream<Uint8Array>>;
}

const OPTIONS: Readonly<Record<keyof MailvetOptions, true>> = {
  url: true,
  key: true,
  fetch: true,
  timeout: true,
  retries: true,
};

export const unknownOption = (of: string, name: string, known: object): TypeError =>
  new TypeError(`${of} has no option ${name}; it has ${Object.keys(known).join(', ')}.`);

/** Throws TypeError for a URL, key or option that cannot be used; its message never contains the key. */
export function transport(options: MailvetOptions): Transport {
  for (const name of Object.keys(options))
    if (!Object.hasOwn(OPTIONS, name)) throw unknownOption('createMailvet', name, OPTIONS);
  const { url, key, fetch, timeout = TIMEOUT_MS, retries = 0 } = options;
  const base = serviceAddress(url);
  if (key === undefined) throw new TypeError('key is missing: set it to an API key, mv_live_… or mv_test_….');
  // The platform's own error for an invalid header would contain the key.
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('key must be an API key: mv_live_… or mv_test_… without spaces.');
  checkTimeout(timeout);
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError('retries must be a whole number from 0.');
  const send = fetch ?? globalThis.fetch.bind(globalThis);

  async function request(call: Call, signal: AbortSignal): Promise<Response> {
    const target = new URL(call.path, base);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) target.searchParams.set(name, String(value));
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey;
    if (call.upload !== undefined) headers['content-type'] = call.upload.type;
    else if (call.body !== undefined) headers['content-type'] = 'application/json';
    const json = call.body === undefined ? null : JSON.stringify(call.body);
    const body = call.upload?.content ?? json;
    // A redirect would turn a POST into a GET, and could take the key elsewhere. Cookies are not used.
    // Not every platform declares `cache`.
    const init: RequestInit & { cache: 'no-store' } = {
      method: call.method,
      headers,
      body,
      signal,
      redirect: 'manual',
      credentials: 'omit',
      cache: 'no-store',
      // Required for a body that is a stream.
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    };
    const reply = await send(target, init);
    if (isRedirect(reply)) {
      await reply.body?.cancel();
      throw redirected(reply, target);
    }
    return reply;
  }

  async function refusal(reply: Response, text: string): Promise<never> {
    const json = objectOf(text);
    throw json === null || reply.ok ? foreign(reply.status) : new MailvetError(reply.status, json);
  }

  async function once(call: Call, signal: AbortSignal): Promise<unknown> {
    const reply = await request(call, signal);
    const text = await textOf(reply);
    const json = objectOf(text);
    const { replyField } = call;
    const isOurs = json !== null && (replyField === undefined || Object.hasOwn(json, replyField));
    return reply.ok && isOurs ? json : refusal(reply, text);
  }

  async function attempts<T>(call: Call, limit: number | null, once: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (limit !== null) checkTimeout(limit);
    checkHeaders(call);
    const untilMs = limit === null ? Number.POSITIVE_INFINITY : Date.now() + limit;
    const late = new AbortController();
    // Not AbortSignal.timeout: a stream goes on after the call has ended.
    const timer = limit === null ? undefined : setTimeout(() => late.abort(), Math.min(limit, LONGEST_TIMER_MS));
    const signal = call.signal ? AbortSignal.any([call.signal, late.signal]) : late.signal;
    try {
      for (let left = call.upload === undefined ? retries : 0; ; left -= 1) {
        try {
          return await once(signal);
        } catch (error) {
          const delayMs = left > 0 ? retryDelay(error) : null;
          if (delayMs === null || Date.now() + delayMs >= untilMs)
            throw callError(error, call.signal, late.signal, limit);
          await pause(delayMs, call.signal);
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    send: <Body>(given: Call) => {
      const call = retries > 0 && given.method === 'POST' ? { ...given, idempotencyKey: keyOf(given) } : given;
      const limit = call.timeout ?? (call.upload === undefined ? timeout : null);
      return attempts(call, limit, (signal) => once(call, signal)) as Promise<Body>;
    },
    download: (call) =>
      attempts(call, call.timeout ?? timeout, async (signal) => {
        const reply = await request(call, signal);
        return reply.ok && reply.body !== null ? reply.body : refusal(reply, await textOf(reply));
      }),
  };
}

/** So that a call that is repeated takes effect once, whatever a proxy makes of it. */
function keyOf({ idempotencyKey, upload }: Call): string | undefined {
  if (idempotencyKey !== undefined || upload !== undefined) return idempotencyKey;
  // Not randomUUID: browsers have it on secure pages only.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function checkTimeout(timeout: unknown): void {
  if (typeof timeout !== 'number' || !(timeout > 0))
    throw new TypeError('timeout must be a number of milliseconds above 0.');
}

/** Here, as some platforms would send more headers, and others say that the service cannot be reached. */
function checkHeaders({ idempotencyKey, upload }: Call): void {
  if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
    throw new TypeError('idempotencyKey must be 1 to 255 printable ASCII characters.');
  if (upload !== undefined && !/^[\x20-\x7e]+$/.test(upload.type))
    throw new TypeError('type must be a media type, such as text/csv.');
}

const URL_EXAMPLE = 'such as https://verify.example.net';

/** Also for a URL of the API itself, which ends in `/v1`. */
function serviceAddress(url: string | undefined): URL {
  if (url === undefined) throw new TypeError(`url is missing: set it to the address of the service, ${URL_EXAMPLE}.`);
  const address = String(url).replace(/(\/v1)?\/*$/, '/');
  if (!URL.canParse(address) || !/^https?:\/\//i.test(address))
    throw new TypeError(`url must be the address of the service, ${URL_EXAMPLE}.`);
  return new URL(address);
}

/** A browser hides status and target of a redirect. */
const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304);

function redirected(reply: Response, from: URL): MailvetError {
  const target = reply.headers.get('location');
  const to = target !== null && URL.canParse(target, from.href) ? ` to ${new URL(target, from).origin}` : '';
  const error = `The service answered with a redirect${to}, which is not followed. Set url to the final address.`;
  return new MailvetError(reply.status, { error, code: 'redirected' });
}

/** The error of a reply that did not come from Mailvet. */
export const foreign = (status: number): MailvetError =>
  new MailvetError(status, { error: `The reply (status ${status}) did not come from Mailvet. Check the url.` });

async function textOf(reply: Response): Promise<string> {
  // There is no body, or the `fetch` of the caller has no streams.
  if (!reply.body || !('getReader' in reply.body)) return reply.text();
  const reader = reply.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > MAX_REPLY_BYTES) {
      await reader.cancel();
      const error = `The reply (status ${reply.status}) is larger than 32 MiB, and was not read to its end.`;
      throw new MailvetError(reply.status, { error, code: 'reply_too_large' });
    }
    text += decoder.decode(value, { stream: true });
  }
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/**
 * Milliseconds to wait before a retry; null where the call must not be retried. Only errors of the service itself
 * promise that nothing was done; those of a proxy in front of it do not.
 */
function retryDelay(error: unknown): number | null {
  if (!(error instanceof MailvetError) || error.requestId === null || error.retryAfter === null) return null;
  return error.status === 429 || error.status === 503 ? error.retryAfter * 1000 : null;
}

function callError(error: unknown, own: AbortSignal | undefined, deadline: AbortSignal, limit: number | null): unknown {
  if (own?.aborted) return own.reason;
  if (error instanceof MailvetError) return error;
  const [code, message] = deadline.aborted
    ? ['timeout', `The service did not answer within ${limit} ms.`]
    : [
        'unreachable',
        `The service could not be reached${systemError(error)}. Check the url, and that the service runs.`,
      ];
  return new MailvetError(0, { error: message, code }, { cause: error });
}

/** ` (ECONNREFUSED)` of the platform's error, which hides it in a cause; empty where it says nothing. */
function systemError(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null;
  return typeof code === 'string' ? ` (${code})` : '';
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
