import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { METRIC_NAMES, METRIC_ROWS } from '../../src/http/metrics/registry.ts';
import { type Clock, DAY_MS, systemClock } from '../../src/kernel/clock.ts';
import { VERSION } from '../../src/kernel/version.ts';
import { createKey } from '../../src/service/keys.ts';
import type { Zone } from '../lab/dns.ts';
import { type Family, parseExposition } from '../lab/exposition.ts';
import { startReceiver } from '../lab/receiver.ts';
import { type Lab, request, startLab } from '../lab/service.ts';
import { startSmtp } from '../lab/smtp.ts';
import { ENGINE, freshDatabase, runSql } from '../lab/stores.ts';
import { stallable } from '../store/stall.ts';
import { sendCsv } from './list-lab.ts';

const TOKEN = 'metrics-token-for-the-tests';
const WITHIN = { timeout: 30_000, interval: 50 };

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Without jobs of its own, so that only a test changes the store. `later`: readings of the store are used up. */
async function setUp(environment: Record<string, string> = {}, net: Zone = {}) {
  let ahead = 0;
  const clock: Clock = { now: () => systemClock.now(), elapsed: () => systemClock.elapsed() + ahead };
  const lab = await startLab(
    { MAILVET_METRICS_TOKEN: TOKEN, MAILVET_ROLE: 'api', MAILVET_DNS_TIMEOUT_MS: '10000', ...environment },
    { net, clock },
  );
  open.push(lab);
  const later = () => {
    ahead += 10_000;
  };
  return { lab, later, scrape: () => scrapeOf(lab) };
}

async function scrapeOf(lab: Lab) {
  const { status, text, headers } = await request(lab.url, 'GET', '/metrics', undefined, {
    authorization: `Bearer ${TOKEN}`,
  });
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const families = parseExposition(text);
  /** Of the one series with these labels, among others; undefined: there is none. */
  const value = (name: string, labels: Record<string, string> = {}): number | undefined =>
    families
      .get(name.replace(/_(sum|count)$/, ''))
      ?.series.find(
        (one) => one.name === name && Object.entries(labels).every(([label, of]) => one.labels[label] === of),
      )?.value;
  return { text, families, value };
}

/** What keeps charges waiting: another process that writes, or a session with the rows of all accounts. */
async function lockOf(url: string): Promise<{ release(): Promise<void> }> {
  if (ENGINE === 'sqlite') {
    const link = await stallable(url);
    await link.stall();
    return { release: () => link.close() };
  }
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  await session.query('BEGIN; SELECT * FROM accounts FOR UPDATE');
  return { release: () => session.end() };
}

const ours = (families: ReadonlyMap<string, Family>) => [...families].filter(([name]) => name.startsWith('mailvet_'));

