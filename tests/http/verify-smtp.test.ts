import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { type Persona, type SmtpLab, startSmtp } from '../lab/smtp.ts';

/** Domain → behaviour of its mail server, and the expected result of an `smtp` request for `good@`. */
const CAST: Record<string, { persona: Persona; local?: string; yields: Record<string, unknown> }> = {
  'plain.com': {
    persona: {},
    yields: {
      status: 'good',
      deliverability: 'deliverable',
      reason: null,
      validation_type: 'smtp',
      credits_used: 10,
      is_catch_all: false,
    },
  },
  'nobody.com': {
    persona: {},
    local: 'unknown',
    yields: {
      status: 'bad',
      deliverability: 'undeliverable',
      reason: 'mailbox_not_found',
      validation_type: 'smtp',
      credits_used: 10,
    },
  },
  'any.com': {
    persona: { mailboxes: ['*'] },
    yields: {
      status: 'good',
      deliverability: 'risky',
      reason: 'catch_all',
      validation_type: 'smtp',
      credits_used: 10,
      is_catch_all: true,
    },
  },
  'full.com': {
    persona: { on: (c) => (c.verb === 'RCPT' ? '552 5.2.2 Mailbox full' : undefined) },
    yields: {
      status: 'bad',
      deliverability: 'undeliverable',
      reason: 'mailbox_full',
      credits_used: 10,
      is_mailbox_full: true,
    },
  },
  'fullnow.com': {
    persona: {
      on: (c) => (c.verb === 'RCPT' ? '452 4.2.2 The email account that you tried to reach is over quota' : undefined),
    },
    yields: {
      status: 'good',
      deliverability: 'risky',
      reason: 'mailbox_full',
      validation_type: 'smtp',
      credits_used: 10,
      is_mailbox_full: true,
    },
  },
  'disabled.com': {
    persona: {
      on: (c) => (c.verb === 'RCPT' ? '550 5.2.1 The email account that you tried to reach is disabled' : undefined),
    },
    yields: { status: 'bad', reason: 'mailbox_disabled', credits_used: 10, is_disabled: true },
  },
  'norelay.com': {
    persona: { on: (c) => (c.verb === 'RCPT' ? '554 5.7.1 <good@norelay.com>: Relay access denied' : undefined) },
    yields: { status: 'bad', deliverability: 'undeliverable', reason: 'relay_denied', credits_used: 10 },
  },
  'grey.com': {
    persona: { on: (c) => (c.verb === 'RCPT' ? '451 4.7.1 Greylisted, please try again in 300 seconds' : undefined) },
    yields: {
      status: 'good',
      deliverability: 'unknown',
      reason: 'greylisted',
      validation_type: 'mx',
      credits_used: 1,
      retry_after: 300,
    },
  },
  'blocks.com': {
    persona: { banner: '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org' },
    yields: {
      status: 'good',
      deliverability: 'unknown',
      reason: 'smtp_blocked',
      validation_type: 'mx',
      credits_used: 1,
    },
  },
  'blocksrcpt.com': {
    persona: {
      on: (c) =>
        c.verb === 'RCPT' ? '550 5.7.1 Client host blocked using Spamhaus; user unknown is not the reason' : undefined,
    },
    yields: {
      status: 'good',
      deliverability: 'unknown',
      reason: 'smtp_blocked',
      validation_type: 'mx',
      credits_used: 1,
    },
  },
  'said.com': {
    persona: {
      on: (c) =>
        c.verb === 'RCPT'
          ? `550 5.2.1 <good@said.com>: the account of GOOD is disabled, see https://said.com/?for=good ${'x'.repeat(400)}`
          : undefined,
    },
    yields: { status: 'bad', deliverability: 'undeliverable', reason: 'mailbox_disabled', validation_type: 'smtp' },
  },
  'busy.com': {
    persona: { banner: '421 4.3.2 Service not available, try later' },
    yields: {
      status: 'good',
      deliverability: 'unknown',
      reason: 'smtp_temporary_failure',
      validation_type: 'mx',
      credits_used: 1,
    },
  },
  'mute.com': {
    persona: { banner: 'silence' },
    yields: {
      status: 'good',
      deliverability: 'unknown',
      reason: 'smtp_timeout',
      validation_type: 'mx',
      credits_used: 1,
    },
  },
};

const DELIVERABLE = { deliverability: 'deliverable', reason: null, validation_type: 'smtp', credits_used: 10 };
const GREYLISTED = { deliverability: 'unknown', reason: 'greylisted', validation_type: 'mx', credits_used: 1 };

/** Domains with mail servers in order of preference, and what is to come of `good@`, in which attempts. */
const WALKS: Record<
  string,
  {
    personas: readonly Persona[];
    local?: string;
    yields: Record<string, unknown>;
    attempts: readonly (string | null)[];
  }
