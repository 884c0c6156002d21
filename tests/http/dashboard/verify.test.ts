import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type SmtpLab, startSmtp } from '../../lab/smtp.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let servers: SmtpLab[];
let member: Member;
let person: Client;
beforeAll(async () => {
  const plain = await startSmtp({}, { address: '127.0.1.1' });
  const mute = await startSmtp({ banner: 'silence' }, { address: '127.0.1.2', port: plain.port });
  servers = [plain, mute];
  lab = await startLab(
    { MAILVET_SMTP_PORT: String(plain.port), MAILVET_SMTP_RATE_PER_OPERATOR: '0', MAILVET_SMTP_BREAKER_SECONDS: '0' },
    {
      net: {
        'plain.com': { MX: [[10, 'mx.plain.com']] },
        'mx.plain.com': { A: ['127.0.1.1'] },
        'mute.com': { MX: [[10, 'mx.mute.com']] },
        'mx.mute.com': { A: ['127.0.1.2'] },
      },
    },
  );
  member = await lab.member({ credits: 100 });
  person = await signedIn(lab, { account: member.account, role: 'member' });
});
afterAll(async () => {
  await lab.close();
  await Promise.all(servers.map((server) => server.close()));
});

const verify = (email: unknown, validation_type: unknown = 'mx', who = person, account = member.account) =>
  who.call('POST', of(account, '/verify'), { email, validation_type });

describe('verifying in the dashboard', () => {
  it('returns the verdict with its dialogue and the remaining credits', async () => {
    const { json } = await verify('good@plain.com', 'smtp');
    expect(json).toMatchObject({
      credits_remaining: 90,
      result: { email: 'good@plain.com', status: 'good', deliverability: 'deliverable', credits_used: 10 },
    });
    const said = json.result.evidence.smtp.transcript.map(({ text }: { text: string }) => text).join('\n');
    expect(said).toContain('RCPT TO');
    expect((await verify('a@mailinator.com')).json).toMatchObject({
      credits_remaining: 89,
      result: { status: 'bad', reason: 'disposable_domain', credits_used: 1 },
    });
    expect((await verify('no address')).json.result.reason).toBe('invalid_format');
  });

  it('is charged and recorded in ledger, usage and log, as from the dashboard', async () => {
    const own = await lab.member({ credits: 50 });
    const who = await signedIn(lab, { account: own.account });
    const { json } = await verify('a@good.com', 'mx', who, own.account);
    const ledger = await who.call('GET', of(own.account, '/ledger'));
    expect(ledger.json.rows[0]).toMatchObject({ kind: 'settlement', charged: 1, verification_id: json.result.id });
    const usage = await own.call('GET', '/v1/usage?group_by=key');
    expect(usage.json.series).toEqual([{ group: 'dashboard', requests: 1, good: 1, bad: 0, credits: 1 }]);
    const log = await who.call('GET', of(own.account, '/log'));
    expect(log.json.entries).toMatchObject([{ id: json.result.id, key: null, client_ip: '127.0.0.1' }]);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it("counts in the account's rate window, together with its keys", async () => {
    const own = await lab.member({ rateLimit: 3 });
    const who = await signedIn(lab, { account: own.account });
    const ask = () => verify('a@good.com', 'mx', who, own.account);
    expect((await ask()).status).toBe(200);
    expect((await own.verify('a@good.com')).status).toBe(200);
    expect((await ask()).status).toBe(200);
    const { status, json, headers } = await ask();
    expect([status, json.code, json.limit]).toEqual([429, 'rate_limit_exceeded', 3]);
    expect(Number(headers.get('retry-after'))).toBe(json.retry_after);
  });

  it.each([
    [{ plan: 'starter' as const }, 'smtp', 402, 'plan_upgrade_required'],
    [{ credits: 9 }, 'smtp', 402, 'insufficient_credits'],
  ])('what /v1 refuses is refused here: %o, %s', async (options, level, status, code) => {
    const own = await lab.member(options);
    const who = await signedIn(lab, { account: own.account });
    const reply = await verify('good@plain.com', level, who, own.account);
    expect([reply.status, reply.json.code]).toEqual([status, code]);
    expect((await lab.store.accounts.get(own.account.id))!.locked).toBe(0);
  });

  it.each([
    ['', 'mx', 400, 'email'],
    [false, 'mx', 400, 'email'],
    ['x'.repeat(1025), 'mx', 400, 'email'],
    ['a@good.com', 'SMTP', 422, 'validation_type'],
    ['a@good.com', null, 422, 'validation_type'],
  ])('%j at %j is refused with %i', async (email, level, status, field) => {
    const reply = await verify(email, level);
    expect([reply.status, reply.json.field]).toEqual([status, field]);
  });

  it('is rejected for a suspended account', async () => {
    const own = await lab.member();
    const who = await signedIn(lab, { account: own.account });
    await lab.store.accounts.set(own.account.id, { status: 'suspended' });
    const { status, json } = await verify('a@good.com', 'mx', who, own.account);
    expect([status, json.code]).toEqual([403, 'account_suspended']);
    expect((await who.call('GET', of(own.account))).json.status).toBe('suspended');
  });

  it("applies filters, with the user's IP address as the client's", async () => {
    const own = await lab.member();
    const who = await signedIn(lab, { account: own.account });
    await own.call('POST', '/v1/filters', { value: '127.0.0.0/8' });
    const { json } = await verify('a@good.com', 'mx', who, own.account);
    expect(json.result).toMatchObject({ reason: 'blocked_by_filter', credits_used: 0 });
  });

  it('on disconnect the dialogue ends; the outcome is recorded and charged', async () => {
    const own = await lab.member({ credits: 100 });
    const who = await signedIn(lab, { account: own.account });
    const gone = new AbortController();
    const asked = fetch(lab.url + of(own.account, '/verify'), {
      method: 'POST',
      headers: { cookie: who.cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'good@mute.com', validation_type: 'smtp' }),
      signal: gone.signal,
    });
    const state = async () => (await lab.store.accounts.get(own.account.id))!;
    while ((await state()).locked === 0) await after(5);
    // Wait until the check is waiting for the mail server.
    await after(100);
    gone.abort();
    await expect(asked).rejects.toThrow('aborted');
    // Far less than the ten seconds that the check could have taken.
    const began = performance.now();
    while ((await state()).locked !== 0) await after(5);
    expect(performance.now() - began).toBeLessThan(5000);
    expect((await state()).balance).toBe(99);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});
