/** `did_you_mean` on mistyped domains and on real ones that resemble a provider's, with the lists of data/. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadDomainData } from '../data/domain-data.ts';
import { didYouMeanText } from './suggest.ts';

const lists = loadDomainData();
const rows = (name: string): string[][] =>
  readFileSync(new URL(`testdata/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t'));
const suggested = (domain: string): string | null =>
  didYouMeanText(`jane@${domain}`, lists)?.slice('jane@'.length) ?? null;

describe('typos', () => {
  const typos = rows('typos.txt').map(([typed = '', meant = '']) => ({ typed, meant, found: suggested(typed) }));
  const share = (of: typeof typos): number => of.filter(({ meant, found }) => found === meant).length / of.length;

  it('are repaired; of names of three or four letters, what cannot be another name', () => {
    const long = typos.filter(({ meant }) => meant.indexOf('.') >= 5);
    expect(long.length).toBeGreaterThan(1000);
    expect(share(long)).toBeGreaterThan(0.94);
    expect(share(typos)).toBeGreaterThan(0.86);
  });

  it('are repaired to another domain only where two are equally near', () => {
    const wrong = typos.filter(({ meant, found }) => found !== null && found !== meant).map(({ typed }) => typed);
    expect(wrong.sort()).toEqual(['hotmail.e', 'live.d', 'yahoo.co.n', 'yahoo.co.zn', 'yahoo.da', 'yahoo.r']);
  });
});

describe('real domains near those of providers', () => {
  it('are never corrected', () => {
    const real = rows('real-domains.txt').map(([domain = '']) => domain);
    expect(real.length).toBeGreaterThan(1000);
    expect(real.filter((domain) => suggested(domain) !== null)).toEqual([]);
  });
});
