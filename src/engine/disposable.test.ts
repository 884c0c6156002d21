import { expect, test } from 'vitest';
import { type DomainData, loadDomainData } from './data/domain-data.ts';
import type { DisposableEvidence, DnsEvidence } from './evidence.ts';
import { disposableByHost } from './verify.ts';

const PASS: DisposableEvidence = { result: 'pass', matched: null, by: null };
const HIT: DisposableEvidence = { result: 'fail', matched: 'mx.throwaway.example', by: 'mail_host' };
const lists = loadDomainData();
const listing: DomainData = { ...lists, disposableHost: ([matched = '']) => ({ matched, service: matched }) };

test('what is known of mail hosts is that of the lists in use, and yields to the allowlist of domains', () => {
  const records = [{ host: 'mx.throwaway.example', priority: 10 }];
  const dns: DnsEvidence = { finding: 'mx', failure: null, records, hosts: [], unusable: [], provider: null };
  for (let round = 0; round < 2; round += 1) {
    expect(disposableByHost(PASS, 'shop.example', dns, lists)).toEqual(PASS);
    expect(disposableByHost(PASS, 'shop.example', dns, listing)).toEqual(HIT);
    expect(disposableByHost(PASS, 'duck.com', dns, listing)).toEqual(PASS);
  }
});
