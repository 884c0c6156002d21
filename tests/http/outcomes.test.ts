import { Webhook } from 'standardwebhooks';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/contract/webhooks.ts';
import { DAY_MS } from '../../src/kernel/clock.ts';
import { shareOf } from '../../src/kernel/facts/calibration.ts';
import { SAMPLE_FEEDBACK, SAMPLE_REPORTS } from '../lab/mail-reports.ts';
import { numbersFrom } from '../lab/numbers.ts';
import { type Receiver, startReceiver } from '../lab/receiver.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';
import { of, signedIn } from './dashboard/client.ts';

const METRICS_TOKEN = 'metrics-token-of-this-test-0123456789';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ MAILVET_METRICS_TOKEN: METRICS_TOKEN });
});
afterAll(() => lab.close());

const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
const report = (by: Member, outcomes: readonly unknown[], headers?: Record<string, string>) =>
  by.call('POST', '/v1/outcomes', { outcomes }, headers);
const bounce = (email: string, diagnostic: string | null = '550 5.1.1 User unknown') => ({
  email,
  outcome: 'bounced',
  at: ago(1_000),
  ...(diagnostic === null ? {} : { diagnostic }),
});
const rowsOf = ({ account }: Member) =>
  runSql(lab.databaseUrl, `SELECT * FROM outcomes WHERE account_id = '${account.id}'`);

