import { MailvetError } from './error.ts';
import type { MailvetOptions, WriteOptions } from './types.ts';

const TIMEOUT = 35_000;

interface Call extends WriteOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the address of the service. */
  path: string;
  query?: object | undefined;
  body?: unknown;
}
/** Resolves with the body of a 2xx reply. Rejects with MailvetError, or with the reason of the caller's signal. */
type Send = <Body>(call: Call) => Promise<Body>;

/** Throws TypeError for a URL or key that cannot be used; its message never contains the key. */
export function transport({ url, key, fetch, timeout = TIMEOUT, retries = 0 }: MailvetOptions): Send {
  const base = serviceAddress(url);
  // The platform's own error for an invalid header would contain the key.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError('key must be an API key: mv_live_… without spaces.');
  if (!Number.isInteger(retries) || retries < 0) throw new TypeError('retries must be a whole number from 0.');
  const send = fetch ?? globalThis.fetch.bind(globalThis);

  async function once(call: Call, signal: AbortSignal): Promise<unknown> {
    const target = new URL(call.path, base);
    for (const [name, value] of Object.entries(call.query ?? {}))
      if (value !== undefined) target.searchParams.set(name, String(value));
    const headers: Record<string, string> = { accept: 'application/json', authorization: `Bearer ${key}` };
    if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey;
    if (call.body !== undefined) headers['content-type'] = 'application/json';
    const body = call.body === undefined ? null : JSON.stringify(call.body);
    // A redirect would turn a POST into a GET. Cookies are not used.
    const reply = await send(target, {
      method: call.method,
      headers,
      body,
      signal,
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
    });
    const json = objectOf(await reply.text());
    if (reply.ok && json !== null) return json;
    const message = `The reply (status ${reply.status}) did not come from Mailvet. Check the url.`;
    throw new MailvetError(reply.status, json ?? { error: message });
  }

  return async <Body>(call: Call): Promise<Body> => {
    const limit = call.timeout ?? timeout;
    const until = Date.now() + limit;
    const deadline = AbortSignal.timeout(limit);
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
    for (let left = retries; ; left -= 1) {
      try {
        return (await once(call, signal)) as Body;
      } catch (error) {
        const wait = left > 0 ? retryDelay(error) : null;
        if (wait === null || Date.now() + wait >= until) throw callError(error, call.signal, deadline, limit);
        await pause(wait, call.signal);
      }
    }
  };
}

function serviceAddress(url: string): URL {
  const address = url.endsWith('/') ? url : `${url}/`;
  if (!URL.canParse(address) || !/^https?:\/\//i.test(address))
    throw new TypeError('url must be the address of the service, such as https://verify.example.net.');
  return new URL(address);
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
 * Milliseconds to wait before a retry; null where the call must not be retried. Only errors of the service itself promise
 * that nothing was done; those of a proxy in front of it do not.
 */
function retryDelay(error: unknown): number | null {
  if (!(error instanceof MailvetError) || error.requestId === null || error.retryAfter === null) return null;
  return error.status === 429 || error.status === 503 ? error.retryAfter * 1000 : null;
}

function callError(error: unknown, own: AbortSignal | undefined, deadline: AbortSignal, limit: number): unknown {
  if (own?.aborted) return own.reason;
  if (error instanceof MailvetError) return error;
  const [code, message] = deadline.aborted
    ? ['timeout', `The service did not answer within ${limit} ms.`]
    : ['unreachable', 'The service could not be reached, or it answered with a redirect. Check the url.'];
  return new MailvetError(0, { error: message, code }, { cause: error });
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