describe('/metrics', () => {
  it('has every metric of the table, with its type and labels, and no others', async () => {
    const { lab, scrape } = await setUp();
    await (await lab.member()).verify('a@good.com');
    const { families } = await scrape();
    expect(
      ours(families)
        .map(([name, { type }]) => [name, type])
        .sort(),
    ).toEqual(METRIC_NAMES.map((name) => [name, METRIC_ROWS[name].type]).sort());
    for (const [name, { series }] of ours(families)) {
      const { labels } = METRIC_ROWS[name as (typeof METRIC_NAMES)[number]];
      for (const one of series) {
        const own = Object.keys(one.labels).filter((label) => label !== 'le');
        expect([name, own.sort()]).toEqual([name, Object.keys(labels).sort()]);
      }
    }
  });

  it('counts the results of lists, each once, but for those of test keys', async () => {
    const { lab, scrape } = await setUp({ MAILVET_ROLE: 'all' });
    const member = await lab.member();
    const counted = async () =>
      (await scrape()).value('mailvet_verifications_total', { reason: 'invalid_format', level: 'mx' });
    for (const who of [member, await lab.testMember(member)]) {
      const { json } = await sendCsv(lab, who, 'email\r\nfirst\r\nsecond\r\nfirst\r\n', '?column=1');
      const status = async () => (await who.call('GET', `/v1/lists/${json.id}`)).json.status;
      await expect.poll(status, WITHIN).toBe('completed');
      await expect.poll(counted, WITHIN).toBe(2);
    }
  });

  it('counts attempts to deliver events', async () => {
    const { lab, scrape } = await setUp({ MAILVET_ROLE: 'all' });
    const member = await lab.member();
    const statuses = [503, 204];
    const receiver = await startReceiver({ respond: (reply) => reply.writeHead(statuses.shift() ?? 204).end() });
    open.push(receiver);
    await member.call('POST', '/v1/webhooks', { url: receiver.url, events: ['key.created'] });
    await createKey(lab.store, member.account.id, { name: 'fresh', allowIps: [] });
    for (const outcome of ['failed', 'delivered'])
      await expect
        .poll(async () => (await scrape()).value('mailvet_webhook_attempts_total', { outcome }), WITHIN)
        .toBe(1);
  });

  it('tells what runs, how charges go, and what the store holds', async () => {
    const held = Promise.withResolvers<void>();
    const server = await startSmtp({
      mailboxes: [],
      hold: ({ verb }) => (verb === 'RCPT' ? held.promise : Promise.resolve()),
    });
    open.push(server);
    const { lab, later, scrape } = await setUp({ MAILVET_SMTP_PORT: `${server.port}` });
    const member = await lab.member();
    await member.verify('a@good.com');
    await lab.store.jobs.add({ kind: 'lists_update', payload: {} });
    await member.call('POST', '/v1/lists', { emails: ['a@good.com', 'b@good.com'], start: false });
    await member.call('POST', '/v1/filters', { value: 'blocked.com' });
    const checking = member.verify('b@google-hosted.com', { validation_type: 'smtp', timeout_ms: 30_000 });
    await expect.poll(() => server.commands.some(({ verb }) => verb === 'RCPT'), WITHIN).toBe(true);
    await runSql(lab.databaseUrl, `UPDATE verifications SET created_at = created_at - ${31 * DAY_MS}`);
    later();
    const { value, text } = await scrape();

    const build = { version: VERSION, commit: 'unknown', node: process.versions.node, store: ENGINE };
    expect(value('mailvet_build_info', build)).toBe(1);
    expect(value('mailvet_charge_batch_size_count')).toBeGreaterThanOrEqual(2);
    expect(value('mailvet_charge_batch_size_sum')).toBe(value('mailvet_charge_requests_total', { result: 'answered' }));
    expect(value('mailvet_charge_batch_seconds_count', { result: 'committed' })).toBe(
      value('mailvet_charge_batch_size_count'),
    );
    expect(value('mailvet_charge_retries_total', { cause: 'conflict' })).toBe(0);
    expect(value('mailvet_store_stats_up')).toBe(1);
    expect(value('mailvet_holds', { kind: 'verification', age: 'under_1m' })).toBe(1);
    expect(value('mailvet_hold_oldest_seconds', { kind: 'verification' })).toBeLessThan(60);
    expect(value('mailvet_hold_oldest_seconds', { kind: 'shared' })).toBeUndefined();
    expect(Math.floor((value('mailvet_purge_lag_seconds') ?? 0) / 3600)).toBe(24);
    expect(value('mailvet_kept_list_bytes')).toBeGreaterThan('a@good.com'.length * 2);
    expect(value('mailvet_kept_filters')).toBe(1);
    expect(value('mailvet_jobs', { kind: 'lists_update', state: 'waiting' })).toBe(1);
    expect(value('mailvet_jobs', { kind: 'mail', state: 'failed' })).toBe(0);
    expect(value('mailvet_store_pool_connections_max')).toBe(ENGINE === 'sqlite' ? undefined : 10);
    expect(value('mailvet_smtp_operator_dialogues_open', { operator: 'google' })).toBe(1);
    expect(value('mailvet_smtp_operator_pace_ratio', { operator: 'google' })).toBe(1);
    expect(value('mailvet_smtp_operator_breakers', { operator: 'google', state: 'open' })).toBe(0);
    for (const secret of [member.account.id, member.key, member.keyId, 'good.com', 'hosted.com'])
      expect(text).not.toContain(secret);

    held.resolve();
    await checking;
    later();
    expect((await scrape()).value('mailvet_holds', { kind: 'verification', age: 'under_1m' })).toBe(0);
  });

  it('counts an old hold by its age, and jobs of other versions together', async () => {
    const { lab, later, scrape } = await setUp();
    const { account, keyId } = await lab.member();
    const hour = await lab.store.clock.peek().then(({ now }) => now - 3_700_000);
    await lab.store.jobs.add({ kind: 'lists_update', payload: {} });
    for (const statement of [
      `INSERT INTO holds (id, account_id, key_id, amount, node, created_at, expires_at)
        VALUES ('ver_old', '${account.id}', '${keyId}', 1, 'node_gone', ${hour}, ${hour + 60_000})`,
      `UPDATE jobs SET kind = 'of_the_future'`,
    ])
      await runSql(lab.databaseUrl, statement);
    later();
    const { value } = await scrape();
    expect(value('mailvet_holds', { kind: 'verification', age: '1h_to_1d' })).toBe(1);
    expect(value('mailvet_hold_oldest_seconds', { kind: 'verification' })).toBeGreaterThanOrEqual(3700);
    expect(value('mailvet_jobs', { kind: 'other', state: 'waiting' })).toBe(1);
  });

  it('leaves out what a failing store cannot tell, says so, and recovers', async () => {
    const { lab, later, scrape } = await setUp();
    expect((await scrape()).value('mailvet_store_stats_up')).toBe(1);
    await runSql(lab.databaseUrl, 'ALTER TABLE shared_holds RENAME TO elsewhere');
    // The reading of the last seconds is used.
    expect((await scrape()).value('mailvet_store_stats_up')).toBe(1);
    later();
    const { value, families } = await scrape();
    expect(value('mailvet_store_stats_up')).toBe(0);
    for (const name of METRIC_NAMES.filter((one) => METRIC_ROWS[one].of === 'store'))
      expect([name, families.get(name)?.series]).toEqual([name, []]);
    expect(value('mailvet_charge_queue')).toBe(0);
    await runSql(lab.databaseUrl, 'ALTER TABLE elsewhere RENAME TO shared_holds');
    later();
    expect((await scrape()).value('mailvet_store_stats_up')).toBe(1);
  });

  it('counts attempts that were repeated, by cause', async () => {
    const { lab, scrape } = await setUp();
    const member = await lab.member();
    await member.verify('a@good.com');
    const lock = await lockOf(lab.databaseUrl);
    const waiting = member.verify('a@good.com');
    const cause = ENGINE === 'sqlite' ? 'busy' : 'locked';
    await expect
      .poll(async () => (await scrape()).value('mailvet_charge_retries_total', { cause }), WITHIN)
      .toBeGreaterThan(0);
    await lock.release();
    await waiting;
  });

  it.skipIf(ENGINE === 'sqlite')('does not hang while the store does', async () => {
    const database = await freshDatabase();
    open.push({ close: database.drop });
    const link = await stallable(database.url);
    open.push(link);
    const { later, scrape } = await setUp({ MAILVET_DATABASE_URL: link.url });
    expect((await scrape()).value('mailvet_store_stats_up')).toBe(1);
    await link.stall();
    for (let i = 0; i < 3; i += 1) {
      later();
      expect((await scrape()).value('mailvet_store_stats_up')).toBe(0);
    }
    link.resume();
    await expect
      .poll(async () => {
        later();
        return (await scrape()).value('mailvet_store_stats_up');
      }, WITHIN)
      .toBe(1);
  });
});

