import { type ErrorCode, Refusal } from '../../kernel/errors.ts';

/** A browser, as its request tells; what it sent is unjudged. */
export interface Visitor {
  /** Canonical. */
  readonly ip: string;
  /** The Cookie header. */
  readonly cookie: string | undefined;
  /** The Origin header; the guard has compared it with the request's host. */
  readonly origin: string | undefined;
}

/** What the browser is to keep. */
export interface Cookies {
  readonly setCookie: readonly string[];
}

/** Cookies of the library, without the prefixes of their names. */
export type CookieName = 'session_token' | 'two_factor' | 'passkey';

const NAME = /^(?:__Secure-)?mailvet\.([a-z_]+)$/;

const pairsOf = (cookie: string | undefined): readonly string[] => (cookie ?? '').split(';').map((pair) => pair.trim());

const nameOf = (pair: string): string | null => NAME.exec(pair.slice(0, Math.max(0, pair.indexOf('='))))?.[1] ?? null;

/** Whether the request names such a cookie; without one the library need not be loaded. */
export const hasCookie = (cookie: string | undefined, name: CookieName): boolean =>
  pairsOf(cookie).some((pair) => nameOf(pair) === name);

/**
 * Headers for a call of the library: of the request only the cookies that this step is about. A sign-in, say, must not
 * see the session that the browser has.
 */
export function headersOf(visitor: Pick<Visitor, 'cookie' | 'origin'>, ...names: readonly CookieName[]): Headers {
  const headers = new Headers();
  const kept = pairsOf(visitor.cookie).filter((pair) => (names as readonly (string | null)[]).includes(nameOf(pair)));
  if (kept.length > 0) headers.set('cookie', kept.join('; '));
  if (visitor.origin !== undefined) headers.set('origin', visitor.origin);
  return headers;
}

/** The Set-Cookie lines of the library's reply. */
export const cookiesOf = (headers: Headers | null | undefined): readonly string[] => headers?.getSetCookie() ?? [];

/** An APIError of the library, known by its shape: the class is loaded only with the library. */
interface LibraryError {
  readonly name: 'APIError';
  readonly status: string | number;
  readonly body?: { readonly code?: string };
}
const isLibraryError = (error: unknown): error is LibraryError => error instanceof Error && error.name === 'APIError';

/** What a code (else a status) of the library is in our words: a code of the catalogue, and a sentence of its own if any. */
export type Meanings = Readonly<Record<string, ErrorCode | readonly [ErrorCode, string]>>;

/** A session that ended between the guard and the call. */
const ALWAYS: Meanings = { UNAUTHORIZED: 'not_signed_in', SESSION_NOT_FRESH: 'sign_in_again' };

/** Runs a call of the library; its errors become Refusals, and those that nobody foresaw `internal_error`. */
export async function asked<T>(meanings: Meanings, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isLibraryError(error)) throw error;
    const known: Meanings = { ...ALWAYS, ...meanings };
    const meaning = known[error.body?.code ?? ''] ?? known[String(error.status)];
    if (meaning === undefined) throw new Refusal('internal_error', undefined, {}, error);
    const [code, sentence] = typeof meaning === 'string' ? [meaning] : meaning;
    throw new Refusal(code, sentence);
  }
}
