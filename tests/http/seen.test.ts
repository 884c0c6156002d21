import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProcess } from '../lab/process.ts';
import { type Lab, type Member, type Reply, startLab } from '../lab/service.ts';
import { ENGINE, failInserts, runSql } from '../lab/stores.ts';

/** Every name takes this long to resolve, ms. */
const SLOW = { MX: [[10, 'mx.good.com']], fault: { slow: 150 } } as const;

let lab: Lab;
let member: Member;
beforeAll(async () => {
  const slow = Array.from({ length: 4 }, (_, i) => [`slow${i}.com`, { ...SLOW, MX: [[10, 'mx.good.com']] }] as const);
  lab = await startLab(
    { MAILVET_DNS_TIMEOUT_MS: '2000' },
    { net: { ...Object.fromEntries(slow), 'gmail.com': { MX: [[5, 'mx.good.com']] } } as never },
  );
  member = await lab.member({ credits: 10_000, rateLimit: 100_000 });
});
afterAll(() => lab.close());

const IN_SIGNUP = { scope: 'signup' };
const seen = async (by: Member, email: string, more: object = IN_SIGNUP) => {
  const { status, text, json } = await by.verify(email, { ...more });
  expect([status, text]).toEqual([200, text]);
  return json.seen;
};
const balanceOf = async ({ account }: Member) => (await lab.store.accounts.get(account.id))?.balance;
const rowsOf = ({ account }: Member) =>
  runSql(lab.databaseUrl, `SELECT * FROM seen WHERE account_id = '${account.id}'`);
const forget = (by: Member, query: string): Promise<Reply> => by.call('DELETE', `/v1/seen?${query}`);

