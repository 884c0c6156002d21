import { readFileSync } from 'node:fs';
import { domainToASCII } from 'node:url';
import { edgeLength, edgeStart, labelText, rulesRoot } from 'tldts/dist/es6/src/data/trie.js';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../data-files.ts';
import { isPublicSuffix, isSpecialUse, parseDomain, tldIsListed, unlistedTld } from './parse.ts';

const iana = readFileSync(dataFile('tlds.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

/** The last labels of all rules of the suffix list, as A-labels; their order in the trie is that of the edges. */
function suffixListTlds(): string[] {
  const [first = 0, end = 0] = [edgeStart[rulesRoot], edgeStart[rulesRoot + 1]];
  let at = 0;
  for (const length of edgeLength.subarray(0, first)) at += length;
  const labels: string[] = [];
  for (const length of edgeLength.subarray(first, end)) {
    labels.push(domainToASCII(labelText.slice(at, at + length)));
    at += length;
  }
  return [...new Set(labels)];
}

describe('the lists of top-level domains', () => {
  const both = [...new Set([...iana, ...suffixListTlds()])];

  it('are read completely', () => {
    expect(iana.length).toBeGreaterThan(1_400);
    expect(suffixListTlds().length).toBeGreaterThan(1_400);
    // Each has names that the other lacks.
    expect(iana.filter((tld) => !suffixListTlds().includes(tld))).not.toEqual([]);
  });

  it('leave no name of either to be called unknown', () => {
    const special = both.filter((tld) => isSpecialUse(`example.${tld}`));
    expect(special).toEqual(['onion']);
    for (const tld of both.filter((name) => name !== 'onion')) {
      const domain = `example.${tld}`;
      expect([tld, tldIsListed(tld), unlistedTld(domain)]).toEqual([tld, true, null]);
      expect(parseDomain(domain)).toMatchObject({ ok: true, ascii: domain });
      expect(parseDomain(`co.${domain}`)).toMatchObject({ ok: true });
      expect(parseDomain(tld, 0, { allowTld: true })).toMatchObject({ ok: true, ascii: tld });
      expect([tld, isPublicSuffix(tld)]).toEqual([tld, true]);
    }
  });
});

describe('unlistedTld', () => {
  it.each([
    ['example.nosuchtld', 'nosuchtld'],
    ['a.b.con', 'con'],
    ['example.xn--zckzah', 'xn--zckzah'],
    ['example.co.za', null],
    ['example.test', null],
    ['x.onion', null],
    ['printer.home.arpa', null],
  ])('%s → %s', (domain, tld) => expect(unlistedTld(domain)).toBe(tld));
});
