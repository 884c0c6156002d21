import type { IncomingMessage } from 'node:http';
import { Refusal } from '../kernel/errors.ts';
import { hashApiKey, KEY_PATTERN } from '../kernel/ids.ts';

/**
 * The hash of the key that a request carries (RFC 6750 §2.1): the word Bearer, exactly one space, the key. Each way to
 * get that wrong is refused with a sentence that names it.
 */
export function keyHashOf(request: IncomingMessage): string {
  const value = request.headers.authorization;
  if (value === undefined || value === '') throw new Refusal('missing_api_key');
  if (headerCount(request, 'authorization') > 1) {
    throw malformed('The Authorization header was sent more than once; send it once.');
  }
  const match = /^bearer ([^\s]+)$/i.exec(value);
  if (match === null) throw malformed(mistakeIn(value));
  const key = match[1]!;
  if (/^bearer$/i.test(key)) throw malformed('The Authorization header has the word "Bearer" twice and no key.');
  if (!KEY_PATTERN.test(key)) throw new Refusal('invalid_api_key');
  return hashApiKey(key);
}

const malformed = (sentence: string) => new Refusal('malformed_authorization', sentence);

function mistakeIn(value: string): string {
  if (/^bearer[\s,]+bearer\b/i.test(value))
    return 'The Authorization header has the word "Bearer" twice; send it once.';
  if (/\t/.test(value))
    return 'The Authorization header has a tab; separate "Bearer" and the key by exactly one space.';
  if (/^bearer\s*$/i.test(value)) return 'The Authorization header has the word "Bearer" but no key after it.';
  if (/^bearer {2,}/i.test(value))
    return 'The Authorization header has more than one space between "Bearer" and the key.';
  if (/^bearer[^ ]/i.test(value)) return 'The Authorization header has no space between "Bearer" and the key.';
  if (/^mv_live_/.test(value)) return 'The Authorization header lacks the word "Bearer" before the key.';
  if (/^bearer /i.test(value)) return 'The Authorization header has white space or more words after the key.';
  return 'The Authorization header must use the Bearer scheme: "Bearer", exactly one space, and the key.';
}

/** How often a header was sent; node keeps only the first of some. `name` in lower case. */
export function headerCount(request: IncomingMessage, name: string): number {
  let n = 0;
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length === name.length && raw[i]!.toLowerCase() === name) n += 1;
  }
  return n;
}
