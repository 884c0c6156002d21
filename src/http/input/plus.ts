import { parse } from 'node:querystring';

/** What has a meaning of its own around an address, such as a name before it; within quotes a blank is a blank. */
const NOT_PLAIN = /["<>(),:;]/;

/**
 * An address from a query or a form, where `+` stands for a blank (application/x-www-form-urlencoded, WHATWG URL §5.1).
 * Many clients put an address into a URL as it is, and an unquoted local part has no blanks (RFC 5321 §4.1.2), so a
 * blank there that was sent as `+` is a plus. `encoded`: the query or form; `text`: the parameter as it was decoded. A
 * client that encodes `@` may mean blanks around an address; `encodes`: what it means by `+` within one.
 */
export function withPluses(encoded: string, field: string, text: string, encodes: 'plus' | 'blank'): string {
  const at = text.lastIndexOf('@');
  if (at < 0 || !text.includes(' ') || NOT_PLAIN.test(text.slice(0, at))) return text;
  for (const part of encoded.split('&')) {
    if (!part.includes('+') || parse(part)[field] !== text) continue;
    const isEncoded = part.includes('%40', part.indexOf('='));
    if (isEncoded && encodes === 'blank') return text;
    // Of the same length: both a blank and a plus are one character.
    const kept = String(parse(part.replaceAll('+', '%2B'))[field]);
    const start = isEncoded ? text.length - text.trimStart().length : 0;
    return text.slice(0, start) + kept.slice(start, at) + text.slice(at);
  }
  return text;
}