> = {
  'deferring.com': {
    personas: [{ on: (c) => (c.verb === 'RCPT' ? '451 4.3.0 Temporary lookup failure' : undefined) }, {}],
    yields: DELIVERABLE,
    attempts: ['deferred', null],
  },
  'nobody-behind.com': {
    personas: [{ on: (c) => (c.verb === 'RCPT' ? '452 4.3.1 Insufficient system storage' : undefined) }, {}],
    local: 'unknown',
    yields: { deliverability: 'undeliverable', reason: 'mailbox_not_found', credits_used: 10 },
    attempts: ['deferred', null],
  },
  'careless-backup.com': {
    personas: [{ on: (c) => (c.verb === 'RCPT' ? '450 4.7.1 Greylisted' : undefined) }, { mailboxes: ['*'] }],
    yields: GREYLISTED,
    attempts: ['deferred', null],
  },
  'definite.com': {
    personas: [{ mailboxes: [] }, {}],
    yields: { deliverability: 'undeliverable', reason: 'mailbox_not_found', credits_used: 10 },
    attempts: [null],
  },
  'no-pipelining.com': {
    personas: [{ pipelining: 'rejects' }],
    yields: DELIVERABLE,
    attempts: ['without_pipelining', null],
  },
  'utf8-under-tls.com': {
    personas: [{ mailboxes: ['адам'], tls: 'works', capabilitiesUnderTls: ['SMTPUTF8'] }],
    local: 'адам',
    yields: DELIVERABLE,
    attempts: [null],
  },
  'tls-1-2.com': {
    personas: [{ tls: 'works', demandsTls: true, onTls13: 'close' }],
    yields: DELIVERABLE,
    attempts: ['tls_1_2', null],
  },
};

let lab: Lab;
let owner: Member;
const servers: SmtpLab[] = [];

beforeAll(async () => {
  const net: Record<string, object> = {};
  let port = 0;
  for (const [i, [domain, { persona }]] of Object.entries(CAST).entries()) {
    const server = await startSmtp(persona, { address: `127.0.1.${i + 1}`, port });
    port = server.port;
    servers.push(server);
    net[domain] = { MX: [[10, `mx.${domain}`]] };
    net[`mx.${domain}`] = { A: [server.address] };
  }
  for (const [i, [domain, { personas }]] of Object.entries(WALKS).entries()) {
    const hosts = personas.map((persona, n) => ({
      persona,
      host: `mx${n + 1}.${domain}`,
      address: `127.0.3.${2 * i + n + 1}`,
    }));
    net[domain] = { MX: hosts.map(({ host }, n) => [10 * (n + 1), host]) };
    for (const { persona, host, address } of hosts) {
      servers.push(await startSmtp(persona, { address, port }));
      net[host] = { A: [address] };
    }
  }
  net['closed.com'] = { MX: [[10, 'mx.closed.com']] };
  net['mx.closed.com'] = { A: ['127.0.2.1'] };
  lab = await startLab(
    { MAILVET_SMTP_PORT: String(port), MAILVET_SMTP_RATE_PER_OPERATOR: '0', MAILVET_SMTP_BREAKER_SECONDS: '0' },
    { net },
  );
  owner = await lab.member({ credits: 10_000, rateLimit: 100_000 });
});
afterAll(async () => {
  await lab.close();
  await Promise.all(servers.map((s) => s.close()));
});

const balance = async (m: Member) => (await lab.store.accounts.get(m.account.id))!.balance;
const smtp = { validation_type: 'smtp', timeout_ms: 4000 };

