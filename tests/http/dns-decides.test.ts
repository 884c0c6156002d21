/** What the service leaves to the DNS: whether a top-level domain exists, and how long a slow domain may take. */
import { domainToASCII } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Entry } from '../lab/dns.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;

beforeAll(async () => {
  lab = await startLab();
  owner = await lab.member({ rateLimit: 100_000 });
});
afterAll(() => lab.close());

const balance = async (m: Member) => (await lab.store.accounts.get(m.account.id))!.balance;

it('lets the DNS decide about a top-level domain that no list has', async () => {
  for (const [name, entry] of Object.entries<Entry>({
    'alive.newtld': { MX: [[10, 'mx.good.com']] },
    'lame.brokentld': { fault: 'servfail' },
    brokentld: { fault: 'servfail' },
  }))
    lab.dns.set(name, entry);
  const before = await balance(owner);
  const { json: gone } = await owner.verify(' a@b.nosuchtld');
  expect(gone).toMatchObject({ reason: 'invalid_format', credits_used: 1, normalized_email: null, domain: null });
  expect(gone.checks).toMatchObject({
    syntax: { result: 'fail', error: 'unknown_tld', index: 5 },
    filter: { result: 'skipped' },
    disposable: { result: 'skipped' },
    domain: { result: 'skipped' },
  });
  const again = (await owner.verify(' a@b.nosuchtld')).json;
  expect(again.checks).toEqual(gone.checks);
  expect((await owner.verify('a@alive.newtld')).json).toMatchObject({
    status: 'good',
    reason: null,
    credits_used: 1,
  });
  expect((await owner.verify('a@other.newtld')).json).toMatchObject({ reason: 'domain_not_found', credits_used: 1 });
  expect((await owner.verify('a@lame.brokentld')).json).toMatchObject({ reason: 'dns_failure', credits_used: 1 });
  expect(await balance(owner)).toBe(before - 5);
});

it('lets the DNS decide about names under every kind of listed top-level domain', async () => {
  // IANA's list alone, the suffix list with wildcards, an IDN, a young gTLD.
  for (const domain of ['shop.co.za', 'nic.za', 'firm.co.ck', 'firm.com.bd', 'пример.рф', 'example.zip']) {
    lab.dns.set(domainToASCII(domain), { MX: [[10, 'mx.good.com']] });
    expect((await owner.verify(`a@${domain}`)).json).toMatchObject({ status: 'good', reason: null });
    expect((await owner.verify(`a@gone.${domain}`)).json).toMatchObject({ reason: 'domain_not_found' });
  }
});

it('filters addresses under any top-level domain, without a query', async () => {
  const guarded = await lab.member({ credits: 1 });
  for (const value of ['spam-shop.co.za', 'x@spam.org.za', 'spam.nosuchtld', 'x@spam2.nosuchtld']) {
    expect(await guarded.call('POST', '/v1/filters', { value })).toMatchObject({ status: 201, json: { value } });
    const { json } = await guarded.verify(value.includes('@') ? value : `a@b.${value}`);
    expect(json).toMatchObject({ reason: 'blocked_by_filter', credits_used: 0 });
  }
  expect(lab.dns.queries.filter(({ name }) => name.includes('spam'))).toEqual([]);
});

it('gives a slow domain the time that the caller has', async () => {
  // Two attempts of 200 ms are usual here.
  lab.dns.set('slow.com', { MX: [[10, 'mx.good.com']], fault: { slow: 1_500 } });
  for (const more of [{}, { timeout_ms: 5_000 }, { timeout_ms: 10_000 }])
    expect((await owner.verify('a@slow.com', more)).json).toMatchObject({ reason: 'dns_failure', status: 'bad' });
  const { json } = await owner.verify('a@slow.com', { timeout_ms: 30_000 });
  expect(json).toMatchObject({ status: 'good', reason: null, credits_used: 1 });
});