describe('POST /v1/outcomes', () => {
  it('says of each row what became of it, and what a bounce is evidence of, for free', async () => {
    const own = await lab.member({ credits: 1 });
    const id = (await own.verify('jane@good.com')).json.id;
    const { status, json } = await report(own, [
      bounce('jane@good.com'),
      { verification_id: id, outcome: 'delivered', at: ago(2_000) },
      bounce('june@good.com', '550 5.7.1 Client host [192.0.2.1] blocked using Spamhaus'),
      bounce('none@good.com', null),
      bounce('full@good.com', '552 5.2.2 mailbox full'),
      { email: 'june@good.com', outcome: 'deferred', at: ago(3_000), source: 'newsletter' },
      { email: 'june@good.com', outcome: 'complained', at: ago(3_000) },
    ]);
    expect(status).toBe(200);
    expect(json.results.map((row: { class: string }) => row.class)).toEqual([
      'absent',
      'delivered',
      'sender',
      'unclear',
      'full',
      'deferred',
      'complained',
    ]);
    expect(json).toMatchObject({ recorded: 7, duplicates: 0, errors: 0, warnings: [] });
    expect((await lab.store.accounts.get(own.account.id))?.balance).toBe(0);
    const stored = JSON.stringify(await rowsOf(own));
    expect(stored).not.toMatch(/jane|june|good|unknown|Spamhaus|192/i);
    expect(stored).toContain('550 5.1.1');
  });

  it('counts once what is sent twice, in any spelling of the mailbox', async () => {
    const own = await lab.member();
    const one = bounce('Jane.Doe+x@gmail.com');
    expect((await report(own, [one, one])).json).toMatchObject({ recorded: 1, duplicates: 1 });
    expect((await report(own, [{ ...one, email: ' janedoe@googlemail.com' }])).json).toMatchObject({ duplicates: 1 });
    expect(await rowsOf(own)).toHaveLength(1);
  });

  it.each([
    [{ email: 'a@good.com', outcome: 'bounced' }, 'at'],
    [{ email: 'a@good.com', outcome: 'bounced', at: 'yesterday' }, 'at'],
    [{ email: 'a@good.com', outcome: 'bounced', at: ago(-10 * 60_000) }, 'at'],
    [{ email: 'a@good.com', outcome: 'bounced', at: ago(401 * DAY_MS) }, 'at'],
    [{ email: 'a@good.com', outcome: 'opened', at: ago(0) }, 'outcome'],
    [{ email: 'nobody', outcome: 'bounced', at: ago(0) }, 'email'],
    [{ outcome: 'bounced', at: ago(0) }, 'email'],
    [{ email: 'a@good.com', verification_id: 'ver_1', outcome: 'bounced', at: ago(0) }, 'verification_id'],
    [{ verification_id: 'ver_0VkP3Zq1n7Jc2mQ9sT4bXd', outcome: 'bounced', at: ago(0) }, 'verification_id'],
    [{ email: 'a@good.com', outcome: 'bounced', at: ago(0), source: 'x'.repeat(65) }, 'source'],
    [{ email: 'a@good.com', outcome: 'bounced', at: ago(0), diagnostic: 550 }, 'diagnostic'],
    ['a@good.com', null],
    [null, null],
  ])('%j is an error of its row alone, at %s', async (row, field) => {
    const own = await lab.member();
    const { status, json } = await report(own, [row, bounce('b@good.com')]);
    expect(status).toBe(200);
    expect(json.results).toEqual([
      { result: 'error', error: expect.any(String), field },
      { result: 'recorded', class: 'absent' },
    ]);
    expect(await rowsOf(own)).toHaveLength(1);
  });

  it('takes 1,000 rows, and neither more nor none', async () => {
    const own = await lab.member();
    const rows = Array.from({ length: 1_001 }, (_, i) => bounce(`m${i}@good.com`));
    expect((await report(own, rows.slice(1))).json).toMatchObject({ recorded: 1_000 });
    for (const wrong of [rows, [], 'x', { 0: rows[0] }]) {
      const { status, json } = await report(own, wrong as never);
      expect([status, json.code, json.field]).toEqual([400, 'invalid_parameter', 'outcomes']);
    }
  });

  it('gives the stored reply to a repeated Idempotency-Key', async () => {
    const own = await lab.member();
    const [rows, key] = [[bounce('a@good.com'), 'x'], { 'idempotency-key': 'one' }];
    const first = await report(own, rows, key);
    const again = await report(own, rows, key);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect(first.json).toMatchObject({ recorded: 1, errors: 1 });
    expect((await report(own, [bounce('b@good.com')], key)).json.code).toBe('idempotency_key_reused');
  });

  it('needs its scope, and knows no verification of another account', async () => {
    const [own, other] = [await lab.member({ scopes: ['verify'] }), await lab.member()];
    expect((await report(own, [bounce('a@good.com')])).json).toMatchObject({
      code: 'scope_missing',
      scope: 'outcomes',
    });
    const id = (await own.verify('a@good.com')).json.id;
    const { json } = await report(other, [{ verification_id: id, outcome: 'delivered', at: ago(0) }]);
    expect(json.results[0]).toMatchObject({ result: 'error', field: 'verification_id' });
  });

  it('measures a verdict by the mail that was sent after it', async () => {
    const own = await lab.member();
    await own.verify('Jane@good.com');
    await report(own, [
      { email: 'jane@good.com', outcome: 'delivered', at: ago(0) },
      { email: 'jane@good.com', outcome: 'delivered', at: ago(DAY_MS) },
      { email: 'june@good.com', outcome: 'delivered', at: ago(0) },
    ]);
    const sums = await runSql(
      lab.databaseUrl,
      `SELECT kind, key, sent, bounced FROM outcome_sums WHERE account_id = '${own.account.id}' AND kind = 'verdict'`,
    );
    expect(sums).toEqual([
      { kind: 'verdict', key: '["unknown",null,"mx",null]', sent: expect.anything(), bounced: expect.anything() },
    ]);
    expect(sums.map(({ sent, bounced }) => [Number(sent), Number(bounced)])).toEqual([[1, 0]]);
  });
});

const settings = (by: Member, trustBouncesDays: number | null) =>
  lab.store.accounts.set(by.account.id, { trustBouncesDays });
const balanceOf = async ({ account }: Member) => (await lab.store.accounts.get(account.id))?.balance;
/** As many verdicts of one kind, of which so many bounced, as reports would leave them. */
const measured = (by: Member, key: string, sent: number, bounced: number) =>
  runSql(
    lab.databaseUrl,
    `INSERT INTO outcome_sums (account_id, kind, key, sent, bounced, predicted)
      VALUES ('${by.account.id}', 'verdict', '${key}', ${sent}, ${bounced}, 0)`,
  );

