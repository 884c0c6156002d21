import { expect, it } from 'vitest';
import served from '../../../../docs/openapi.json?raw';
import { readDocument } from './document.ts';
import { errorsOf, found, foundErrors, indexOf } from './search.ts';

const document = readDocument(JSON.parse(served));
const index = indexOf(document);
const idsOf = (query: string) => found(index, query).map(({ operation }) => operation.operationId);

it('finds operations by title, path, parameter, field and error, those with it in the title first', () => {
  expect(idsOf('verify one address')[0]).toBe('verify');
  expect(idsOf('POST /v1/filters')).toEqual(['addFilter', 'importFilters']);
  expect(idsOf('VERIFY')[0]).toBe('verify');
  expect(idsOf('retry_minutes')).toContain('createList');
  expect(idsOf('transcript')).toContain('verify');
  expect(idsOf('filter_exists')).toContain('addFilter');
  expect(idsOf('list.completed')[0]).toBe('receiveListCompleted');
  expect(idsOf('neither here nor there')).toEqual([]);
  expect(idsOf(' ')).toHaveLength(index.length);
});

it('finds an error once, however many operations return it', () => {
  const errors = errorsOf(document);
  const codesOf = (query: string) => foundErrors(errors, query).map(({ code }) => code);
  expect(foundErrors(errors, ' RATE_limit_exceeded')).toEqual([{ code: 'rate_limit_exceeded', status: '429' }]);
  expect(codesOf('overloaded')).toEqual(['overloaded']);
  expect(codesOf('rate_lim')).toEqual(['rate_limit_exceeded']);
  expect(codesOf('_api_key')).toContain('expired_api_key');
  expect(codesOf('filter')).toEqual([]);
  expect(codesOf('')).toEqual([]);
});
