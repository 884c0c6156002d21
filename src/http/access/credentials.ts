import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { invalid, type Parsed } from '../../contract/reader.ts';
import { hashApiKey, type KeyMode, keyModeOf } from '../../kernel/ids.ts';
import { headerCount } from '../input/headers.ts';

/** A well-formed API key. */
interface SentKey {
  readonly hash: string;
  readonly mode: KeyMode;
}

/** The last key of each connection, with its header: most clients send the same one again, and its hash is not free. */
const lastKeys = new WeakMap<Socket, { readonly header: string; readonly key: SentKey }>();

/**
 * The key that a request carries (RFC 6750 §2.1): the word Bearer, exactly one space, the key. Each way to
 * get that wrong is refused with a message that names it.
 */
export function sentKeyOf(request: IncomingMessage): Parsed<SentKey> {
  const value = request.headers.authorization;
  if (value === undefined || value === '') return invalid('missing_api_key');
  if (headerCount(request, 'authorization') > 1) {
    return malformed('The Authorization header was sent more than once; send it once.');
  }
  const last = lastKeys.get(request.socket);
  if (last?.header === value) return { ok: true, value: last.key };
  const [, key] = /^bearer ([^\s]+)$/i.exec(value) ?? [];
  if (key === undefined) return malformed(mistakeIn(value));
  if (/^bearer$/i.test(key)) return malformed('The Authorization header has the word "Bearer" twice and no key.');
  if (/^bearer/i.test(key)) return malformed('The Authorization header has the word "Bearer" twice; send it once.');
  const mode = keyModeOf(key);
  if (mode === null) return invalid('invalid_api_key');
  const sent: SentKey = { hash: hashApiKey(key), mode };
  lastKeys.set(request.socket, { header: value, key: sent });
  return { ok: true, value: sent };
}

/** The key that a request of another service's contract carries. */
export function foreignKeyOf(key: string | null): Parsed<SentKey> {
  if (key === null) return invalid('missing_api_key', 'No API key was sent.');
  const mode = keyModeOf(key);
  return mode === null ? invalid('invalid_api_key') : { ok: true, value: { hash: hashApiKey(key), mode } };
}

const malformed = (message: string) => invalid('malformed_authorization', message);

function mistakeIn(value: string): string {
  if (/^bearer[\s,]+bearer\b/i.test(value))
    return 'The Authorization header has the word "Bearer" twice; send it once.';
  if (/\t/.test(value))
    return 'The Authorization header has a tab; separate "Bearer" and the key by exactly one space.';
  if (/^bearer\s*$/i.test(value)) return 'The Authorization header has the word "Bearer" but no key after it.';
  if (/^bearer {2,}/i.test(value))
    return 'The Authorization header has more than one space between "Bearer" and the key.';
  if (/^bearer[^ ]/i.test(value)) return 'The Authorization header has no space between "Bearer" and the key.';
  if (/^mv_(live|test)_/.test(value)) return 'The Authorization header lacks the word "Bearer" before the key.';
  if (/^bearer /i.test(value)) return 'The Authorization header has white space or more words after the key.';
  return 'The Authorization header must use the Bearer scheme: "Bearer", exactly one space, and the key.';
}