describe('later replies', () => {
  it('say what became of mail to the mailbox, in any spelling, to this account alone', async () => {
    const [own, other] = [await lab.member(), await lab.member()];
    expect((await own.verify('jane@gmail.com')).json).toMatchObject({ history: null, confidence: null });
    const at = ago(5_000);
    await report(own, [
      { email: 'Jane+x@gmail.com', outcome: 'delivered', at },
      { email: 'jane@gmail.com', outcome: 'bounced', at: ago(4_000), diagnostic: '550 5.7.1 blocked by policy' },
    ]);
    const history = { delivered_at: at, bounced_at: null, complained_at: null };
    expect((await own.verify('j.ane@googlemail.com')).json.history).toEqual(history);
    expect((await own.verify('june@gmail.com')).json.history).toBeNull();
    expect((await other.verify('jane@gmail.com')).json.history).toBeNull();
    expect((await own.verify('nobody')).json).toMatchObject({ history: null, reason: 'invalid_format' });
  });

  it('have a measured confidence from 50 verdicts of the kind on', async () => {
    const own = await lab.member();
    const key = '["unknown",null,"mx",null]';
    await report(own, [{ email: 'a@good.com', outcome: 'deferred', at: ago(0) }]);
    await measured(own, key, 49, 2);
    const bump = () => report(own, [{ email: 'a@good.com', outcome: 'deferred', at: ago(0) }]);
    await bump();
    expect((await own.verify('b@good.com')).json.confidence).toBeNull();
    await runSql(
      lab.databaseUrl,
      `UPDATE outcome_sums SET sent = 812, bounced = 24 WHERE account_id = '${own.account.id}'`,
    );
    await bump();
    const { json } = await own.verify('b@good.com');
    expect(json.confidence).toEqual({ p: 0.97, low: 0.956, high: 0.981, n: 812, basis: 'account' });
    const kickbox = await fetch(`${lab.url}/compat/kickbox/v2/verify?email=b@good.com&apikey=${own.key}`);
    // At the smtp level, where nothing was measured.
    expect(await kickbox.json()).toMatchObject({ sendex: null });
  });

  it('have it as the score of other services that have one', async () => {
    const own = await lab.member({ plan: 'starter' });
    await measured(own, '["unknown",null,"mx",null]', 812, 24);
    await report(own, [{ email: 'a@good.com', outcome: 'deferred', at: ago(0) }]);
    const asked = async (path: string) => (await fetch(`${lab.url}/compat/${path}=${own.key}`)).json();
    expect(await asked('kickbox/v2/verify?email=b@good.com&apikey')).toMatchObject({ sendex: 0.97 });
    expect(await asked('emailable/v1/verify?email=b@good.com&api_key')).toMatchObject({ score: 97 });
  });
});

