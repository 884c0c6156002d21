import { expect, test } from 'vitest';
import { type HeaderList, putHeader, putHeaders, removeHeader } from './exchange.ts';

test('a header is replaced in its place, added at the end, and removed with its value', () => {
  const list: HeaderList = ['content-type', 'application/json', 'x-request-id', 'req_1'];
  putHeaders(list, { 'content-type': 'text/csv', 'set-cookie': ['a=1', 'b=2'] });
  putHeader(list, 'x-request-id', 'req_2');
  expect(list).toEqual(['content-type', 'text/csv', 'x-request-id', 'req_2', 'set-cookie', ['a=1', 'b=2']]);
  removeHeader(list, 'content-type');
  removeHeader(list, 'etag');
  expect(list).toEqual(['x-request-id', 'req_2', 'set-cookie', ['a=1', 'b=2']]);
});

test('a value is not taken for a name', () => {
  const list: HeaderList = ['vary', 'origin'];
  putHeader(list, 'origin', 'https://example.com');
  expect(list).toEqual(['vary', 'origin', 'origin', 'https://example.com']);
});
