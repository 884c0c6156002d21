import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab } from '../lab/service.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab(
    { MAILVET_DNS_TIMEOUT_MS: '2000' },
    { net: { 'slow.com': { MX: [[10, 'mx.good.com']], fault: { slow: 700 } } } },
  );
});
afterAll(() => lab.close());

const key = (value: string) => ({ 'idempotency-key': value });

describe('Idempotency-Key', () => {
  it('returns the stored reply and charges once', async () => {
    const member = await lab.member({ credits: 5 });
    const first = await member.verify('a@good.com', {}, key('one'));
    const again = await member.verify('a@good.com', {}, key('one'));
    expect(again.text).toBe(first.text);
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect((await lab.store.accounts.get(member.account.id))!.balance).toBe(4);
  });

  it('is scoped to the account', async () => {
    const [member, stranger] = [await lab.member(), await lab.member()];
    const first = await member.verify('a@good.com', {}, key('shared'));
    const other = await stranger.verify('a@good.com', {}, key('shared'));
    expect(other.headers.get('idempotency-replayed')).toBe(null);
    expect(other.json.id).not.toBe(first.json.id);
  });

  it('with another body is 422', async () => {
    const member = await lab.member();
    await member.verify('a@good.com', {}, key('two'));
    const reused = await member.verify('b@good.com', {}, key('two'));
    expect([reused.status, reused.json.code]).toEqual([422, 'idempotency_key_reused']);
  });

  it('during the first request is 409 with Retry-After, and charged once', async () => {
    const member = await lab.member({ credits: 10 });
    const replies = await Promise.all(Array.from({ length: 8 }, () => member.verify('a@slow.com', {}, key('three'))));
    expect(replies.filter((r) => r.status === 200 && r.headers.get('idempotency-replayed') === null)).toHaveLength(1);
    expect(replies.every((r) => r.status === 200 || r.status === 409)).toBe(true);
    const conflict = replies.find((r) => r.status === 409)!;
    expect(conflict.json.code).toBe('idempotency_in_progress');
    expect(Number(conflict.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await member.verify('a@slow.com', {}, key('three'))).headers.get('idempotency-replayed')).toBe('true');
    expect((await lab.store.accounts.get(member.account.id))!.balance).toBe(9);
  });

  it('stores permanent errors (400, 422) but not transient ones (402, 503)', async () => {
    const member = await lab.member({ credits: 0 });
    const bad = await member.call('POST', '/v1/verify', {}, key('bad'));
    expect(bad.status).toBe(400);
    expect((await member.call('POST', '/v1/verify', {}, key('bad'))).headers.get('idempotency-replayed')).toBe('true');
    expect((await member.verify('a@good.com', {}, key('poor'))).status).toBe(402);
    await lab.store.accounts.grant(member.account.id, 1, 'test');
    expect((await member.verify('a@good.com', {}, key('poor'))).status).toBe(200);
    await lab.store.accounts.grant(member.account.id, 1, 'test');
    await lab.dns.pause('closed');
    expect((await member.verify('a@never-asked.com', {}, key('down'))).status).toBe(503);
    await lab.dns.resume();
    expect((await member.verify('a@never-asked.com', {}, key('down'))).status).toBe(200);
  });

  it('works for filters, which are added once', async () => {
    const member = await lab.member();
    const first = await member.call('POST', '/v1/filters', { value: 'once.com' }, key('f'));
    const again = await member.call('POST', '/v1/filters', { value: 'once.com' }, key('f'));
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
  });

  it.each(['x'.repeat(256), 'tab\there'])('%s is 400', async (value) => {
    const member = await lab.member();
    const { status, json } = await member.verify('a@good.com', {}, key(value));
    expect([status, json.field]).toEqual([400, 'Idempotency-Key']);
  });
});