describe('trust_bounces_days', () => {
  const trusting = async (credits = 10) => {
    const own = await lab.member({ credits });
    await settings(own, 30);
    await report(own, [bounce('dead@good.com'), bounce('blocked@good.com', '550 5.7.1 Your IP is on a blocklist')]);
    return own;
  };

  it('makes an address bad that bounced for its own reason, for free, before any look-up', async () => {
    const own = await trusting(0);
    for (const level of ['mx', 'smtp']) {
      const { status, json } = await own.verify('dead@good.com', { validation_type: level });
      expect([status, json.reason]).toEqual([200, 'bounced_before']);
      expect(json).toMatchObject({ status: 'bad', deliverability: 'undeliverable', credits_used: 0 });
      expect(json.checks).toMatchObject({ domain: { result: 'skipped' }, smtp: { result: 'skipped' } });
      expect(json.history.bounced_at).toEqual(expect.any(String));
    }
    expect((await own.verify('blocked@good.com')).json.code).toBe('insufficient_credits');
    expect(await balanceOf(own)).toBe(0);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('ends with a later delivery, with the time, and with the setting', async () => {
    const own = await trusting();
    await settings(own, null);
    await expect.poll(async () => (await own.verify('dead@good.com')).json.reason, { timeout: 10_000 }).toBeNull();
    await settings(own, 1);
    await report(own, [{ ...bounce('old@good.com'), at: ago(2 * DAY_MS) }]);
    expect((await own.verify('old@good.com')).json).toMatchObject({ reason: null, history: { delivered_at: null } });
    await expect
      .poll(async () => (await own.verify('dead@good.com')).json.reason, { timeout: 10_000 })
      .toBe('bounced_before');
    await report(own, [{ email: 'dead@good.com', outcome: 'delivered', at: ago(0) }]);
    expect((await own.verify('dead@good.com')).json.reason).toBeNull();
  });

  it('comes after a filter that blocks or allows', async () => {
    const own = await trusting();
    const { json: filter } = await own.call('POST', '/v1/filters', { value: 'dead@good.com' });
    expect((await own.verify('dead@good.com')).json.reason).toBe('blocked_by_filter');
    await own.call('PATCH', `/v1/filters/${filter.id}`, { action: 'allow' });
    expect((await own.verify('dead@good.com')).json).toMatchObject({ reason: null, credits_used: 1 });
  });

  it('counts in lists, in test mode, in a policy and in the dashboard, and charges nothing', async () => {
    const own = await trusting(2);
    const { json: list } = await own.call('POST', '/v1/lists', { emails: ['dead@good.com', 'fine@good.com'] });
    await expect
      .poll(async () => (await own.call('GET', `/v1/lists/${list.id}`)).json.status, { timeout: 20_000 })
      .toBe('completed');
    const { json } = await own.call('GET', `/v1/lists/${list.id}`);
    expect([json.by_reason, json.credits.used]).toEqual([{ bounced_before: 1 }, 1]);
    expect(await balanceOf(own)).toBe(1);
    const tester = await lab.testMember(own);
    await report(tester, [bounce('deliverable@good.com')]);
    expect((await tester.verify('deliverable@good.com')).json.reason).toBe('bounced_before');
    const { json: decided } = await own.verify('dead@good.com', { policy: 'strict' });
    expect(decided).toMatchObject({ reason: 'bounced_before', decision: { action: 'reject' } });
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});

const sample = (server: string): Buffer =>
  [...SAMPLE_REPORTS, ...SAMPLE_FEEDBACK].find((one) => one.server === server)?.raw ?? Buffer.alloc(0);

describe('POST /v1/outcomes/message', () => {
  const post = (by: Member, raw: Buffer, query = '', type = 'message/rfc822') =>
    request(lab.url, 'POST', `/v1/outcomes/message${query}`, raw.toString('latin1'), {
      authorization: `Bearer ${by.key}`,
      'content-type': type,
    });

  it('counts a report for each recipient once, whatever its type is called', async () => {
    const own = await lab.member();
    const first = await post(own, sample('Postfix'), '?source=newsletter');
    expect([first.status, first.json]).toEqual([
      200,
      {
        outcomes: [{ email: 'ada@example.com', outcome: 'bounced', result: 'recorded', class: 'absent' }],
        disregarded: [],
        warnings: [],
      },
    ]);
    const again = await post(own, sample('Postfix'), '', 'application/octet-stream');
    expect(again.json.outcomes).toMatchObject([{ result: 'duplicate' }]);
    expect(await rowsOf(own)).toMatchObject([{ class: 'absent', source: 'newsletter', code: '550 5.1.1' }]);
    expect((await post(own, sample('Yahoo'))).json.outcomes).toMatchObject([{ class: 'complained' }]);
  });

  it('counts nothing of replies, delays and what it cannot read', async () => {
    const own = await lab.member();
    for (const server of ['Postfix, delayed', 'vacation', 'a person', 'Fastmail, not spam', 'qmail, no code']) {
      const { status, json } = await post(own, sample(server));
      expect([status, json.outcomes, json.disregarded.length]).toEqual([200, [], 1]);
    }
    const { status, json } = await post(own, Buffer.from('x'));
    expect([status, json.disregarded[0].why]).toEqual([200, 'no_report']);
    expect((await post(own, Buffer.alloc(1024 * 1024 + 1, 'x'))).status).toBe(413);
    expect((await post(own, sample('Postfix'), `?source=${'x'.repeat(65)}`)).json.field).toBe('source');
    expect(await rowsOf(own)).toEqual([]);
  });

  it('takes a time that is not over yet as now', async () => {
    const own = await lab.member();
    const raw = Buffer.from(sample('Postfix').toString().replaceAll('Nov 2026', 'Nov 2096'));
    expect((await post(own, raw)).json.outcomes).toMatchObject([{ result: 'recorded' }]);
  });
});

describe('GET /v1/calibration', () => {
  it('has a rate with its interval from 50 verdicts on, what was predicted, and no other account', async () => {
    const [own, other] = [await lab.member(), await lab.member()];
    await report(own, [{ email: 'a@good.com', outcome: 'deferred', at: ago(0) }]);
    await measured(own, '["deliverable",null,"smtp","Example"]', 4_120, 16);
    await measured(own, '["risky","catch_all","smtp",null]', 49, 20);
    await runSql(
      lab.databaseUrl,
      `INSERT INTO outcome_sums (account_id, kind, key, sent, bounced, predicted)
        VALUES ('${own.account.id}', 'predicted', '9', 100, 4, 96000)`,
    );
    const { status, json } = await own.call('GET', '/v1/calibration');
    expect(status).toBe(200);
    expect(json.verdicts).toEqual([
      {
        deliverability: 'deliverable',
        reason: null,
        validation_type: 'smtp',
        provider: 'Example',
        sent: 4_120,
        bounced: 16,
        bounce_rate: 0.0039,
        low: 0.0023,
        high: 0.0064,
      },
      {
        deliverability: 'risky',
        reason: 'catch_all',
        validation_type: 'smtp',
        provider: null,
        sent: 49,
        bounced: 20,
        bounce_rate: null,
        low: null,
        high: null,
      },
    ]);
    expect(json.reliability).toEqual([
      { from: 0.9, to: 1, sent: 100, predicted: 0.96, delivered: 0.96, low: 0.8949, high: 0.9871 },
    ]);
    expect((await other.call('GET', '/v1/calibration')).json).toEqual({
      verdicts: [],
      reliability: [],
      contradictions: [],
      warnings: [],
    });
  });

  it('lists what the outcome contradicts, without the address', async () => {
    const own = await lab.testMember(await lab.member({ plan: 'premium' }));
    const ids: string[] = [];
    for (const name of ['deliverable', 'mailbox_not_found'])
      ids.push((await own.verify(`${name}@good.com`, { validation_type: 'smtp' })).json.id);
    await report(own, [
      bounce('deliverable@good.com', '550 5.1.1 <deliverable@good.com>: user unknown'),
      { verification_id: ids[1], outcome: 'delivered', at: ago(500) },
    ]);
    const { json } = await own.call('GET', '/v1/calibration');
    const common = { validation_type: 'smtp', provider: null, rule: 'test_mode', at: expect.any(String) };
    expect(json.contradictions).toEqual([
      {
        ...common,
        verification_id: ids[1],
        deliverability: 'undeliverable',
        reason: 'mailbox_not_found',
        outcome: 'delivered',
        reply: '550 5.1.1',
        code: null,
        template: null,
      },
      {
        ...common,
        verification_id: ids[0],
        deliverability: 'deliverable',
        reason: null,
        outcome: 'bounced',
        reply: '250 2.1.5',
        code: '550 5.1.1',
        template: expect.stringContaining('unknown'),
      },
    ]);
    expect(JSON.stringify(json)).not.toContain('good.com');
  });
});

const scrape = async (name: string) => {
  const response = await fetch(`${lab.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const sum = [...(await response.text()).matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'))];
  return sum.reduce((total, [, value]) => total + Number(value), 0);
};

describe('outcomes.contradiction', () => {
  const SOON = { timeout: 30_000 };
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  /** What a webhook of the account gets: the events, each signed and as the document of the API has it. */
  async function subscribed(by: Member) {
    const path = `/${by.account.id}`;
    const events = ['outcomes.contradiction'];
    const { status, json } = await by.call('POST', '/v1/webhooks', { url: receiver.url + path, events });
    expect(status).toBe(201);
    return () =>
      receiver.received
        .filter((one) => one.path === path)
        .map(({ body, headers }) => {
          const event = new Webhook(json.secret).verify(body, headers);
          expect(Compile(WEBHOOK_EVENTS['outcomes.contradiction'].body).Errors(event)).toEqual([]);
          return event as { type: string; data: Record<string, unknown> };
        });
  }

  it('is sent once for the verdicts that a report contradicts, without their addresses', async () => {
    const [own, other] = [await lab.member(), await lab.member()];
    const [events, ofOther] = [await subscribed(own), await subscribed(other)];
    const delivered = async (names: readonly string[]) => {
      const emails = names.map((name) => `${name}@null-mx.com`);
      const ids: string[] = [];
      for (const email of emails) ids.push((await own.verify(email)).json.id);
      const rows = emails.map((email) => ({ email, outcome: 'delivered', at: ago(0) }));
      await report(own, rows);
      await report(own, rows);
      return ids;
    };
    const ids = await delivered(['jane', 'june']);
    await expect.poll(() => events().length, SOON).toBe(1);
    const [event] = events();
    const common = { deliverability: 'undeliverable', reason: 'null_mx', validation_type: 'mx', provider: null };
    const contradiction = { ...common, outcome: 'delivered', rule: null, reply: null, code: null };
    expect(event?.data).toMatchObject({ total: 2 });
    expect(event?.data.contradictions).toHaveLength(2);
    for (const id of ids)
      expect(event?.data.contradictions).toContainEqual({
        ...contradiction,
        verification_id: id,
        at: expect.any(String),
      });
    expect(JSON.stringify(event)).not.toContain('null-mx.com');
    // What had come twice would have come before this one.
    const [last] = await delivered(['joan']);
    await expect.poll(() => events().length, SOON).toBe(2);
    expect(events()[1]?.data).toMatchObject({ total: 1, contradictions: [{ verification_id: last }] });
    expect(ofOther()).toEqual([]);
  });

  it('follows a verification of bounced@ with a test key, and touches nothing of live mode', async () => {
    const live = await lab.member({ plan: 'premium' });
    const test = await lab.testMember(live);
    const [events, ofLive] = [await subscribed(test), await subscribed(live)];
    const before = await scrape('mailvet_outcomes_total');
    const verified = async (name: string) => {
      const { json } = await test.verify(`${name}@example.com`, { validation_type: 'smtp' });
      expect(json).toMatchObject({ deliverability: 'deliverable', credits_used: 0 });
      return json;
    };
    await verified('complained');
    const { id } = await verified('Bounced+tag');
    await expect.poll(() => events().length, SOON).toBe(1);
    expect(events()).toMatchObject([
      {
        type: 'outcomes.contradiction',
        data: {
          total: 1,
          contradictions: [{ verification_id: id, outcome: 'bounced', reply: '250 2.1.5', code: '550 5.1.1' }],
        },
      },
    ]);
    const history = async (name: string) => (await verified(name)).history;
    await expect.poll(() => history('complained'), SOON).toMatchObject({ complained_at: expect.any(String) });
    expect(await history('Bounced+tag')).toMatchObject({ delivered_at: null, bounced_at: expect.any(String) });
    const listed = (await test.call('GET', '/v1/calibration')).json.contradictions;
    expect(listed).toContainEqual(expect.objectContaining({ verification_id: id }));
    // A live key verifies it as any other address.
    await live.verify('bounced@null-mx.com');
    expect((await live.call('GET', '/v1/calibration')).json).toMatchObject({ verdicts: [], contradictions: [] });
    expect(await rowsOf(live)).toEqual([]);
    expect(ofLive()).toEqual([]);
    expect(await scrape('mailvet_outcomes_total')).toBe(before);
  });
});

it('the dashboard says how many outcomes came on which way, and when the last one did', async () => {
  const own = await lab.member();
  const who = await signedIn(lab, { account: own.account, role: 'member' });
  const origins = async () => (await who.call('GET', of(own.account, '/outcome-sources'))).json.origins;
  expect(await origins()).toEqual([]);
  const began = ago(60_000);
  const one = bounce('a@good.com');
  await report(own, [one, one, 'x', bounce('b@good.com')]);
  await report(own, [one]);
  const message = (server: string, query = '') =>
    request(lab.url, 'POST', `/v1/outcomes/message${query}`, sample(server).toString('latin1'), {
      authorization: `Bearer ${own.key}`,
      'content-type': 'message/rfc822',
    });
  await message('Yahoo', '?via=command');
  expect((await message('Postfix', '?via=provider')).json.field).toBe('via');
  const found = await origins();
  // What was known before, or is an error, did not come again.
  expect(found).toMatchObject([
    { origin: 'api', received: 2 },
    { origin: 'command', received: 1 },
  ]);
  const last = found[1].last_received_at;
  expect(last > began).toBe(true);
  await message('Postfix');
  const later = await origins();
  expect(later.map(({ origin, received }: { origin: string; received: number }) => [origin, received])).toEqual([
    ['api', 2],
    ['message', 1],
    ['command', 1],
  ]);
  expect(later[2].last_received_at).toBe(last);
});

it('the log finds the verifications that a number of the calibration counts', async () => {
  const live = await lab.member({ plan: 'premium' });
  const own = await lab.testMember(live);
  const who = await signedIn(lab, { account: live.account, role: 'member' });
  const verified = async (email: string) => (await own.verify(email, { validation_type: 'smtp' })).json.id;
  const arrived = await verified('deliverable+1@good.com');
  const bounced = await verified('deliverable+2@good.com');
  const wrong = await verified('mailbox_not_found@good.com');
  await verified('deliverable+3@good.com');
  const outcomes = [arrived, wrong].map((id) => ({ verification_id: id, outcome: 'delivered', at: ago(0) }));
  await report(own, [...outcomes, { ...bounce(''), email: undefined, verification_id: bounced }]);
  await runSql(
    lab.databaseUrl,
    `UPDATE outcome_verdicts SET predicted = CASE WHEN verification_id = '${arrived}' THEN 1000 ELSE 899 END
      WHERE account_id = '${own.account.id}' AND verification_id <> '${wrong}'`,
  );
  const found = async (query: string) => {
    const { status, json } = await who.call('GET', of(own.account, `/log?${query}`));
    expect(status, json.message).toBe(200);
    return json.entries.map(({ id }: { id: string }) => id).sort();
  };
  expect(await found('mail=known')).toEqual([arrived, bounced, wrong].sort());
  expect(await found('mail=known&deliverability=deliverable&level=smtp&reason=none')).toEqual(
    [arrived, bounced].sort(),
  );
  expect(await found('mail=arrived')).toEqual([arrived, wrong].sort());
  expect(await found('mail=bounced')).toEqual([bounced]);
  expect(await found('mail=contradicting')).toEqual([bounced, wrong].sort());
  expect(await found('mail=known&not=mail')).toHaveLength(1);
  expect(await found('confidence=90-100')).toEqual([arrived]);
  expect(await found('confidence=80-90')).toEqual([bounced]);
  expect(await found('confidence=0-10')).toEqual([]);
  await runSql(
    lab.databaseUrl,
    `UPDATE outcome_verdicts SET came_from = CASE WHEN verification_id = '${wrong}' THEN ' osr_other ' END
      WHERE account_id = '${own.account.id}' AND verification_id <> '${bounced}'`,
  );
  expect(await found('reported=api')).toEqual([bounced]);
  await report(own, [{ verification_id: wrong, outcome: 'complained', at: ago(0) }]);
  expect(await found('reported=api')).toEqual([bounced, wrong].sort());
  expect(await found('reported=osr_other')).toEqual([wrong]);
  expect(await found('reported=osr_other,osr')).toEqual([wrong]);
  expect(await found('reported=api,osr_other&not=reported&mail=known')).toEqual([arrived]);
  expect(await found('reported=osr')).toEqual([]);
  expect(await found('reported=api&not=reported&mail=known')).toEqual([arrived]);
  const { verdicts } = (await own.call('GET', '/v1/calibration')).json;
  for (const { deliverability, reason, validation_type, sent, bounced: n } of verdicts) {
    const cell = `deliverability=${deliverability}&reason=${reason ?? 'none'}&level=${validation_type}`;
    expect([(await found(`${cell}&mail=known`)).length, (await found(`${cell}&mail=bounced`)).length]).toEqual([
      sent,
      n,
    ]);
  }
  expect((await who.call('GET', of(own.account, '/log?mail=opened'))).json.field).toBe('mail');
});

it('a world in which 4 % of unknown bounce is measured as it is', async () => {
  const own = await lab.member({ credits: 3_000, rateLimit: 10_000 });
  const random = numbersFrom(1927);
  /** Verified at one domain; each address bounces or arrives by the truth of its kind. */
  const worlds = [
    { domain: 'good.com', addresses: 1_000, truth: 0.04, verdict: 'unknown' },
    { domain: 'nomx.com', addresses: 200, truth: 0.9, verdict: 'undeliverable' },
  ];
  for (const { domain, addresses, truth, verdict } of worlds) {
    const emails = Array.from({ length: addresses }, (_, i) => `user${i}@${domain}`);
    const { json: list } = await own.call('POST', '/v1/lists', { emails });
    const status = async () => (await own.call('GET', `/v1/lists/${list.id}`)).json.status;
    await expect.poll(status, { timeout: 60_000 }).toBe('completed');
    const outcomes = emails.map((email) => {
      if (random() >= truth) return { email, outcome: 'delivered', at: ago(0) };
      return bounce(email);
    });
    const bounced = outcomes.filter(({ outcome }) => outcome === 'bounced').length;
    expect((await report(own, outcomes)).json.recorded).toBe(addresses);
    const { verdicts } = (await own.call('GET', '/v1/calibration')).json;
    const cell = verdicts.find(({ deliverability }: { deliverability: string }) => deliverability === verdict);
    const { share, low, high } = shareOf(bounced, addresses)!;
    expect(cell).toMatchObject({ sent: addresses, bounced });
    expect([cell.bounce_rate, cell.low, cell.high]).toEqual(
      [share, low, high].map((one) => Math.round(one * 10_000) / 10_000),
    );
    expect([cell.low <= truth, truth <= cell.high]).toEqual([true, true]);
  }
});

it('operators see the contradictions of all live accounts, and not whose they are', async () => {
  const live = await lab.member({ plan: 'premium' });
  const test = await lab.testMember(live);
  const { id } = (await live.verify('secret.name@null-mx.com')).json;
  await test.verify('deliverable@good.com', { validation_type: 'smtp' });
  const at = ago(0);
  await report(live, [{ email: 'secret.name@null-mx.com', outcome: 'delivered', at }]);
  await report(test, [{ ...bounce('deliverable@good.com'), at }]);
  expect((await test.call('GET', '/v1/calibration')).json.contradictions).toHaveLength(1);
  const operator = await signedIn(lab, { operator: true });
  const { status, json, text } = await operator.call('GET', '/dashboard/operator/contradictions');
  expect(status).toBe(200);
  expect(json.contradictions[0]).toEqual({
    deliverability: 'undeliverable',
    reason: 'null_mx',
    validation_type: 'mx',
    provider: null,
    outcome: 'delivered',
    at,
    rule: null,
    reply: null,
    code: null,
    template: null,
  });
  for (const secret of [id, live.account.id, 'secret.name', 'null-mx.com', 'test_mode'])
    expect(text).not.toContain(secret);
});

it('metrics count what live accounts report, and what contradicts', async () => {
  const [own, before] = [await lab.member(), await scrape('mailvet_outcomes_total')];
  await report(own, [bounce('a@good.com'), bounce('a@good.com')]);
  await report(await lab.testMember(own), [bounce('a@good.com')]);
  // Rows of two times, unless both were made in one millisecond.
  const recorded = await rowsOf(own);
  expect((await scrape('mailvet_outcomes_total')) - before).toBe(recorded.length);
});
