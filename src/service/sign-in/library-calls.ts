import { AsyncLocalStorage } from 'node:async_hooks';
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';

/** What a request says about its browser, unvalidated. */
export interface BrowserRequest {
  /** The address is canonical. */
  readonly ip: string;
  readonly cookie: string | undefined;
  /** The Origin header; the guard has compared it with the request's host. */
  readonly origin: string | undefined;
  /** The User-Agent header, cut to USER_AGENT_LENGTH; '' if there is none. */
  readonly userAgent: string;
}

/** Collects Set-Cookie headers for the reply. */
export interface Cookies {
  readonly setCookie: readonly string[];
}

/** The library's cookies are named without prefix. */
type CookieName = 'session_token' | 'two_factor' | 'passkey' | 'device' | 'oidc';

const COOKIE_NAME = /^(?:__Host-)?mailvet\.([a-z_]+)$/;
/**
 * Over HTTPS, the library has this prefix, which cannot be changed, and we have ours: only this host can set such a
 * cookie, not another one of its domain (RFC 6265bis §4.1.3.2).
 */
const LIBRARY_PREFIX = '__Secure-';
const COOKIE_PREFIX = '__Host-';

const cookiePairs = (cookie: string | undefined): readonly string[] =>
  (cookie ?? '').split(';').map((pair) => pair.trim());

const cookieName = (pair: string): string | null =>
  COOKIE_NAME.exec(pair.slice(0, Math.max(0, pair.indexOf('='))))?.[1] ?? null;

/** Whether the request has such a cookie; if not, the library need not be loaded. */
export const hasCookie = (cookie: string | undefined, name: CookieName): boolean =>
  cookiePairs(cookie).some((pair) => cookieName(pair) === name);

/** Tells the library where a session is used. */
export const CLIENT_IP_HEADER = 'x-mailvet-client-ip';

/**
 * Headers for a library call, with only the named cookies of the request: a sign-in, for example, must not see the
 * current session.
 */
export function headersOf(
  browser: Pick<BrowserRequest, 'cookie' | 'origin'> & Partial<BrowserRequest>,
  ...names: readonly CookieName[]
): Headers {
  const headers = new Headers();
  const kept = cookiePairs(browser.cookie).filter((pair) => names.some((name) => name === cookieName(pair)));
  const named = kept.map((pair) =>
    pair.startsWith(COOKIE_PREFIX) ? LIBRARY_PREFIX + pair.slice(COOKIE_PREFIX.length) : pair,
  );
  if (named.length > 0) headers.set('cookie', named.join('; '));
  if (browser.origin !== undefined) headers.set('origin', browser.origin);
  if (browser.ip !== undefined) headers.set(CLIENT_IP_HEADER, browser.ip);
  if (browser.userAgent !== undefined) headers.set('user-agent', browser.userAgent);
  return headers;
}

/** Reads the Set-Cookie headers of the library's reply. */
export const cookiesOf = (headers: Headers | null | undefined): readonly string[] =>
  (headers?.getSetCookie() ?? []).map((line) =>
    line.startsWith(LIBRARY_PREFIX) ? COOKIE_PREFIX + line.slice(LIBRARY_PREFIX.length) : line,
  );

/** An APIError of the library, recognized by shape, because importing the class would load the library. */
interface LibraryError {
  readonly name: 'APIError';
  readonly status: string | number;
  readonly body?: { readonly code?: string };
}
const isLibraryError = (error: unknown): error is LibraryError => error instanceof Error && error.name === 'APIError';

/** Maps a code (or status) of the library to an error code of ours, with an optional message. */
export type ErrorMapping = Readonly<Record<string, ErrorCode | readonly [ErrorCode, string]>>;

/** The session has ended between the guard and the call. */
const ALWAYS: ErrorMapping = { UNAUTHORIZED: 'not_signed_in', SESSION_NOT_FRESH: 'sign_in_again' };

/** Of the call of the library that is under way: what its database threw, where that is an error to report. */
const currentCall = new AsyncLocalStorage<{ failure: ApiError | null }>();

/** Runs an operation of the library's database. The library would report its failure as one of the library. */
export async function notingFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const call = currentCall.getStore();
    if (call !== undefined && error instanceof ApiError) call.failure = error;
    throw error;
  }
}

/** Calls the library and converts its errors to ApiErrors; unmapped ones become `internal_error`. */
export async function callLibrary<T>(mapping: ErrorMapping, call: () => Promise<T>): Promise<T> {
  const requestState: { failure: ApiError | null } = { failure: null };
  try {
    return await currentCall.run(requestState, call);
  } catch (error) {
    if (requestState.failure !== null) throw requestState.failure;
    if (!isLibraryError(error)) throw error;
    const known: ErrorMapping = { ...ALWAYS, ...mapping };
    const meaning = known[error.body?.code ?? ''] ?? known[String(error.status)];
    if (meaning === undefined) throw new ApiError('internal_error', undefined, {}, error);
    const [code, message] = typeof meaning === 'string' ? [meaning] : meaning;
    throw new ApiError(code, message);
  }
}

/**
 * The name that passkeys are bound to (WebAuthn §4, RP ID): the host of the public URL; `localhost` for a loopback
 * address; null for other IP addresses, which are not allowed.
 */
export function relyingParty(publicUrl: string): string | null {
  const { hostname } = new URL(publicUrl);
  if (/^127\./.test(hostname) || hostname === '[::1]') return 'localhost';
  return /^[\d.]+$|^\[/.test(hostname) ? null : hostname;
}