describe('mail operators', () => {
  it('are bounded and known: strangers’ domains are counted together, and rejections show by operator', async () => {
    const server = await startSmtp({ mailboxes: [] });
    const refusing = await startSmtp(
      { banner: '554 5.7.1 Your IP address is blocked, see https://www.spamhaus.org/' },
      { address: '127.0.9.9', port: server.port },
    );
    open.push(server, refusing);
    const count = 300;
    const net: Zone = Object.fromEntries([
      ...Array.from({ length: count }, (_, i) => [`d${i}.com`, { MX: [[10, `mx.d${i}.com`]] }]),
      ...Array.from({ length: count }, (_, i) => [`mx.d${i}.com`, { A: ['127.0.0.1'] }]),
      ['blocked.com', { MX: [[10, 'mx1.google.com']] }],
      ['mx1.google.com', { A: ['127.0.9.9'] }],
    ]);
    const { lab, scrape } = await setUp(
      {
        MAILVET_SMTP_PORT: `${server.port}`,
        MAILVET_SMTP_RATE_PER_OPERATOR: '0',
        MAILVET_SMTP_CONNECTIONS_PER_HOST: '64',
      },
      net,
    );
    const member = await lab.member({ credits: 100_000, rateLimit: 100_000 });
    const ask = (domain: string) => member.verify(`good@${domain}`, { validation_type: 'smtp', timeout_ms: 30_000 });
    let next = 0;
    const worker = async () => {
      while (next < count) {
        const { json } = await ask(`d${next++}.com`);
        expect(json.checks.smtp.host).toMatch(/^mx\.d\d+\.com$/);
      }
    };
    await Promise.all(Array.from({ length: 32 }, worker));
    expect((await ask('blocked.com')).json.reason).toBe('smtp_blocked');
    const { families, value, text } = await scrape();
    const operators = families.get('mailvet_smtp_operator_dialogues_open')?.series.map(({ labels }) => labels.operator);
    expect(operators).toEqual(['google', 'other']);
    expect(value('mailvet_smtp_operator_breakers', { operator: 'google', state: 'open' })).toBe(1);
    expect(value('mailvet_smtp_operator_breakers', { operator: 'other', state: 'open' })).toBe(0);
    expect(text).not.toMatch(/\bd\d+\.com|blocked\.com/);
    expect(ours(families).reduce((sum, [, { series }]) => sum + series.length, 0)).toBeLessThan(400);
  });
});
