import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, labCheck, labEgresses, labHosts } from '../../../tests/lab/mailbox.ts';
import { type Persona, type SmtpLab, startSmtp } from '../../../tests/lab/smtp.ts';
import { type SocksLab, type SocksSetup, startSocks } from '../../../tests/lab/socks.ts';
import type { SocksServer } from '../../kernel/egress.ts';
import { probeGreeting } from './connectivity-probe.ts';
import type { MailboxCheck, MailboxCheckOptions } from './mailbox.ts';

const SECRET = 'only-the-relay-knows';
const CREDENTIALS = { user: 'probe', password: SECRET };
const CA = readFileSync(new URL('../../../tests/lab/certificate/socks.pem', import.meta.url), 'utf8');
const LIMITS = { connectMs: 400, tlsMs: 400, socksGreetingMs: 400, socksRequestMs: 400 };

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
const opened = <T extends { close(): Promise<unknown> }>(one: T): T => {
  open.push(one);
  return one;
};

interface Lab {
  readonly mail: SmtpLab;
  readonly socks: SocksLab;
  readonly check: MailboxCheck;
}

const serverAt = ({ address, port }: SocksLab, more: Partial<SocksServer> = {}): SocksServer => ({
  host: address,
  port,
  tls: false,
  ca: null,
  credentials: () => null,
  ...more,
});

async function lab(
  setup: SocksSetup = {},
  {
    persona = {},
    via = {},
    options = {},
  }: { persona?: Persona; via?: Partial<SocksServer>; options?: Partial<MailboxCheckOptions> } = {},
): Promise<Lab> {
  const mail = opened(await startSmtp(persona, { address: '127.0.5.1' }));
  const socks = opened(await startSocks({ from: '127.0.9.7', ...setup }));
  const egresses = labEgresses([], { name: 'vps-2', helo: 'probe2.example.com', via: serverAt(socks, via) });
  const check = opened(labCheck(mail.port, { egresses, limits: LIMITS, ...options }));
  return { mail, socks, check };
}
const DNS = labHosts({ 'mx.example.test': ['127.0.5.1'] });
/** Everything that leaves the engine. */
const outside = ({ smtp }: { smtp: { transcript: { lines: readonly unknown[] } } }) =>
  JSON.stringify({ ...smtp, transcript: smtp.transcript.lines });

