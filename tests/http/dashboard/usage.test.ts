import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VerificationRecord } from '../../../src/store/store.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { verdict } from '../../store/cast.ts';
import { type Client, of, signedIn } from './client.ts';

const [HOUR, DAY] = [3_600_000, 86_400_000];
let lab: Lab;
let member: Member;
let person: Client;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member({ credits: 500, rateLimit: 12 });
  person = await signedIn(lab, { account: member.account, role: 'admin' });
});
afterAll(() => lab.close());

const chart = (query: Record<string, string> = {}, kind = 'usage') =>
  person.call('GET', `${of(member.account, `/${kind}`)}?${new URLSearchParams(query)}`);

interface Sums {
  requests: number;
  refused: number;
  rate_limited: number;
  [more: string]: unknown;
}
/** Counters are flushed to the store every five seconds. */
async function chartOnce(isWanted: (totals: Sums) => boolean) {
  for (;;) {
    const { json } = await chart();
    if (isWanted(json.totals)) return json;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('the overview', () => {
  it('shows balance, plan, window, month, and keys with notices', async () => {
    const own = await lab.member({ credits: 40, plan: 'starter' });
    const who = await signedIn(lab, { account: own.account, role: 'admin' });
    const before = await who.call('GET', of(own.account, '/overview'));
    expect(before.json).toMatchObject({
      account: { id: own.account.id, name: own.account.name, plan: 'starter', status: 'active' },
      credits: { remaining: 40, locked: 0, used: 0 },
      totals: { requests: 0, good: 0, bad: 0 },
      rate_limit: { limit: 60, remaining: 60 },
      smtp_available: false,
      low_balance: null,
      is_low: false,
      keys: { active: 1, never_used: 0, idle: 0, open_to_all: 0, budget_spent: 0 },
    });
    await own.verify('a@good.com');
    const { json } = await who.call('GET', of(own.account, '/overview'));
    expect(json).toMatchObject({
      credits: { remaining: 39, used: 1 },
      totals: { requests: 1, good: 1 },
      rate_limit: { remaining: 59 },
    });
    expect(Date.parse(json.rate_limit.reset_at) % 300_000).toBe(0);
  });

  it('has the balance of each day, its forecast, and the latest lists', async () => {
    const own = await lab.member({ credits: 40 });
    const who = await signedIn(lab, { account: own.account, role: 'member' });
    const overview = async () => (await who.call('GET', of(own.account, '/overview'))).json;
    const today = new Date(Math.floor(Date.now() / DAY) * DAY).toISOString();
    expect((await overview()).balance).toMatchObject({
      days: [{ at: today, balance: 40 }],
      per_day: 0,
      empty_at: null,
      month_short_by: 0,
    });
    await own.verify('a@good.com');
    await lab.store.accounts.grant(own.account.id, 10, 'Invoice 7');
    const uploaded = await own.call('POST', '/v1/lists?name=March', {
      emails: ['b@good.com', 'c@good.com'],
      start: false,
    });
    expect(uploaded.status).toBe(201);
    const { balance, lists } = await overview();
    expect(balance.days).toEqual([{ at: today, balance: 49 }]);
    // One credit on its first day: at that pace, 49 days.
    expect(balance.per_day).toBe(1);
    // As a day, which is what the page says and draws.
    expect(Date.parse(balance.empty_at)).toBe(Math.floor((Date.now() + 49 * DAY) / DAY) * DAY);
    // As the API has it.
    expect(lists).toEqual([(await own.call('GET', `/v1/lists/${uploaded.json.id}`)).json]);
  });

  it('has a forecast of what is available, which a list does not change while it runs', async () => {
    const own = await lab.member({ credits: 500 });
    const who = await signedIn(lab, { account: own.account, role: 'member' });
    const overview = async () => (await who.call('GET', of(own.account, '/overview'))).json;
    for (let n = 0; n < 20; n += 1) await own.verify(`p${n}@good.com`);
    const hold = { id: 'lst_forecast', account: own.account.id, keyId: own.keyId, lifeMs: DAY };
    expect(await lab.store.sharedHolds.open({ ...hold, amount: 300 })).toMatchObject({ outcome: 'held' });
    const started = await overview();
    expect(started.credits).toMatchObject({ remaining: 180, locked: 300 });
    expect(started.balance).toMatchObject({ per_day: 20 });
    expect(Date.parse(started.balance.empty_at)).toBe(Math.floor((Date.now() + 9 * DAY) / DAY) * DAY);
    const daysLeft = (Date.parse(started.balance.month_ends) - Date.now()) / DAY;
    const short = Math.max(0, 20 * daysLeft - 180);
    expect(Math.abs(started.balance.month_short_by - short)).toBeLessThan(2);
    const result = (n: number) => ({ held: 10, record: verdict(`ver_forecast_${n}`, { credits: 10 }) });
    const results = Array.from({ length: 20 }, (_, n) => result(n));
    await lab.store.sharedHolds.settle({ account: own.account.id, holdId: hold.id, results });
    const running = await overview();
    expect(running.credits).toMatchObject({ remaining: 180, locked: 100 });
    expect(running.balance).toMatchObject({ per_day: 20, empty_at: started.balance.empty_at });
  });

  it('has the ledger by day, with the balance at the end of each, and all of it as a file', async () => {
    const own = await lab.member({ credits: 40 });
    const who = await signedIn(lab, { account: own.account, role: 'member' });
    await own.verify('a@good.com');
    await own.verify('b@good.com');
    await lab.store.accounts.grant(own.account.id, -8, '=cmd()');
    const { json } = await who.call('GET', of(own.account, '/ledger/days'));
    const today = new Date(Math.floor(Date.now() / DAY) * DAY).toISOString();
    expect(json).toMatchObject({
      total: 30,
      held: 0,
      more: false,
      grants: [{ credits: -8, note: '=cmd()' }, { credits: 40 }],
      days: [{ at: today, verifications: 2, charged: 2, granted: 32, balance: 30 }],
    });
    for (const days of ['0', '801', 'many'])
      expect((await who.call('GET', of(own.account, `/ledger/days?days=${days}`))).json.field).toBe('days');
    const csv = await who.call('GET', of(own.account, '/ledger.csv'));
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="ledger.csv"');
    const rows = parse(csv.text, { columns: true }) as Record<string, string>[];
    const lines = await who.call('GET', of(own.account, '/ledger.jsonl'));
    const objects = lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const all = (await who.call('GET', of(own.account, '/ledger'))).json.rows;
    expect(objects).toEqual(all);
    expect(rows.map(({ kind, amount }) => [kind, Number(amount)])).toEqual(
      all.map(({ kind, amount }: { kind: string; amount: number }) => [kind, amount]),
    );
    expect(all.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0)).toBe(30);
    // Not a formula to a spreadsheet.
    expect(rows[0]!.note).not.toMatch(/^=/);
  });

  it('reports a low balance below the threshold, until it has recovered', async () => {
    const own = await lab.member({ credits: 10 });
    const who = await signedIn(lab, { account: own.account, role: 'admin' });
    const isLow = async () => (await who.call('GET', of(own.account, '/overview'))).json.is_low;
    const set = (credits: unknown) => who.call('PUT', of(own.account, '/low-balance'), { credits });
    expect((await set(10)).json).toMatchObject({ status: 'success', message: expect.stringContaining('10') });
    expect(await isLow()).toBe(false);
    await own.verify('a@good.com');
    expect(await isLow()).toBe(true);
    await set(null);
    expect(await isLow()).toBe(false);
    for (const wrong of [0, -5, 1.5, '5', 1_000_000_001, true]) expect((await set(wrong)).status).toBe(400);
  });
});

describe('usage', () => {
  it('has every hour of seven days, sums, reasons, keys, latencies', async () => {
    await member.verify('a@good.com');
    await member.verify('a@mailinator.com');
    await person.call('POST', of(member.account, '/verify'), { email: 'b@good.com', validation_type: 'mx' });
    await member.call('POST', '/v1/verify', {});
    for (let i = 0; i < 10; i += 1) await member.call('GET', '/v1/usage');
    const json = await chartOnce(({ refused, rate_limited }) => refused + rate_limited >= 3);
    expect(json).toMatchObject({
      bucket: 'hour',
      totals: { requests: 3, good: 2, bad: 1, credits: 3, refused: 1, rate_limited: 2 },
    });
    // The current hour and seven days before it; one more if the range does not start on the hour.
    expect(json.buckets.length).toBeGreaterThanOrEqual(168);
    expect(json.buckets.length).toBeLessThanOrEqual(169);
    for (const [i, { at }] of json.buckets.entries()) expect(Date.parse(at)).toBe(Date.parse(json.from) + i * HOUR);
    expect(json.by_reason).toEqual([
      { reason: 'none', outcome: 'not_checked', requests: 2 },
      { reason: 'disposable_domain', outcome: 'risky', requests: 1 },
    ]);
    expect(json.totals.outcomes).toEqual({ deliverable: 0, not_checked: 2, unknown: 0, risky: 1, undeliverable: 0 });
    expect(json.totals.latency.mx.p50).toBeGreaterThan(0);
    expect(json.by_key).toEqual([
      {
        key_id: member.keyId,
        name: 'test',
        requests: 2,
        credits: 2,
        asked: 0,
        rejected: expect.any(Number),
        outcomes: { ...json.totals.outcomes, not_checked: 1 },
      },
      {
        key_id: 'dashboard',
        name: 'Dashboard',
        requests: 1,
        credits: 1,
        asked: 0,
        rejected: expect.any(Number),
        outcomes: { ...json.totals.outcomes, risky: 0, not_checked: 1 },
      },
    ]);
    expect(json.totals.asked).toBe(0);
    const withAnswers = json.buckets.filter(({ requests }: Sums) => requests > 0);
    for (const { latency } of withAnswers) {
      expect(latency.smtp).toBe(null);
      expect(latency.mx.p50).toBeGreaterThan(0);
      expect(latency.mx.p95).toBeGreaterThanOrEqual(latency.mx.p50);
    }
    expect(json.buckets[0]).toMatchObject({ requests: 0, refused: 0, latency: { mx: null, smtp: null } });
  });

  it('has calls and lists apart', async () => {
    expect((await chart({ source: 'api' })).json).toMatchObject({ totals: { requests: 3 }, without_source: 0 });
    const lists = (await chart({ source: 'list' })).json;
    expect(lists).toMatchObject({ totals: { requests: 0, refused: 0, rate_limited: 0 }, by_key: [], by_reason: [] });
    expect((await chart({ source: 'file' })).json.field).toBe('source');
  });

  it('has what mail operators answered, of the last days', async () => {
    const own = await lab.member({ credits: 100 });
    const who = await signedIn(lab, { account: own.account, role: 'member' });
    const rows: readonly Partial<VerificationRecord>[] = [
      { body: '{"checks":{"mx":{"provider":"Google"}}}', durationMs: 100, deliverability: 'deliverable' },
      { body: '{"checks":{"mx":{"provider":"Google"}}}', durationMs: 300, reason: 'greylisted', validationType: 'mx' },
      // Nobody was asked.
      { body: '{"checks":{"mx":{"provider":null}}}', reason: 'smtp_unreachable', validationType: 'mx' },
      { body: '{"checks":{}}', reason: 'no_mx_records', validationType: 'mx' },
    ];
    for (const [n, row] of rows.entries()) {
      const hold = { id: `lst_operators_${n}`, account: own.account.id, keyId: own.keyId, lifeMs: DAY };
      await lab.store.sharedHolds.open({ ...hold, amount: 10 });
      const record = verdict(`ver_operators_${n}`, { requested: 'smtp', validationType: 'smtp', credits: 1, ...row });
      await lab.store.sharedHolds.settle({
        account: own.account.id,
        holdId: hold.id,
        results: [{ record, held: 10 }],
      });
    }
    const operators = (query = '') => who.call('GET', of(own.account, `/operators${query}`));
    const { json } = await operators();
    expect(json).toMatchObject({
      checks: 3,
      operators: [
        { operator: 'Google', checks: 2, asked: 2, deliverable_share: 0.5, median_ms: 100 },
        { operator: 'none', checks: 1, asked: 0, undisclosed: 0, deliverable_share: null, median_ms: null },
      ],
    });
    expect(Date.now() - Date.parse(json.from)).toBeLessThan(8 * DAY);
    expect((await operators('?source=list')).json.checks).toBe(3);
    const yesterday = new Date(Date.now() - DAY).toISOString();
    expect((await operators(`?from=${yesterday}`)).json).toMatchObject({ checks: 3, from: yesterday });
    expect((await operators(`?to=${yesterday}`)).json.checks).toBe(0);
    expect((await operators('?source=api')).json).toMatchObject({ checks: 0, operators: [] });
  });

  it('has the verifications of one key', async () => {
    const of = async (key: string) => (await chart({ key })).json;
    expect(await of('dashboard')).toMatchObject({
      totals: { requests: 1, refused: 0, rate_limited: 0, latency: { mx: null } },
      by_key: [{ key_id: 'dashboard', requests: 1 }],
    });
    expect(await of(member.keyId)).toMatchObject({ totals: { requests: 2, outcomes: { not_checked: 1, risky: 1 } } });
    expect(await of('key_of_another_account')).toMatchObject({ totals: { requests: 0 }, by_key: [] });
    expect((await chart({ key: 'x'.repeat(1000) })).json.field).toBe('key');
  });

  it('has the same sums by day (UTC)', async () => {
    const now = Date.now();
    const from = new Date(now - 30 * DAY).toISOString();
    const { json } = await chart({ from });
    expect([json.bucket, json.buckets.length]).toEqual(['day', 31]);
    for (const { at } of json.buckets) expect(Date.parse(at) % DAY).toBe(0);
    expect(json.totals.requests).toBe(3);
    expect(json.buckets.at(-1).latency.mx.p50).toBeGreaterThan(0);
    const empty = await chart({ from: '2020-01-01', to: '2020-01-03T12:00:00Z', bucket: 'day' });
    expect([empty.json.from, empty.json.to, empty.json.buckets.length, empty.json.totals.requests]).toEqual([
      '2020-01-01T00:00:00.000Z',
      '2020-01-04T00:00:00.000Z',
      3,
      0,
    ]);
  });

  it('rejects invalid ranges, and those too long for their buckets', async () => {
    const hours = await chart({ from: '2026-01-01', to: '2026-03-01', bucket: 'hour' });
    expect([hours.status, hours.json.field]).toEqual([400, 'bucket']);
    expect(hours.json.error).toContain('request days');
    const days = await chart({ from: '0001-01-01', to: '9999-12-31' });
    expect([days.status, days.json.field]).toEqual([400, 'from']);
    expect((await chart({ from: '2026-02-01', to: '2026-01-01' })).json.field).toBe('from');
    expect((await chart({ from: '2026-01-01', to: '2026-02-03T08:00:00Z', bucket: 'hour' })).json.buckets.length).toBe(
      800,
    );
  });

  it('exports the same buckets as CSV', async () => {
    const reply = await chart({ bucket: 'day' }, 'usage.csv');
    expect(reply.headers.get('content-disposition')).toMatch(
      /^attachment; filename="usage-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv"$/,
    );
    const rows = parse(reply.text, { columns: true }) as Record<string, string>[];
    const { json } = await chart({ bucket: 'day' });
    expect(rows.map(({ at, requests, credits, rate_limited }) => [at, requests, credits, rate_limited])).toEqual(
      json.buckets.map((b: Record<string, unknown>) => [
        b.at,
        String(b.requests),
        String(b.credits),
        String(b.rate_limited),
      ]),
    );
    expect(rows[0]!.mx_p50_ms).toBe('');
    expect(Number(rows.at(-1)!.mx_p95_ms)).toBeGreaterThan(0);
  });
});
