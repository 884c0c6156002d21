import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { found, indexOf } from './search.ts';

const index = indexOf(JSON.parse(readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8')));
const idsOf = (query: string) => found(index, query).map(({ operation }) => operation.operationId);

it('finds operations by title, path, parameter, field and error, those with it in the title first', () => {
  expect(idsOf('verify one address')[0]).toBe('verify');
  expect(idsOf('POST /v1/filters')).toEqual(['addFilter']);
  expect(idsOf('VERIFY')[0]).toBe('verify');
  expect(idsOf('patience_minutes')).toContain('createList');
  expect(idsOf('transcript')).toContain('verify');
  expect(idsOf('filter_exists')).toContain('addFilter');
  expect(idsOf('list.completed')[0]).toBe('receiveListCompleted');
  expect(idsOf('no such words')).toEqual([]);
  expect(idsOf(' ')).toHaveLength(index.length);
});
