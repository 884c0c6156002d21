import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../kernel/log.ts';
import { Costs } from '../../service/costs.ts';
import { HttpRequest } from '../exchange.ts';
import { streamBody } from './reader.ts';

it('fails where its client leaves before anybody reads it', async () => {
  const arrived = Promise.withResolvers<Readable>();
  const server = createServer((raw) => {
    const request = new HttpRequest(raw, { id: 'req_1', params: {}, log: createLogger('silent') });
    const read = streamBody(request, { cost: 'list_upload', stream: ['text/csv'], tooLarge: 'list_too_large' });
    if (!read.ok) return arrived.reject(read.error);
    const { value: body } = read;
    arrived.resolve(new Costs(systemClock).hold('list_upload', 'acc_1').then((place) => body.held(place)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: 1000\r\n\r\nemail\r\n');
  const body = await arrived.promise;
  client.destroy();
  // Not `once` of node:events, which listens for errors as well.
  await new Promise((resolve) => body.once('close', resolve));
  await expect(body.toArray()).rejects.toMatchObject({ code: 'malformed_request' });
  server.close();
});
