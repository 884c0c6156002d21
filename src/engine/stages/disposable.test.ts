import { expect, test } from 'vitest';
import type { DisposableEvidence, DnsEvidence } from '../evidence.ts';
import { type Lists, loadLists } from '../lists/lists.ts';
import { disposableByHost } from './disposable.ts';

const PASS: DisposableEvidence = { result: 'pass', matched: null, by: null };
const HIT: DisposableEvidence = { result: 'fail', matched: 'mx.throwaway.example', by: 'mail_host' };
const lists = loadLists();
const listing: Lists = { ...lists, disposableHost: ([matched = '']) => ({ matched, service: matched }) };

test('what is known of mail hosts is that of the lists in use, and yields to the allowlist of domains', () => {
  const records = [{ host: 'mx.throwaway.example', priority: 10 }];
  const dns: DnsEvidence = { finding: 'mx', failure: null, records, hosts: [], unusable: [], provider: null };
  for (let round = 0; round < 2; round += 1) {
    expect(disposableByHost(PASS, 'shop.example', dns, lists)).toEqual(PASS);
    expect(disposableByHost(PASS, 'shop.example', dns, listing)).toEqual(HIT);
    expect(disposableByHost(PASS, 'duck.com', dns, listing)).toEqual(PASS);
  }
});
