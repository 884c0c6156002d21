import { expect, it } from 'vitest';
import { readDocument } from './document.ts';

it('a response has the headers that it refers to, and none where it names none', () => {
  const operation = { operationId: 'ping', summary: 'Ping', responses: {} };
  const document = readDocument({
    info: { title: 'Mailvet', version: '1' },
    paths: {
      '/ping': {
        get: {
          ...operation,
          responses: { 200: { description: 'OK', headers: { 'X-Id': { $ref: '#/components/headers/XId' } } } },
        },
      },
    },
    webhooks: { ping: { post: { ...operation, responses: { '2XX': { description: 'Received.' } } } } },
    components: { headers: { XId: { description: 'Of the request.' } }, schemas: {} },
  });
  expect(document.paths['/ping']?.get?.responses[200]?.headers).toEqual({ 'X-Id': { description: 'Of the request.' } });
  expect(document.webhooks?.ping?.post?.responses['2XX']).toEqual({ description: 'Received.' });
});
