import { get } from 'node:http';

/** Size of the bodies on the network for a browser that accepts gzip, and their content codings. */
export async function transferred(urls: readonly string[]): Promise<{ bytes: number; codings: ReadonlySet<string> }> {
  const bodies = await Promise.all(urls.map(transfer));
  const bytes = bodies.reduce((sum, body) => sum + body.bytes, 0);
  return { bytes, codings: new Set(bodies.map(({ coding }) => coding)) };
}

/** Not with fetch, which decodes. */
const transfer = (url: string): Promise<{ bytes: number; coding: string }> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'gzip' } }, (reply) => {
      let bytes = 0;
      reply.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      reply.once('error', reject);
      reply.once('end', () => resolve({ bytes, coding: reply.headers['content-encoding'] ?? 'identity' }));
    }).once('error', reject);
  });