describe('a SOCKS server', () => {
  it('is given the IP address that was checked, and mail servers see where it connects from', async () => {
    const { mail, socks, check } = await lab({ credentials: CREDENTIALS }, { via: { credentials: () => CREDENTIALS } });
    const answer = await ask(check, { email: 'good@example.test', dns: DNS });
    expect(answer.smtp).toMatchObject({ finding: 'accepted', egress: 'vps-2', host: 'mx.example.test' });
    expect(socks.requests).toEqual([{ atyp: 1, host: '127.0.5.1', port: mail.port }]);
    expect(mail.connections.map(({ from }) => from)).toEqual(['127.0.9.7']);
    expect(mail.commands[0]?.line).toBe('EHLO probe2.example.com');
    expect(mail.verbs()).not.toContain('DATA');
    expect(outside(answer)).not.toMatch(new RegExp(`${SECRET}|127\\.0\\.0\\.1`));
    await mail.idle();
    expect(mail.verbs().at(-1)).toBe('QUIT');
    expect(socks.open).toBe(0);
  });

  it('may be reached with TLS, and the dialogue may have its own in it', async () => {
    const persona: Persona = { tls: 'works', demandsTls: true, capabilities: ['PIPELINING', 'STARTTLS'] };
    const { check } = await lab({ tls: true }, { persona, via: { tls: true, ca: CA } });
    const { smtp } = await ask(check, { email: 'good@example.test', dns: DNS });
    expect(smtp).toMatchObject({ finding: 'accepted', tls: true });
  });

  it('resumes the TLS session of the connection before', async () => {
    const { socks, check } = await lab({ tls: true }, { via: { tls: true, ca: CA } });
    for (const email of ['good@example.test', 'none@example.test']) await ask(check, { email, dns: DNS });
    expect([socks.connections, socks.resumed]).toEqual([2, 1]);
  });

  it('whose certificate nobody trusts gets no credentials, however often it is tried', async () => {
    const { socks, check } = await lab({ tls: true }, { via: { tls: true, credentials: () => CREDENTIALS } });
    for (const email of ['a@example.test', 'b@example.test'])
      expect((await ask(check, { email, dns: DNS })).smtp).toMatchObject({ rule: 'egress.proxy_failed' });
    expect([socks.requests, socks.resumed]).toEqual([[], 0]);
  });

  it('is given IPv6 addresses as such', async () => {
    const { socks, check } = await lab({ reply: 4 }, { options: { mayDial: () => true } });
    await ask(check, { dns: labHosts({ 'mx.example.test': ['2001:db8::1:0:25'] }) });
    expect(socks.requests).toMatchObject([{ atyp: 4, host: '2001:0db8:0000:0000:0000:0001:0000:0025' }]);
  });

  it('that names the address it connects from does not make us look it up', async () => {
    const { check } = await lab({ fault: 'names_itself' });
    expect((await ask(check, { email: 'good@example.test', dns: DNS })).smtp.finding).toBe('accepted');
  });

  it.each<[string, SocksSetup, Partial<SocksServer>]>([
    ['hangs at its greeting', { fault: 'hangs_at_greeting' }, {}],
    [
      'hangs at the credentials',
      { fault: 'hangs_at_credentials', credentials: CREDENTIALS },
      { credentials: () => CREDENTIALS },
    ],
    ['hangs at the request', { fault: 'hangs_at_request' }, {}],
    ['hangs at the TLS handshake', {}, { tls: true, ca: CA }],
    ['sends half a reply', { fault: 'half_a_reply' }, {}],
    ['takes no method', { fault: 'takes_no_method' }, {}],
    ['is no SOCKS server', { fault: 'speaks_http' }, {}],
    ['fails (REP 1)', { reply: 1 }, {}],
    ['does not allow it (REP 2)', { reply: 2 }, {}],
    ['knows no CONNECT (REP 7)', { reply: 7 }, {}],
    ['knows no such address (REP 8)', { reply: 8 }, {}],
    ['has a reply of its own', { reply: 99 }, {}],
    [
      'rejects the password',
      { credentials: CREDENTIALS },
      { credentials: () => ({ ...CREDENTIALS, password: 'wrong' }) },
    ],
    ['wants a password', { credentials: CREDENTIALS }, {}],
  ])('that %s says nothing about the mailbox and the mail host', async (_, setup, via) => {
    const { mail, socks, check } = await lab(setup, { via });
    const answer = await ask(check, { dns: DNS, ms: 5_000 });
    expect(answer.smtp).toMatchObject({
      finding: 'smtp_unreachable',
      rule: 'egress.proxy_failed',
      stage: 'connect',
      code: null,
      egress: 'vps-2',
      decidedBy: 'dialogue',
    });
    expect(answer.catchAll.result).toBe('skipped');
    expect(mail.connections).toEqual([]);
    expect(outside(answer)).not.toMatch(new RegExp(`${SECRET}|wrong|127\\.0\\.0\\.1`));
    await expect.poll(() => socks.open).toBe(0);
  });

  it('that cannot be reached, and one that takes all the time there is, are to blame themselves', async () => {
    const gone = await lab();
    await gone.socks.close();
    const failed = { finding: 'smtp_unreachable', rule: 'egress.proxy_failed' };
    expect((await ask(gone.check, { dns: DNS })).smtp).toMatchObject(failed);
    const slow = await lab({ fault: 'hangs_at_request' }, { options: { limits: {} } });
    expect((await ask(slow.check, { dns: DNS, ms: 500 })).smtp).toMatchObject(failed);
  });

  it.each([3, 4, 5, 6])('that cannot reach the mail server (REP %d) is believed', async (reply) => {
    const { check } = await lab({ reply });
    const { smtp } = await ask(check, { dns: DNS });
    expect(smtp).toMatchObject({ finding: 'smtp_unreachable', rule: 'dialogue.unreachable', host: 'mx.example.test' });
  });

  it('that fails at one mail host is asked for the next one', async () => {
    const { socks, check } = await lab({ reply: 1 });
    await ask(check, { dns: labHosts({ 'mx1.example.test': ['127.0.5.1'], 'mx2.example.test': ['127.0.5.2'] }) });
    expect(socks.requests.map(({ host }) => host)).toEqual(['127.0.5.1', '127.0.5.2']);
  });

  it('that dies in the dialogue, or floods, leaves no verdict on the mailbox', async () => {
    const dying = await lab({ fault: 'dies_in_dialogue' });
    expect((await ask(dying.check, { dns: DNS })).smtp).toMatchObject({ finding: 'smtp_temporary_failure' });
    const flooding = await lab({ fault: 'floods' });
    expect((await ask(flooding.check, { dns: DNS })).smtp).toMatchObject({ rule: 'dialogue.violation' });
    await expect.poll(() => flooding.socks.open).toBe(0);
  });

  it('is let go when the caller goes away', async () => {
    const { socks, check } = await lab({ fault: 'hangs_at_request' }, { options: { limits: {} } });
    const abort = new AbortController();
    const answer = ask(check, { dns: DNS, signal: abort.signal });
    await expect.poll(() => socks.requests.length).toBe(1);
    abort.abort();
    expect((await answer).smtp.decidedBy).toBe('cancelled');
    await expect.poll(() => [socks.open, check.stats().open]).toEqual([0, 0]);
  });

  it('is used by the connectivity probe as well', async () => {
    const { mail, socks } = await lab();
    const probe = () =>
      probeGreeting('127.0.5.1', mail.port, 'probe.example.com', {
        withinMs: 2_000,
        mayDial: () => true,
        egress: { bind: null, via: serverAt(socks) },
      });
    expect(await probe()).toMatchObject({ connected: true, code: 250, error: null, proxyError: null });
    expect(mail.connections.map(({ from }) => from)).toEqual(['127.0.9.7']);
    socks.behave({ reply: 5 });
    expect(await probe()).toMatchObject({ connected: false, error: 'SOCKS reply ConnectionRefused', proxyError: null });
    socks.behave({ reply: 2 });
    expect(await probe()).toMatchObject({ connected: false, proxyError: 'SOCKS reply NotAllowed' });
  });
});

