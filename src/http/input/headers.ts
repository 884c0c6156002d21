import type { IncomingMessage } from 'node:http';

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
