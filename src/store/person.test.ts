import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mailboxDomains, mailboxOf } from '../engine/address/mailbox.ts';
import { Mentions } from './person.ts';

const jane = new Mentions({ email: 'jane@example.com', spellings: null });
const gmail = new Mentions({
  email: 'jane.doe@gmail.com',
  spellings: { is: (one) => mailboxOf(one) === 'janedoe@gmail.com', domains: mailboxDomains('janedoe@gmail.com') },
});

describe('an address in a text', () => {
  it.each([
    ['jane@example.com', '#'],
    ['RCPT TO:<Jane@Example.COM> 550 no', 'RCPT TO:<#> 550 no'],
    ['{"email":"jane@example.com"}', '{"email":"#"}'],
    ['email=jane%40example.com&x=1', 'email=#&x=1'],
    ["'jane@example.com'.", "'#'."],
    ['a jane@example.com, jane@example.com', 'a #, #'],
  ])('is found and replaced: %j', (text, left) => {
    expect(jane.in(text)).toBe(true);
    expect(jane.without(text).replaceAll(jane.hash, '#')).toBe(left);
  });

  it.each([
    'xjane@example.com',
    'mary.jane@example.com',
    'x+jane@example.com',
    'jane@example.com.au',
    'jane@example.computer',
    'jane@example.com-x.net',
    'jane@sub.example.com',
    'яjane@example.com',
    '',
  ])('is not the end, the beginning or the middle of another one: %j', (text) => {
    expect(jane.in(text)).toBe(false);
    expect(jane.without(text)).toBe(text);
  });

  it.each([
    'janedoe@gmail.com',
    'Jane.D.oe+shop@googlemail.com',
    'to <j.anedoe@gmail.com>',
    '?to=janedoe%2Bx%40gmail.com',
    '"JANEDOE@ｇｍａｉｌ.com"',
  ])('is found in every spelling: %j', (text) => expect(gmail.in(text)).toBe(true));

  it.each([
    'janedo@gmail.com',
    'janedoe@example.com',
    'xjanedoe@gmail.com',
    '@gmail.com',
    'janedoe@',
  ])('is not another mailbox: %j', (text) => expect(gmail.in(text)).toBe(false));

  it('is gone from JSON, whatever stands around it, and the JSON stays JSON', () => {
    const around = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(around, around, fc.constantFrom(jane, gmail), (before, after, mentions) => {
        const address = mentions === jane ? 'Jane@example.com' : 'jane.doe+1@googlemail.com';
        const inside = `${before} ${address} ${after}`;
        const text = JSON.stringify({ a: inside, b: address });
        expect(mentions.inJson(text)).toBe(true);
        const left = mentions.withoutJson(text);
        expect(mentions.inJson(left)).toBe(false);
        expect(JSON.parse(left)).toMatchObject({ b: mentions.hash });
        // Blanks around it are not kept.
        expect(JSON.parse(left).a).toBe(mentions.is(inside) ? mentions.hash : `${before} ${mentions.hash} ${after}`);
      }),
    );
  });

  it.each([
    '0',
    '{}',
    'true',
    'smtp',
    'reason',
    'jane',
    '","reason":"',
    '"a","reason":"b@c',
    '@',
    '"x@y"',
  ])('leaves JSON as it is where it is in no string, or is no address: %j', (email) => {
    const text = JSON.stringify({ id: 0, reason: 'smtp', a: true, b: {}, to: 'jane@example.com', cause: 'a","reason' });
    const one = new Mentions({ email, spellings: null });
    expect([one.inJson(text), one.withoutJson(text)]).toEqual([false, text]);
    const own = JSON.stringify({ email, reason: 'smtp' });
    expect(one.inJson(own)).toBe(true);
    expect(JSON.parse(one.withoutJson(own))).toEqual({ email: one.hash, reason: 'smtp' });
  });

  it('leaves JSON, and the names of its fields, whatever the address is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), fc.json(), (email, text) => {
        const left = new Mentions({ email, spellings: null }).withoutJson(text);
        if (!email.normalize('NFKC').includes('@'))
          expect(structureOf(JSON.parse(left))).toEqual(structureOf(JSON.parse(text)));
        else JSON.parse(left);
      }),
    );
  });

  it('is no part of a text unless it has an at sign', () => {
    const one = new Mentions({ email: 'smtp', spellings: null });
    expect([one.in('smtp'), one.in('by smtp'), one.in('smtp@example.com')]).toEqual([true, false, false]);
  });

  it('is found in the time that the text takes, whatever it is made of', () => {
    for (const part of ['a', '@', 'a@', '%40', "'", 'jane.doe@gmail.co', 'x@gmail.com'])
      for (const mentions of [jane, gmail]) expect(mentions.in(part.repeat(100_000 / part.length))).toBe(false);
  });

  it('may have marks of regular expressions, quotes and backslashes in it', () => {
    for (const email of ['a+(b)*[c]?@example.com', '"a \\" b"@example.com', 'a|b^c$d/e{2}-@example.com']) {
      const one = new Mentions({ email, spellings: null });
      expect(one.in(`<${email}>`)).toBe(true);
      expect(one.in(JSON.stringify({ email }))).toBe(true);
    }
  });
});

/** Without what strings say. */
function structureOf(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return value.map(structureOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([key, one]) => [key, structureOf(one)]);
}