describe('a relay of ours', () => {
  const relay = (setup: SocksSetup = {}, more: Parameters<typeof lab>[1] = {}) =>
    lab({ credentials: CREDENTIALS, streams: true, ...setup }, { via: { credentials: () => CREDENTIALS }, ...more });
  const many = (check: MailboxCheck, count: number) =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const { smtp } = await ask(check, { email: `${i % 2 === 0 ? 'good' : 'none'}@d${i}.test`, dns: DNS });
        return smtp.finding;
      }),
    );

  it('has one connection for all dialogues, each of which is its own for the mail server', async () => {
    const { mail, socks, check } = await relay({}, { options: { connectionsPerHost: 20 } });
    const found = await many(check, 20);
    expect(found).toEqual(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'accepted' : 'mailbox_not_found')));
    expect(mail.connections.length).toBeGreaterThan(1);
    expect(new Set(mail.connections.map(({ from }) => from))).toEqual(new Set(['127.0.9.7']));
    expect(new Set(socks.requests.map(({ atyp, host }) => `${atyp} ${host}`))).toEqual(new Set(['1 127.0.5.1']));
    await mail.idle();
    expect(socks.connections).toBe(1);
  });

  it('may be reached with TLS, and a dialogue may have its own in it', async () => {
    const persona: Persona = { tls: 'works', demandsTls: true, capabilities: ['PIPELINING', 'STARTTLS'] };
    const via = { tls: true, ca: CA, credentials: () => CREDENTIALS };
    const { socks, check } = await relay({ tls: true }, { persona, via });
    for (const email of ['good@a.test', 'good@b.test'])
      expect((await ask(check, { email, dns: DNS })).smtp).toMatchObject({ finding: 'accepted', tls: true });
    expect(socks.connections).toBe(1);
  });

  it.each<[string, SocksSetup]>([
    ['hangs at its greeting', { fault: 'hangs_at_greeting' }],
    ['hangs at the credentials', { fault: 'hangs_at_credentials' }],
    ['hangs at the request', { fault: 'hangs_at_request' }],
    ['sends half a reply', { fault: 'half_a_reply' }],
    ['sends something else than frames', { fault: 'speaks_no_frames' }],
    ['sends data before its reply', { fault: 'speaks_too_early' }],
    ['closes without a reply', { fault: 'closes_at_request' }],
    ['fails (REP 1)', { reply: 1 }],
    ['does not allow it (REP 2)', { reply: 2 }],
    ['has a reply of its own', { reply: 99 }],
    ['rejects the password', { credentials: { ...CREDENTIALS, password: 'another' } }],
  ])('that %s says nothing about the mailbox and the mail host', async (_, setup) => {
    const { mail, check } = await relay(setup);
    const answer = await ask(check, { dns: DNS, ms: 5_000 });
    expect(answer.smtp).toMatchObject({ finding: 'smtp_unreachable', rule: 'egress.proxy_failed', code: null });
    expect(mail.connections).toEqual([]);
    expect(outside(answer)).not.toMatch(new RegExp(`${SECRET}|another|127\\.0\\.0\\.1`));
    expect(check.stats().open).toBe(0);
  });

  it.each([3, 4, 5, 6])('that cannot reach the mail server (REP %d) is believed', async (reply) => {
    const { check } = await relay({ reply });
    expect((await ask(check, { dns: DNS })).smtp).toMatchObject({ rule: 'dialogue.unreachable' });
  });

  it('that dies in the dialogue leaves no verdict on the mailbox, and the next check dials it again', async () => {
    const { socks, check } = await relay();
    socks.behave({ fault: 'dies_in_dialogue' });
    expect((await ask(check, { dns: DNS })).smtp).toMatchObject({ finding: 'smtp_temporary_failure' });
    const dialled = socks.connections;
    socks.behave({});
    expect((await ask(check, { email: 'good@example.test', dns: DNS })).smtp.finding).toBe('accepted');
    expect(socks.connections).toBe(dialled + 1);
  });

  it('that floods a dialogue ends that one, and goes on for so long only', async () => {
    const { socks, check } = await relay({ fault: 'floods' });
    expect((await ask(check, { dns: DNS })).smtp).toMatchObject({ rule: 'dialogue.violation' });
    await expect.poll(() => socks.open, { timeout: 10_000 }).toBe(0);
  });

  it('that takes no more dialogues on a connection gets the next one on another', async () => {
    const { socks, check } = await relay();
    const one = async () => (await ask(check, { email: 'good@example.test', dns: DNS })).smtp.finding;
    expect(await one()).toBe('accepted');
    socks.retire();
    await expect.poll(() => socks.open).toBe(0);
    expect([await one(), socks.connections]).toEqual(['accepted', 2]);
  });

  it('that closes a connection just when it is to be used again is asked on a new one, once', async () => {
    const { socks, check } = await relay();
    await ask(check, { email: 'good@example.test', dns: DNS });
    socks.behave({ fault: 'closes_at_request' });
    expect((await ask(check, { dns: DNS })).smtp.rule).toBe('egress.proxy_failed');
    expect([socks.connections, socks.requests.length]).toEqual([2, 3]);
  });

  it('that has become silent is not used any more', async () => {
    const { mail, socks, check } = await relay();
    await ask(check, { email: 'good@example.test', dns: DNS });
    await mail.idle();
    await pause(100);
    socks.behave({ fault: 'hangs_at_request' });
    expect((await ask(check, { dns: DNS })).smtp.rule).toBe('egress.proxy_failed');
    socks.behave({});
    expect((await ask(check, { email: 'good@example.test', dns: DNS })).smtp.finding).toBe('accepted');
    expect(socks.connections).toBe(2);
  });

  it('lets a dialogue go when the caller goes away', async () => {
    const { mail, socks, check } = await relay({}, { persona: { hold: () => new Promise(() => {}) } });
    const abort = new AbortController();
    const answer = ask(check, { dns: DNS, signal: abort.signal });
    await expect.poll(() => mail.commands.length).toBe(1);
    abort.abort();
    expect((await answer).smtp.decidedBy).toBe('cancelled');
    await expect.poll(() => [socks.open, check.stats().open]).toEqual([1, 0]);
  });
});