describe('POST /v1/verify, smtp', () => {
  it('runs the dialogue and the catch-all check for ten credits', async () => {
    const before = await balance(owner);
    const { status, json, headers } = await owner.verify('good@plain.com', smtp);
    expect(status).toBe(200);
    expect(json.checks.smtp).toMatchObject({
      result: 'pass',
      host: 'mx.plain.com',
      stage: 'rcpt',
      code: 250,
      tls: false,
    });
    expect(json.checks.catch_all).toEqual({ result: 'pass', checked_at: expect.any(String) });
    expect(json.evidence).toBe(undefined);
    expect(headers.get('x-credits-remaining')).toBe(String(before - 10));
  });

  it('keeps what the server said, without the address and in 300 characters, for the look-up too', async () => {
    const { checks, id } = (await owner.verify('good@said.com', smtp)).json;
    expect(checks.smtp.message).toMatch(/^<\*\*\*>: the account of \*\*\* is disabled, see https:\/\/said\.com\/ x+$/);
    expect(checks.smtp.message).toHaveLength(300);
    const kept = (await owner.call('GET', `/v1/verifications/${id}`)).json;
    expect(JSON.stringify(kept)).toContain(checks.smtp.message);
    expect((await owner.verify('good@mute.com', smtp)).json.checks.smtp.message).toBe(null);
  });

  it('says when the server answered about a random mailbox, which may be before the check', async () => {
    const began = Date.now();
    const first = await owner.verify('good@plain.com', smtp);
    const { checked_at: at } = first.json.checks.catch_all;
    expect(new Date(at).toISOString()).toBe(at);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const reply = await owner.call('POST', '/v1/verify?evidence=1', { email: 'other@plain.com', ...smtp });
    const { checks, evidence, verified_at, id } = reply.json;
    // One that does not exist has no answer about a random mailbox.
    expect(checks.catch_all).toEqual({ result: 'skipped' });
    expect(evidence.catch_all).toBe(null);
    const again = (await owner.call('POST', '/v1/verify?evidence=1', { email: 'good@plain.com', ...smtp })).json;
    expect(again.checks.catch_all).toEqual({ result: 'pass', checked_at: at });
    expect(again.evidence.catch_all).toEqual({ result: 'pass', checked_at: at, cached: true, why: null });
    expect(again.evidence.smtp.transcript.map((line: { text: string }) => line.text).join('\n')).toContain(at);
    expect(Date.parse(again.verified_at) - Date.parse(at)).toBeGreaterThanOrEqual(20);
    expect(Date.parse(at)).toBeGreaterThanOrEqual(began - 60_000);
    expect(verified_at > at).toBe(true);
    // As it is stored, whoever reads it and when.
    const stored = await lab.store.verifications.get(owner.account.id, again.id);
    expect(JSON.parse(stored?.body ?? '').checks.catch_all.checked_at).toBe(at);
    expect(id).not.toBe(again.id);
  });

  it.each(Object.entries(CAST))('%s', async (domain, { local = 'good', yields }) => {
    const before = await balance(owner);
    const { status, json } = await owner.verify(`${local}@${domain}`, smtp);
    expect(status).toBe(200);
    expect(json).toMatchObject(yields);
    expect(await balance(owner)).toBe(before - json.credits_used);
    expect((await lab.store.accounts.get(owner.account.id))!.locked).toBe(0);
  });

  it.each(Object.entries(WALKS))('%s says which hosts were asked, and why', async (domain, walk) => {
    const { local = 'good', yields, attempts } = walk;
    const { json } = await owner.call('POST', '/v1/verify?evidence=1', { email: `${local}@${domain}`, ...smtp });
    expect(json).toMatchObject(yields);
    const asked: { host: string; next: string | null }[] = json.evidence.smtp.attempts;
    expect(asked.map(({ next }) => next)).toEqual(attempts);
    expect(asked.at(-1)?.host).toBe(`mx${walk.personas.length > 1 && attempts.length > 1 ? 2 : 1}.${domain}`);
  });

  it('a closed port is smtp_unreachable, good and billed as mx', async () => {
    const { json } = await owner.verify('good@closed.com', smtp);
    expect(json).toMatchObject({ status: 'good', reason: 'smtp_unreachable', validation_type: 'mx', credits_used: 1 });
  });

  it('?evidence=1 adds the transcript and the deciding rule', async () => {
    const { json } = await owner.call('POST', '/v1/verify?evidence=1', { email: 'unknown@nobody.com', ...smtp });
    expect(json.evidence.smtp).toMatchObject({ rule: json.checks.smtp.rule, decided_by: 'rule' });
    expect(json.evidence.smtp.probability).toBeGreaterThan(0.5);
    expect(json.evidence.mail_hosts[0]).toMatchObject({
      host: 'mx.nobody.com',
      addresses: [expect.stringMatching(/^127\.0\.1\./)],
    });
    const said = json.evidence.smtp.transcript.map((line: { text: string }) => line.text).join('\n');
    expect(said).toMatch(/RCPT TO:<\*\*\*@nobody\.com>/);
    expect(said).toMatch(/550 5\.1\.1/);
    expect(said).not.toContain(owner.key);
  });

  it('holds 10 credits during the check, and rejects requests without enough credits', async () => {
    const poor = await lab.member({ credits: 15 });
    const first = poor.verify('good@mute.com', { ...smtp, timeout_ms: 1500 });
    while ((await lab.store.accounts.get(poor.account.id))!.locked === 0) await after(5);
    expect(await lab.store.accounts.get(poor.account.id)).toMatchObject({ balance: 5, locked: 10 });
    const usage = await poor.call('GET', '/v1/usage');
    expect(usage.json.credits).toMatchObject({ total: 15, locked: 10, remaining: 5 });
    expect((await poor.verify('good@plain.com', smtp)).json.code).toBe('insufficient_credits');
    expect((await first).json).toMatchObject({ reason: 'smtp_timeout', credits_used: 1 });
    expect(await lab.store.accounts.get(poor.account.id)).toMatchObject({ balance: 14, locked: 0 });
  });

  it('on client disconnect it sends QUIT, records the outcome and charges exactly', async () => {
    const gone = await lab.member({ credits: 100 });
    const { hostname, port } = new URL(lab.url);
    const body = JSON.stringify({ email: 'good@mute.com', validation_type: 'smtp', timeout_ms: 30_000 });
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gone.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
    while ((await lab.store.accounts.get(gone.account.id))!.locked === 0) await after(5);
    await after(100);
    socket.destroy();
    while ((await lab.store.accounts.get(gone.account.id))!.locked !== 0) await after(5);
    const { items, total } = await lab.store.verifications.list(gone.account.id, { offset: 0, limit: 10 });
    expect(total).toBe(1);
    expect(items[0]).toMatchObject({ requested: 'smtp', validationType: 'mx', credits: 1 });
    expect(await balance(gone)).toBe(99);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});
