import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadDomainData } from './domain-data.ts';

const lists = loadDomainData();
const real = readFileSync(new URL('testdata/real-mail-domains.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

describe('real mail domains', () => {
  it('are about four hundred', () => {
    expect(new Set(real).size).toBe(real.length);
    expect(real.length).toBeGreaterThan(300);
  });

  it('are neither disposable nor suspected', () => {
    const wrong = real.filter((domain) => ['disposable', 'suspected'].includes(lists.disposable(domain).verdict));
    expect(wrong).toEqual([]);
  });

  it('have no disposable mail hosts', () => {
    expect(real.filter((domain) => lists.disposableHost([`mx1.${domain}`], []) !== null)).toEqual([]);
  });
});
