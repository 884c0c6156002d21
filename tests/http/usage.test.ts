import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab } from '../lab/service.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

describe('GET /v1/usage', () => {
  it('returns plan, period, credits, limits and totals', async () => {
    const member = await lab.member({ credits: 50 });
    await member.verify('a@good.com');
    await member.verify('a@mailinator.com');
    await member.verify('a..b@good.com');
    const { status, json, headers } = await member.call('GET', '/v1/usage');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json).toMatchObject({
      plan: 'premium',
      period: { start: expect.stringMatching(/-01T00:00:00.000Z$/), end: expect.stringMatching(/-01T00:00:00.000Z$/) },
      credits: { total: 47, locked: 0, used: 3, remaining: 47, unlimited: false, allowance: 0, purchased: 47 },
      rate_limit: { limit: 300, remaining: 296, window_seconds: 300 },
      validation_types: { mx: { credits: 1, available: true }, smtp: { credits: 10, available: true } },
      totals: { requests: 3, good: 1, bad: 2, by_reason: { disposable_domain: 1, invalid_format: 1 } },
    });
    expect(json.series).toBe(undefined);
  });

  it('names the plan required for smtp', async () => {
    const starter = await lab.member({ plan: 'starter' });
    const { json } = await starter.call('GET', '/v1/usage');
    expect(json.validation_types.smtp).toEqual({ credits: 10, available: false, upgrade_required: 'premium' });
  });

  it('counts only recorded verifications: no rejected requests, no replays', async () => {
    const member = await lab.member({ credits: 1 });
    const once = { 'idempotency-key': 'k1' };
    await member.verify('a@good.com', {}, once);
    await member.verify('a@good.com', {}, once);
    expect((await member.verify('b@good.com')).status).toBe(402);
    await member.call('POST', '/v1/verify', {});
    const { json } = await member.call('GET', '/v1/usage');
    expect(json.totals).toMatchObject({ requests: 1, good: 1, bad: 0 });
    expect(json.credits).toMatchObject({ used: 1, remaining: 0 });
  });

  it.each([
    'day',
    'key',
    'reason',
    'validation_type',
  ])('group_by=%s adds a series whose sums are the totals', async (grouping) => {
    const member = await lab.member();
    await member.verify('a@good.com');
    await member.verify('a@null-mx.com');
    const { json } = await member.call('GET', `/v1/usage?group_by=${grouping}`);
    const sum = (field: string) => json.series.reduce((n: number, row: Record<string, number>) => n + row[field]!, 0);
    expect([sum('requests'), sum('good'), sum('bad'), sum('credits')]).toEqual([2, 1, 1, 2]);
    if (grouping === 'reason')
      expect(json.series.map((r: { group: string }) => r.group).sort()).toEqual(['none', 'null_mx']);
    if (grouping === 'key') expect(json.series[0].group).toBe(member.keyId);
    const empty = await member.call('GET', `/v1/usage?group_by=${grouping}&from=2001-01-01&to=2001-02-01T00:00:00Z`);
    expect(empty.json.series).toEqual([]);
  });

  it.each([
    ['group_by=hour', 'group_by'],
    ['group_by=day&group_by=key', 'group_by'],
    ['from=yesterday', 'from'],
    ['from=2026-13-01', 'from'],
    ['from=2026-02-30', 'from'],
    ['group_by=day&from=2026-02-01&to=2026-01-01', 'from'],
  ])('%s is 400', async (query, field) => {
    const member = await lab.member();
    const { status, json } = await member.call('GET', `/v1/usage?${query}`);
    expect([status, json.code, json.field]).toEqual([400, 'invalid_parameter', field]);
  });

  it('shows nothing of other accounts', async () => {
    const [member, stranger] = [await lab.member(), await lab.member({ credits: 7 })];
    await member.verify('a@good.com');
    const { json } = await stranger.call('GET', '/v1/usage');
    expect([json.totals.requests, json.credits.remaining]).toEqual([0, 7]);
  });
});
