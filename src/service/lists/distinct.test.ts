import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { DistinctAddresses } from './distinct.ts';

/** More than a page of keys, and several growths of the table. */
const MANY = 150_000;
const addressOf = (n: number): string => `jane.doe${n}@example.com`;

it('numbers distinct addresses in the order in which they first occur', () => {
  const distinct = new DistinctAddresses('address');
  const wrong: number[] = [];
  for (let n = 1; n <= MANY; n++) if (distinct.number(addressOf(n)) !== n) wrong.push(n);
  // Again, in another order.
  for (let n = MANY; n > 0; n--) if (distinct.number(addressOf(n)) !== n) wrong.push(n);
  expect(wrong).toEqual([]);
  expect(distinct.count).toBe(MANY);
});

it('ignores case in domains, and blanks around an address', () => {
  const distinct = new DistinctAddresses('address');
  expect(['Jane@example.com', ' Jane@EXAMPLE.com ', 'jane@example.com'].map((text) => distinct.number(text))).toEqual([
    1, 1, 2,
  ]);
});

it('compares domains as they are verified, however they are spelled', () => {
  const spellings = [
    ['a@bücher.de', 'a@BÜCHER.de', 'a@xn--bcher-kva.de', 'a@XN--BCHER-KVA.DE', 'a@bu\u0308cher.de', 'a@ｂücher．de'],
    ['a@example.com', 'a@ｅｘａｍｐｌｅ.com', 'a@example。com', 'a@EXAMPLE．com'],
    ['a@straße.de', 'a@xn--strae-oqa.de'],
    ['a@strasse.de'],
    ['a@ü..de', 'a@Ü..de'],
    ['A@bücher.de'],
  ];
  const distinct = new DistinctAddresses('address');
  const numbers = spellings.map((same) => same.map((text) => distinct.number(text)));
  expect(numbers).toEqual(spellings.map((same, i) => same.map(() => i + 1)));
});

it('looks at few slots, whatever addresses a sender has chosen to fall together', () => {
  // Those whose bare SHA-256 begins in the same 64 of the 4,096 slots that the table begins with.
  const crafted: string[] = [];
  for (let n = 0; crafted.length < 1_000; n++) {
    const address = `a${n}@example.com`;
    if ((hash('sha256', address, 'buffer').readUInt32BE(0) & 4_095) < 64) crafted.push(address);
  }
  const distinct = new DistinctAddresses('address');
  for (const address of crafted) distinct.number(address);
  expect(distinct.count).toBe(crafted.length);
  expect(distinct.probes).toBeLessThan(crafted.length * 3);
});

it('numbers mailboxes where their provider documents the spellings, and addresses elsewhere', () => {
  const same = [
    ['J.Doe@gmail.com', 'jdoe+x@GMAIL.com', ' "j.doe"@googlemail.com', 'jdoe@ｇmail.com'],
    ['Jane@me.com', 'jane+shop@icloud.com'],
    ['shop@jane.fastmail.com', 'jane@fastmail.com'],
    ['jane-shop@yahoo.co.uk', 'jane@yahoo.co.uk'],
    // A tag alone, capitals alone, a provider that only mail hosts tell, or another domain: not documented.
    ['jane@example.com'],
    ['Jane@example.com'],
    ['jane+x@example.com'],
    ['jane@yahoo.com'],
    ['jane+x@gmx.de'],
    // No addresses.
    ['j..doe@gmail.com'],
    ['gmail.com'],
    ['@gmail.com'],
  ];
  const distinct = new DistinctAddresses('mailbox');
  const numbers = same.map((spellings) => spellings.map((text) => distinct.number(text)));
  expect(numbers).toEqual(same.map((spellings, i) => spellings.map(() => i + 1)));
});
