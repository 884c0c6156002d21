import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createLogger } from '../kernel/log.ts';
import { HttpRequest } from './exchange.ts';
import { COMPRESSED_AT_ONCE, compressedIfIdle } from './shared-bytes.ts';

function asking(accepts: string): HttpRequest {
  const raw = new IncomingMessage(new Socket());
  raw.headers['accept-encoding'] = accepts;
  return new HttpRequest(raw, { id: 'req', params: {}, log: createLogger('silent') });
}

it('compresses few pages at once, and sends the others as they are', async () => {
  const page = Buffer.from('<p>a page</p>'.repeat(500));
  const ask = () => compressedIfIdle(page, asking('gzip, br'));
  for (const round of ['first', 'second']) {
    const sent = await Promise.all(Array.from({ length: COMPRESSED_AT_ONCE + 3 }, ask));
    const plain = [null, null, null];
    expect(
      sent.map(({ coding }) => coding),
      round,
    ).toEqual([...Array(COMPRESSED_AT_ONCE).fill('br'), ...plain]);
    for (const { bytes, coding } of sent) expect(coding === null ? bytes : brotliDecompressSync(bytes)).toEqual(page);
  }
  expect(await compressedIfIdle(page, asking('identity'))).toEqual({ bytes: page, coding: null });
});