describe('the operators of an egress', () => {
  const google = labHosts({ 'mx.google.com': ['127.0.5.1'] }, 'google');
  const both = labHosts({ 'mx.google.com': ['127.0.5.1'], 'mx.other.test': ['127.0.5.1'] });

  it('only: it is used for these alone; except: for none of them', async () => {
    const mail = opened(await startSmtp({}, { address: '127.0.5.1' }));
    const [a, b] = ['127.0.9.1', '127.0.9.2'].flatMap((bind) => labEgresses([bind]));
    const egresses = [a, b].flatMap((egress, i) =>
      egress === undefined ? [] : { ...egress, operators: i === 0 ? { only: ['google'] } : { except: ['google'] } },
    );
    const check = opened(labCheck(mail.port, { egresses }));
    const from = async (dns: typeof google) => (await ask(check, { dns })).smtp;
    expect((await from(google)).egress).toBe('127.0.9.1');
    expect((await from(DNS)).egress).toBe('127.0.9.2');
    const dialled = mail.connections.length;
    expect(await from(both)).toMatchObject({ finding: 'smtp_unverifiable', rule: 'egress.none_for_operator' });
    expect(mail.connections).toHaveLength(dialled);
  });
});

describe('an egress whose SOCKS server fails', () => {
  const domains = Array.from({ length: 12 }, (_, i) => `d${i}.test`);
  const REST_MS = 300;

  async function pair(setup: SocksSetup, breakerSeconds = 0, persona: Persona = {}) {
    const mail = opened(await startSmtp(persona, { address: '127.0.5.1' }));
    const socks = opened(await startSocks({ from: '127.0.9.7', ...setup }));
    const [failing] = labEgresses([], { name: 'failing', via: serverAt(socks) });
    const [other] = labEgresses(['127.0.9.8']);
    const egresses = [failing, other].flatMap((one) => one ?? []);
    const probed: number[] = [];
    const check = opened(
      labCheck(mail.port, {
        egresses,
        breakerSeconds,
        limits: { ...LIMITS, egressRestMs: REST_MS },
        async probeProxy(egress) {
          probed.push(performance.now());
          const options = { withinMs: 1_000, mayDial: () => true, egress };
          const { proxyError } = await probeGreeting('127.0.5.1', mail.port, 'probe.example.com', options);
          return proxyError === null ? 'works' : 'fails';
        },
      }),
    );
    const about = async (domain: string) =>
      (await ask(check, { email: `good@${domain}`, dns: labHosts({ [`mx.${domain}`]: ['127.0.5.1'] }) })).smtp;
    const all = async () => Promise.all(domains.map(async (domain) => ({ domain, ...(await about(domain)) })));
    return { mail, socks, check, about, all, probed };
  }
  const egressesOfAll = (found: readonly { egress: string | null }[]) => new Set(found.map(({ egress }) => egress));

  it('rests after three failures in a row: others take over its share, and it is probed before it returns', async () => {
    const { socks, about, all, probed } = await pair({});
    const before = await all();
    expect(egressesOfAll(before)).toEqual(new Set(['failing', '127.0.9.8']));
    const own = before.filter(({ egress }) => egress === 'failing').map(({ domain }) => domain);
    const [first = ''] = own;
    socks.behave({ fault: 'takes_no_method' });
    for (let i = 0; i < 3; i++) expect((await about(first)).rule).toBe('egress.proxy_failed');
    const dialled = socks.connections;
    const meanwhile = await all();
    expect(egressesOfAll(meanwhile)).toEqual(new Set(['127.0.9.8']));
    expect(new Set(meanwhile.map(({ finding }) => finding))).toEqual(new Set(['accepted']));
    expect(socks.connections).toBe(dialled);
    // The first probe fails as well, so the second rest is twice as long.
    await expect.poll(() => probed.length, { timeout: 5_000 }).toBe(2);
    expect((probed[1] ?? 0) - (probed[0] ?? 0)).toBeGreaterThan(1.8 * REST_MS);
    socks.behave({});
    await expect.poll(async () => (await about(first)).egress, { timeout: 10_000 }).toBe('failing');
    const after = await all();
    expect(after.filter(({ egress }) => egress === 'failing').map(({ domain }) => domain)).toEqual(own);
  });

  it('does not rest because one mail server hangs: a probe reaches others', async () => {
    const { socks, check, about, all, probed } = await pair({});
    const own = (await all()).filter(({ egress }) => egress === 'failing').map(({ domain }) => domain);
    const [hanging = '', fine = ''] = own;
    socks.behave({ silentFor: '127.0.5.9' });
    const dns = labHosts({ [`mx.${hanging}`]: ['127.0.5.9'] });
    for (let i = 0; i < 4; i++)
      expect((await ask(check, { email: `good@${hanging}`, dns })).smtp.rule).toBe('egress.proxy_failed');
    await expect.poll(() => probed.length).toBeGreaterThan(0);
    expect(await about(fine)).toMatchObject({ finding: 'accepted', egress: 'failing' });
  });

  it('rests where it connects to no mail server, as a probe finds', async () => {
    const { socks, about, all } = await pair({});
    const [first = ''] = (await all()).filter(({ egress }) => egress === 'failing').map(({ domain }) => domain);
    socks.behave({ reply: 1 });
    for (let i = 0; i < 3; i++) await about(first);
    await expect.poll(async () => (await about(first)).egress, { timeout: 5_000 }).toBe('127.0.9.8');
  });

  it('leaves the domains of an operator that has refused it to no other one', async () => {
    const refuses = { banner: '554 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org' };
    const persona: Persona = {
      on: ({ verb }, { from }) => (verb === 'EHLO' && from === '127.0.9.7' ? refuses.banner : undefined),
    };
    const { mail, socks, about, all } = await pair({}, 60, persona);
    const found = await all();
    const [refused] = found.filter(({ finding }) => finding === 'smtp_blocked');
    const domain = refused?.domain ?? '';
    expect(refused?.egress).toBe('failing');
    socks.behave({ fault: 'takes_no_method' });
    const dialled = mail.connections.filter(({ from }) => from === '127.0.9.8').length;
    for (let i = 0; i < 5; i++) expect((await about(domain)).finding).not.toBe('accepted');
    expect(mail.connections.filter(({ from }) => from === '127.0.9.8')).toHaveLength(dialled);
  });

  it('is not waited for where there is no other', async () => {
    const { socks, check } = await lab({ fault: 'takes_no_method' });
    for (let i = 0; i < 3; i++) await ask(check, { dns: DNS });
    const { smtp } = await ask(check, { dns: DNS });
    expect(smtp).toMatchObject({
      finding: 'smtp_unreachable',
      rule: 'egress.proxy_failed',
      egress: 'vps-2',
      host: null,
    });
    expect(smtp.retryAfterSeconds).toBeGreaterThan(30);
    expect(socks.connections).toBe(3);
  });
});
