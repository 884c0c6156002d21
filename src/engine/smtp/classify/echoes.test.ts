import { expect, it } from 'vitest';
import { fold, plainWords, takeOutEchoes } from './echoes.ts';

const echoes = {
  address: 'Jane.Doe+news@Example.com',
  ourNames: ['probe.example.net', 'verify@probe.example.net'],
  ourIps: ['192.0.2.25', '2001:db8::25'],
};
const plain = (text: string, address = echoes.address) =>
  takeOutEchoes(text, { ...echoes, address }, (host) => host === 'zen.spamhaus.org', new Set(['user']));
const words = (text: string, address?: string) => plainWords(plain(text, address).marked);

it.each([
  ['<jane.doe+news@example.com>... User Unknown', '_rcpt user unknown'],
  ['User jane.doe+news unknown at example.com.', 'user _rcpt unknown at _domain'],
  ['Verification failed for <verify@probe.example.net>', 'verification failed for _sender'],
  ['probe.example.net [192.0.2.25] refused', '_us _ourip refused'],
  ['client [2001:db8::25] and 2001:db8::26, 203.0.113.7, x.xx.xx.xx', 'client _ourip and _ip _ip _ip'],
  ['<other@example.org> and mx.example.org', '_mail and _host'],
  ['see https://a.example/spam?blocked=1 or www.b.example/x', 'see _url or _url'],
  ['listed at zen.spamhaus.org, http://zen.spamhaus.org/q', 'listed at _dnsbl _dnsblurl'],
  ['RESOLVER.ADR.RecipNotFound; not found', 'resolver.adr.recipnotfound not found'],
  ['id c18si2365148hub-xyz1 08DD4D9FD5AFF45C', 'id _id _id'],
  ['Boîte inconnue, skrzynka pełna, ‘quoted’', "boite inconnue skrzynka pelna 'quoted'"],
  ['user_unknown [BL21] (RLY:B1)', 'user unknown bl21 rly b1'],
])('%s', (text, expected) => {
  expect(words(text)).toBe(expected);
});

it('a local part is replaced only as a separate word', () => {
  expect(words('Janet, jane and mary-jane', 'jane@example.com')).toBe('janet _rcpt and mary-jane');
});

it('a significant word stays even if it is the local part', () => {
  expect(words('User unknown', 'user@example.com')).toBe('user unknown');
  expect(words('<user@example.com> unknown', 'user@example.com')).toBe('_rcpt unknown');
});

it('finds an enhanced code inside the text, but no IP address or version', () => {
  expect(plain('sorry (#5.1.1)').enhanced).toBe('5.1.1');
  expect(plain('cmsmtp 5.7.1 refused').enhanced).toBe('5.7.1');
  expect(plain('5.1.1.4 and 15.1.1 and 4.16.50').enhanced).toBeNull();
});

it('folds accents and leaves other scripts', () => {
  expect(fold('ÉÀÜ ŁÓDŹ Пользователь ユーザー')).toBe('eau lodz пользователь ユーザー');
});
