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
