import { expect, it } from 'vitest';
import { type Group, type Item, item, scoreOf, search, subjectOf } from './match.ts';

const named = (label: string, words?: string): Item => item(label, label, 'at', () => {}, { words });

it.each([
  ['API keys', '', 'api', 3],
  ['API keys', '', 'KEY', 2],
  ['API keys', '', 'keys api', 2],
  ['Webhooks', '', 'hook', 1],
  ['Webhooks', 'events', 'event', 1],
  ['Webhooks', '', 'web log', 0],
])('%s (%s) matches “%s” with %d', (label, words, text, score) =>
  expect(scoreOf(named(label, words), text)).toBe(score));

it('puts the best group first, and in it the best match', () => {
  const groups: readonly Group[] = [
    { title: 'Pages', items: [named('Credit ledger'), named('Log')] },
    { title: 'Keys', items: [named('The shop'), named('Shop'), named('Bishop')] },
    { title: 'Lists', items: [named('shopping.csv')] },
  ];
  expect(search(groups, 'shop').map(({ title, items }) => [title, ...items.map(({ label }) => label)])).toEqual([
    ['Keys', 'Shop', 'The shop', 'Bishop'],
    ['Lists', 'shopping.csv'],
  ]);
  expect(search(groups, 'nothing like it')).toEqual([]);
});

it('shows a bounded number of each group', () => {
  const items = Array.from({ length: 40 }, (_, n) => named(`key ${n}`));
  expect(search([{ title: 'Keys', items }], 'key')[0]?.items).toHaveLength(6);
});

it.each([
  ['', null],
  ['  ', null],
  [' jane@good.com ', 'address'],
  ['nowhere.test', 'domain'],
  ['newsletter', 'text'],
  ['good.com and more', 'text'],
  ['ver_0VkP3Zq1n7Jc2mQ9sT4bXd', 'id'],
  ['req_0VkP3Zq1n7Jc2mQ9sT4bXd', 'text'],
  ['ver_short', 'text'],
])('“%s” is of kind %s', (typed, is) => expect(subjectOf(typed)?.is ?? null).toBe(is));