describe('a scope', () => {
  it('says whether the mailbox was seen in it before, in which spelling, how often and since when', async () => {
    const began = Date.now();
    const first = await seen(member, 'jane.doe@gmail.com');
    expect(first).toEqual({ before: false, count: 1, first_at: expect.any(String), same_spelling: false });
    expect(Math.abs(Date.parse(first.first_at) - began)).toBeLessThan(60_000);
    const at = { first_at: first.first_at, before: true };
    expect(await seen(member, 'jane.doe@GMAIL.com')).toEqual({ ...at, count: 2, same_spelling: true });
    expect(await seen(member, 'J.ane.Doe+x@googlemail.com')).toEqual({ ...at, count: 3, same_spelling: false });
    // The second spelling does not become the usual one.
    expect(await seen(member, 'J.ane.Doe+x@googlemail.com')).toEqual({ ...at, count: 4, same_spelling: false });
    expect(await seen(member, ' jane.doe@gmail.com ')).toEqual({ ...at, count: 5, same_spelling: true });
  });

  it('knows nothing of others, nor of other accounts', async () => {
    const other = await lab.member();
    expect(await seen(member, 'walls@good.com')).toMatchObject({ before: false });
    expect(await seen(member, 'walls@good.com', { scope: 'trial' })).toMatchObject({ before: false, count: 1 });
    expect(await seen(other, 'walls@good.com')).toMatchObject({ before: false, count: 1 });
    expect(await seen(member, 'walls@good.com')).toMatchObject({ before: true, count: 2 });
    const [mine] = (await rowsOf(member)).slice(-1);
    const [theirs] = await rowsOf(other);
    expect(mine?.mailbox).not.toBe(theirs?.mailbox);
  });

  it('is remembered without the address', async () => {
    const secretive = await lab.member();
    await seen(secretive, 'Nobody.Knows+me@good.com');
    const rows = await rowsOf(secretive);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      scope: 'signup',
      mailbox: expect.stringMatching(/^[\w-]{43}$/),
      spelling: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(JSON.stringify(rows)).not.toMatch(/nobody|knows|good/i);
  });

  it('changes neither the price nor what is in the log, where the reply is as it was sent', async () => {
    const own = await lab.member({ credits: 5 });
    const { json, text } = await own.verify('log@good.com', IN_SIGNUP);
    expect([json.credits_used, await balanceOf(own)]).toEqual([1, 4]);
    expect((await lab.store.verifications.get(own.account.id, json.id))?.body).toBe(text);
    const plain = (await own.verify('log@good.com')).json;
    expect(plain.seen).toBeNull();
    expect(Object.keys(plain)).toEqual(Object.keys(json));
  });

  it('sees what a filter blocks as well, for free', async () => {
    const own = await lab.member({ credits: 0 });
    await own.call('POST', '/v1/filters', { value: 'blocked@good.com' });
    expect((await own.verify('blocked@good.com', IN_SIGNUP)).json).toMatchObject({
      reason: 'blocked_by_filter',
      credits_used: 0,
      seen: { before: false },
    });
    expect(await seen(own, 'blocked@good.com')).toMatchObject({ before: true, count: 2 });
  });

  it.each([
    'not an address',
    'a@@good.com',
    'a@good.no-such-tld-at-all',
    'a@cold.no-such-tld-either',
  ])('does not remember %s', async (email) => {
    const own = await lab.member();
    for (let i = 0; i < 2; i++) expect(await seen(own, email)).toBeNull();
    expect(await rowsOf(own)).toEqual([]);
  });

  it.each([
    '',
    'x'.repeat(65),
    'Sign-up',
    'sign up',
    'größe',
    'a/b',
    7,
    null,
    ['signup'],
    'a\n',
  ])('%j is refused', async (scope) => {
    const own = await lab.member({ credits: 5 });
    const { status, json } = await own.verify('a@good.com', { scope });
    expect([status, json.code, json.field]).toEqual([400, 'invalid_parameter', 'scope']);
    expect(json.error).toContain('1 to 64');
    expect([await balanceOf(own), await rowsOf(own)]).toEqual([5, []]);
  });

  it('may have all of its characters', async () => {
    const scope = 'abcdefghijklmnopqrstuvwxyz0123456789_.-'.padEnd(64, 'x');
    expect(await seen(member, 'long@good.com', { scope })).toMatchObject({ before: false });
    expect(await seen(member, 'long@good.com', { scope })).toMatchObject({ before: true });
  });

  it('counts once for an Idempotency-Key, whose reply stays the same', async () => {
    const key = { 'idempotency-key': 'seen-once' };
    const first = await member.verify('once@good.com', IN_SIGNUP, key);
    expect(first.json.seen).toMatchObject({ before: false, count: 1 });
    const again = await member.verify('once@good.com', IN_SIGNUP, key);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect(await seen(member, 'once@good.com')).toMatchObject({ before: true, count: 2 });
    const slow = { 'idempotency-key': 'seen-once-slow' };
    const held = await member.verify('once@slow0.com', IN_SIGNUP, slow);
    expect((await member.verify('once@slow0.com', IN_SIGNUP, slow)).text).toBe(held.text);
    expect(await seen(member, 'once@slow0.com')).toMatchObject({ before: true, count: 2 });
  });

  it.each([
    ['whose verdict is known', 'race@good.com', 'good.com'],
    ['whose domain is looked up', 'race@slow1.com', null],
  ])('is told by exactly one of 64 racing requests %s that the mailbox is new', async (_, email, warm) => {
    if (warm !== null) await member.verify(`warm@${warm}`);
    const all = await Promise.all(Array.from({ length: 64 }, () => seen(member, email)));
    expect(all.filter(({ before }) => !before)).toHaveLength(1);
    expect(all.map(({ count }) => count).sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (__, i) => i + 1));
  });

  it('is the same on all nodes', async () => {
    const node = await startProcess({
      MAILVET_DATABASE_URL: lab.databaseUrl,
      MAILVET_DNS_SERVERS: `${lab.dns.address}:${lab.dns.port}`,
      MAILVET_DNS_CONTROL_NAMES: 'none',
      MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    });
    const through = async (url: string, email: string) => {
      const headers = { authorization: `Bearer ${member.key}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ email, ...IN_SIGNUP });
      const reply = await fetch(`${url}/v1/verify`, { method: 'POST', headers, body });
      return ((await reply.json()) as { seen: { before: boolean } }).seen;
    };
    for (const email of ['nodes@good.com', 'nodes@slow2.com']) {
      const all = await Promise.all(
        Array.from({ length: 64 }, (_, i) => through(i % 2 === 0 ? lab.url : node.url, email)),
      );
      expect(
        all.filter(({ before }) => !before),
        email,
      ).toHaveLength(1);
    }
    await node.end('SIGTERM');
  });

  it('remembers nothing where the verdict could not be recorded, and records none where it cannot remember', async () => {
    const own = await lab.member({ credits: 5 });
    for (const table of ['verifications', 'seen']) {
      const mend = await failInserts(lab.databaseUrl, table);
      expect((await own.verify('fails@good.com', IN_SIGNUP)).status, table).toBeGreaterThanOrEqual(500);
      await mend();
      expect([await balanceOf(own), await rowsOf(own)], table).toEqual([5, []]);
      expect(await lab.store.verifications.list(own.account.id, { offset: 0, limit: 1 })).toMatchObject({ total: 0 });
    }
    expect(await seen(own, 'fails@good.com')).toMatchObject({ before: false });
  });

  it('of test keys is one of its own, and free', async () => {
    const test = await lab.testMember(member);
    await seen(member, 'mode@good.com');
    expect(await seen(test, 'mode@good.com')).toMatchObject({ before: false, count: 1 });
    expect(await seen(test, 'mode+x@good.com')).toMatchObject({ before: true, count: 2, same_spelling: false });
    expect(await seen(member, 'mode@good.com')).toMatchObject({ count: 2 });
    expect((await test.verify('mode@good.com', IN_SIGNUP)).json.credits_used).toBe(0);
  });

  it('is refused for a further mailbox when the account remembers as many as its plan has room for', async () => {
    const own = await lab.member({ plan: 'starter', credits: 5 });
    await seen(own, 'known@good.com');
    await runSql(lab.databaseUrl, `UPDATE seen_secrets SET mailboxes = 100000 WHERE account_id = '${own.account.id}'`);
    const { status, json } = await own.verify('further@good.com', IN_SIGNUP);
    expect([status, json.code, json.field, json.limit]).toEqual([422, 'too_many_mailboxes', 'scope', 100_000]);
    expect(json.error).toContain('100,000');
    expect(await balanceOf(own)).toBe(4);
    expect(await seen(own, 'known+x@good.com')).toMatchObject({ before: true });
    expect((await own.verify('further@good.com')).json.seen).toBeNull();
    expect((await forget(own, 'scope=signup&email=known@good.com')).json.forgotten).toBe(1);
    expect(await seen(own, 'further@good.com')).toMatchObject({ before: false });
  });
});

describe('a policy', () => {
  it.each(['good.com', 'slow3.com'])('decides by what is known of a mailbox at %s', async (domain) => {
    const own = await lab.member();
    const ask = async (email: string, more: object = {}) => {
      const { json } = await own.verify(`${email}@${domain}`, { policy: 'signup', ...IN_SIGNUP, ...more });
      const record = await lab.store.verifications.get(own.account.id, json.id);
      expect([record?.decision, JSON.parse(record?.body ?? '')]).toEqual([json.decision.action, json]);
      return json;
    };
    expect((await ask('jane')).decision).toEqual({ action: 'accept', because: [], message: null });
    const again = await ask('jane+2');
    expect(again.seen).toMatchObject({ before: true, same_spelling: false });
    expect(again.decision).toMatchObject({ action: 'reject', because: ['seen_before'], message: expect.any(String) });
    expect(Object.keys(again)).toEqual(Object.keys((await own.verify(`jane@${domain}`)).json));
    expect((await ask('jane', { scope: 'trial' })).decision.action).toBe('accept');
    expect((await ask('jane', { scope: undefined })).decision.action).toBe('accept');
  });

  it('decides where there is no room for a mailbox as where there is no verdict', async () => {
    const own = await lab.member({ plan: 'starter' });
    await seen(own, 'known@good.com');
    const full = (mailboxes: number) =>
      runSql(
        lab.databaseUrl,
        `UPDATE seen_secrets SET mailboxes = ${mailboxes} WHERE account_id = '${own.account.id}'`,
      );
    await full(100_000);
    const { status, json } = await own.verify('further@good.com', { policy: 'strict', ...IN_SIGNUP });
    expect([status, json.code]).toEqual([422, 'too_many_mailboxes']);
    expect(json.decision).toMatchObject({ action: 'review', because: ['outage'] });
    await full(1);
  });
});

describe('DELETE /v1/seen', () => {
  it('forgets a mailbox of one scope, by any spelling', async () => {
    const own = await lab.member();
    for (const scope of ['signup', 'trial']) await seen(own, 'jane.doe@gmail.com', { scope });
    const gone = await forget(own, `scope=signup&email=${encodeURIComponent('janedoe+more@googlemail.com')}`);
    expect([gone.status, gone.json]).toEqual([200, { forgotten: 1, warnings: [] }]);
    expect((await forget(own, 'scope=signup&email=jane.doe@gmail.com')).json.forgotten).toBe(0);
    expect(await seen(own, 'jane.doe@gmail.com')).toMatchObject({ before: false, count: 1 });
    expect(await seen(own, 'jane.doe@gmail.com', { scope: 'trial' })).toMatchObject({ before: true, count: 2 });
  });

  it('without an address forgets the scope, of this account', async () => {
    const [own, other] = [await lab.member(), await lab.member()];
    for (const by of [own, other]) for (const name of ['a', 'b', 'c']) await seen(by, `${name}@good.com`);
    await seen(own, 'a@good.com', { scope: 'trial' });
    expect((await forget(own, 'scope=signup')).json).toEqual({ forgotten: 3, warnings: [] });
    expect((await forget(own, 'scope=signup')).json.forgotten).toBe(0);
    expect(await rowsOf(own)).toHaveLength(1);
    expect(await rowsOf(other)).toHaveLength(3);
    const [entry] = await lab.store.auditLog.list(own.account.id, { before: null, limit: 10 });
    expect(entry).toMatchObject({ action: 'scope.forgotten', target: 'signup', detail: { forgotten: 0 } });
  });

  it.each([
    ['email=a@good.com', 'missing_parameter', 'scope'],
    ['scope=SIGNUP', 'invalid_parameter', 'scope'],
    ['scope=signup&email=nobody', 'invalid_parameter', 'email'],
    // Whoever sends these does not mean the whole scope.
    ['scope=signup&email=', 'invalid_parameter', 'email'],
    ['scope=signup&adress=a@good.com', 'invalid_parameter', 'email'],
    ['scope=signup&scope=trial', 'invalid_parameter', 'scope'],
  ])('%s is 400, and forgets nothing', async (query, code, field) => {
    const own = await lab.member();
    await seen(own, 'a@good.com');
    const { status, json } = await forget(own, query);
    expect([status, json.code, json.field]).toEqual([400, code, field]);
    expect(await rowsOf(own)).toHaveLength(1);
  });

  it('takes a + as it is', async () => {
    const own = await lab.member();
    await seen(own, 'tagged+one@gmx.net');
    await seen(own, 'tagged@gmx.net');
    expect((await forget(own, 'scope=signup&email=tagged+one@gmx.net')).json.forgotten).toBe(1);
    expect(await seen(own, 'tagged@gmx.net')).toMatchObject({ before: true });
  });

  it('needs a key that may verify', async () => {
    const own = await lab.member({ scopes: ['usage'] });
    expect((await forget(own, 'scope=signup')).json).toMatchObject({ code: 'scope_missing', scope: 'verify' });
  });
});

describe('MAILVET_SEEN_DAYS=0', () => {
  let off: Lab;
  beforeAll(async () => {
    off = await startLab({ MAILVET_SEEN_DAYS: '0' });
  });
  afterAll(() => off.close());

  it('refuses a scope after key and rate limit, for free; requests without one are as before', async () => {
    const own = await off.member({ credits: 5, rateLimit: 3 });
    const { status, json, headers } = await own.verify('a@good.com', IN_SIGNUP);
    expect([status, json.code, json.field]).toEqual([422, 'seen_disabled', 'scope']);
    expect(headers.get('ratelimit')).toContain('r=2');
    expect((await own.verify('a@good.com')).json.seen).toBeNull();
    expect((await forget(own, 'scope=signup')).json.forgotten).toBe(0);
    expect((await own.verify('a@good.com', IN_SIGNUP)).json.code).toBe('rate_limit_exceeded');
    expect((await off.store.accounts.get(own.account.id))?.balance).toBe(4);
    const stranger = await fetch(`${off.url}/v1/verify`, {
      method: 'POST',
      body: JSON.stringify({ email: 'a@good.com', ...IN_SIGNUP }),
      headers: { authorization: `Bearer mv_live_${'x'.repeat(32)}`, 'content-type': 'application/json' },
    });
    expect(stranger.status).toBe(401);
  });
});

it(`is tested on ${ENGINE}`, async () => {
  const counted = await runSql(lab.databaseUrl, 'SELECT account_id, mailboxes FROM seen_secrets');
  const there = await runSql(lab.databaseUrl, 'SELECT account_id, count(*) AS n FROM seen GROUP BY account_id');
  const rows = new Map(there.map(({ account_id: id, n }) => [id, Number(n)]));
  // One was set to its limit above, less what was forgotten, plus what was seen.
  const differing = counted.filter(({ account_id: id, mailboxes }) => Number(mailboxes) !== (rows.get(id) ?? 0));
  expect(differing.map(({ mailboxes }) => Number(mailboxes))).toEqual([100_000]);
});
