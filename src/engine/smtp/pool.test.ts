import { afterEach, describe, expect, it, vi } from 'vitest';
import { ask, labCheck, labEgresses, labHosts } from '../../../tests/lab/mailbox.ts';
import { type Persona, type SmtpLab, startSmtp } from '../../../tests/lab/smtp.ts';
import { systemClock } from '../../kernel/clock.ts';
import { SMTP_LIMITS } from './limits.ts';

const labs: SmtpLab[] = [];
afterEach(async () => {
  for (const lab of labs.splice(0)) await lab.close();
});
async function server(persona: Persona = {}, where: { address?: string; port?: number } = {}): Promise<SmtpLab> {
  const lab = await startSmtp(persona, where);
  labs.push(lab);
  return lab;
}
const everybody = (n: number) => Array.from({ length: n }, (_, i) => `${i % 3 === 0 ? 'nobody' : 'good'}${i}@x.test`);
const good = Array.from({ length: 200 }, (_, i) => `good${i}`);

describe('sessions shared by the recipients of one set of hosts', () => {
  it.each([
    [['PIPELINING']],
    [[]],
  ])('serve a list in few of them, bounded, with the right answers (%j)', async (capabilities) => {
    const lab = await server({ capabilities, mailboxes: good });
    const check = labCheck(lab.port, { connectionsPerHost: 2 });
    const emails = everybody(90);
    const found = await Promise.all(emails.map((email) => ask(check, { email })));
    await check.close();
    found.forEach(({ smtp }, i) => {
      expect(smtp.finding, emails[i]).toBe(i % 3 === 0 ? 'mailbox_not_found' : 'accepted');
    });
    await lab.idle();
    expect(lab.mostOpen).toBe(2);
    expect(lab.connections.length).toBeLessThan(20);
    for (const { commands } of lab.connections) {
      const verbs = commands.map(({ verb }) => verb);
      expect(verbs.filter((verb) => verb === 'RCPT').length).toBeLessThanOrEqual(SMTP_LIMITS.recipientsPerSession);
      expect(verbs.filter((verb) => verb === 'RSET').length).toBe(verbs.filter((verb) => verb === 'MAIL').length - 1);
      expect(verbs.at(-1)).toBe('QUIT');
      expect(verbs).not.toContain('DATA');
    }
    // The domain was probed at most once per session.
    const probes = lab.commands.filter(({ verb, path }) => verb === 'RCPT' && !emails.includes(path));
    expect(probes.length).toBeLessThanOrEqual(2);
    expect(check.stats()).toMatchObject({ open: 0, sessions: 0, idle: 0, waiting: 0 });
  });

  it('are not shared with other hosts, though the operator is the same', async () => {
    const lab = await server();
    const check = labCheck(lab.port, { connectionsPerHost: 1 });
    const hosts = ['mx1.o.test', 'mx2.o.test', 'mx3.o.test'];
    await Promise.all(hosts.map((host) => ask(check, { dns: labHosts({ [host]: ['127.0.0.1'] }) })));
    expect(lab.connections).toHaveLength(3);
  });

  it('are replaced when an idle one was closed', async () => {
    const lab = await server({
      on: ({ verb }, { commands }) => (verb === 'RSET' && commands.length > 3 ? 'drop' : undefined),
    });
    const check = labCheck(lab.port, { connectionsPerHost: 1 });
    const found = await Promise.all(
      ['good@x.test', 'good@x.test', 'good@x.test'].map((email) => ask(check, { email })),
    );
    expect(found.map(({ smtp }) => smtp.finding)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(lab.connections).toHaveLength(3);
    await check.close();
  });

  it('are with one local address for each domain', async () => {
    const lab = await server();
    const check = labCheck(lab.port, { egresses: labEgresses(['127.0.0.2', '127.0.0.3', '::1']) });
    const domains = Array.from({ length: 12 }, (_, i) => `d${i}.test`);
    const asked = await Promise.all([...domains, ...domains].map((d) => ask(check, { email: `good@${d}` })));
    const first = asked.slice(0, domains.length).map(({ smtp }) => smtp.egress);
    expect(asked.map(({ smtp }) => smtp.egress)).toEqual([...first, ...first]);
    for (const { connection, path } of lab.commands.filter(({ verb }) => verb === 'RCPT'))
      expect(lab.connections[connection]?.from).toBe(first[domains.indexOf(path.slice(path.indexOf('@') + 1))]);
    expect(new Set(first)).toEqual(new Set(['127.0.0.2', '127.0.0.3']));
  });
});

describe('isolation of operators', () => {
  it('does not dial an operator that rejected our IP, and reports it immediately', async () => {
    const lab = await server({ banner: '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org' });
    const check = labCheck(lab.port, { breakerSeconds: 60 });
    const dns = labHosts({ 'mx1.o.test': ['127.0.0.1'], 'mx2.o.test': ['127.0.0.1'] });
    expect((await ask(check, { dns })).smtp).toMatchObject({ finding: 'smtp_blocked', code: 554 });
    expect(lab.connections).toHaveLength(2);
    const again = await ask(check, { dns, email: 'else@x.test' });
    expect(again.smtp).toMatchObject({
      finding: 'smtp_blocked',
      rule: 'pace.breaker',
      host: null,
      retryAfterSeconds: 60,
    });
    expect(lab.connections).toHaveLength(2);
  });

  it('leaves a domain alone that rejected our IP for its recipient, and goes on with the others of the operator', async () => {
    const byRule = (domain: string) =>
      `550 5.7.1 Client host [127.0.0.1] blocked by ${domain} using Customer Block list`;
    const refusing = new Set(['a.test', 'c.test']);
    const lab = await server({
      mailboxes: ['*'],
      on: ({ verb, path }) => {
        const domain = path.slice(path.indexOf('@') + 1);
        return verb === 'RCPT' && refusing.has(domain) ? byRule(domain) : undefined;
      },
    });
    const check = labCheck(lab.port, { breakerSeconds: 60 });
    const rcpts = () => lab.commands.filter(({ verb }) => verb === 'RCPT').length;
    const about = async (email: string) => (await ask(check, { email })).smtp;
    expect(await about('one@a.test')).toMatchObject({ finding: 'smtp_blocked', code: 550 });
    expect(await about('two@sub.a.test')).toMatchObject({ rule: 'pace.breaker', host: null, retryAfterSeconds: 60 });
    expect(rcpts()).toBe(1);
    for (const domain of ['b.test', 'c.test', 'd.test', 'e.test', 'f.test']) {
      const finding = refusing.has(domain) ? 'smtp_blocked' : 'accepted';
      expect(await about(`one@${domain}`), domain).toMatchObject({ finding });
    }
    // Three in a row speak for the operator.
    for (const domain of ['g.test', 'h.test', 'i.test']) refusing.add(domain);
    for (const domain of ['g.test', 'h.test', 'i.test'])
      expect(await about(`one@${domain}`), domain).toMatchObject({ finding: 'smtp_blocked', code: 550 });
    expect(await about('one@j.test')).toMatchObject({ rule: 'pace.breaker', host: null });
  });

  it.each([
    '450 4.1.1 <one@a.test>: Recipient address rejected: undeliverable address: connect to 10.0.0.5[10.0.0.5]:25: Connection refused',
    '450 4.1.1 <one@a.test>: Recipient address rejected: undeliverable address: host b.test[10.0.0.5] refused to talk to me: 421 busy',
    '451 10.0.0.5 [10.0.0.5] : Connection refused',
    '451 4.3.0 policy service connection refused',
    '450 4.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org',
    '421 4.7.0 Your IP 127.0.0.1 is blocked',
  ])('asks about the next recipient of a domain that replied %s', async (reply) => {
    const lab = await server({
      mailboxes: ['*'],
      on: ({ verb, path }) => (verb === 'RCPT' && path.startsWith('one@') ? reply : undefined),
    });
    const check = labCheck(lab.port, { breakerSeconds: 60 });
    const about = async (email: string) => (await ask(check, { email })).smtp;
    for (const domain of ['a.test', 'b.test', 'c.test', 'd.test'])
      expect(await about(`one@${domain}`)).toMatchObject({ code: Number(reply.slice(0, 3)) });
    expect(await about('two@a.test')).toMatchObject({ finding: 'accepted', code: 250 });
  });

  it('does not hold against a provider what another mail host of the same domain replies', async () => {
    const lab = await server({ banner: '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org' });
    await server({ mailboxes: ['*'] }, { address: '127.0.0.2', port: lab.port });
    const check = labCheck(lab.port, { breakerSeconds: 60 });
    const hostile = labHosts({ 'no-such-host.google.com': [], 'mx.hostile.test': ['127.0.0.1'] }, 'google');
    expect((await ask(check, { dns: hostile, email: 'one@hostile.test' })).smtp.finding).toBe('smtp_blocked');
    const dns = labHosts({ 'aspmx.l.google.com': ['127.0.0.2'] }, 'google');
    expect((await ask(check, { dns })).smtp.finding).toBe('accepted');
  });

  it('keeps the rate limit, and rejects immediately what cannot be served in time', async () => {
    const lab = await server({ mailboxes: ['*'] });
    const check = labCheck(lab.port, { ratePerOperator: 0.2 });
    expect((await ask(check, { email: 'a@x.test' })).smtp.finding).toBe('accepted');
    await lab.idle();
    const begun = systemClock.elapsed();
    const { smtp } = await ask(check, { email: 'b@x.test', ms: 2_000 });
    expect(smtp).toMatchObject({ finding: 'smtp_timeout', rule: 'pace.deadline', retryAfterSeconds: 5 });
    expect(systemClock.elapsed() - begun).toBeLessThan(2_000);
    expect(lab.connections).toHaveLength(1);
  });

  it('begins nothing after the time for it, and gives what it began the time for the answer', async () => {
    const gate = Promise.withResolvers<void>();
    const lab = await server({
      mailboxes: ['*'],
      hold: ({ verb }) => (verb === 'RCPT' ? gate.promise : Promise.resolve()),
    });
    const check = labCheck(lab.port, { connectionsPerHost: 1 });
    const of = (name: string) => ({
      email: `one@${name}`,
      dns: labHosts({ [`mx1.${name}`]: ['127.0.0.1'], [`mx2.${name}`]: [] }),
    });
    const first = ask(check, { ...of('a.test'), startMs: 50 });
    await vi.waitUntil(() => lab.verbs().includes('RCPT'));
    const second = ask(check, { ...of('b.test'), startMs: 50, ms: 60_000 });
    const third = ask(check, { ...of('c.test'), startMs: 60_000, ms: 70_000 });
    expect((await second).smtp).toMatchObject({ rule: 'pace.deadline', decidedBy: 'throttle', host: null });
    gate.resolve();
    expect((await first).smtp).toMatchObject({ finding: 'accepted' });
    expect((await third).smtp).toMatchObject({ finding: 'accepted' });
    await check.close();
  });

  it('a tarpit delays only its own checks', async () => {
    const normal = await server({}, { address: '127.0.0.2' });
    const persona: Persona = { on: ({ verb }) => (verb === 'RCPT' ? 'silence' : undefined) };
    const tarpits = [];
    for (let i = 0; i < 4; i++) tarpits.push(await server(persona, { address: `127.0.${i}.9`, port: normal.port }));
    const check = labCheck(normal.port, { connectionsPerHost: 3 });
    const gone = new AbortController();
    const slow = Array.from({ length: 40 }, (_, i) =>
      ask(check, {
        dns: labHosts({ [`mx.slow${i % 4}.test`]: [`127.0.${i % 4}.9`] }),
        email: `u${i}@x.test`,
        ms: 60_000,
        signal: gone.signal,
      }),
    );
    const dns = labHosts({ 'mx.fast.test': ['127.0.0.2'] });
    const fast = await Promise.all(Array.from({ length: 40 }, () => ask(check, { dns })));
    expect(fast.every(({ smtp }) => smtp.finding === 'accepted')).toBe(true);
    expect(tarpits.map(({ mostOpen }) => mostOpen)).toEqual([3, 3, 3, 3]);
    expect(normal.mostOpen).toBeLessThanOrEqual(3);
    gone.abort();
    await check.close();
    const ended = await Promise.all(slow);
    expect(ended.every(({ smtp }) => smtp.finding === 'smtp_timeout')).toBe(true);
    await Promise.all([...tarpits, normal].map((one) => one.idle()));
    for (const { commands } of tarpits.flatMap(({ connections }) => connections))
      expect(commands.at(-1)?.verb).toBe('QUIT');
    expect(check.stats()).toMatchObject({ open: 0, waiting: 0 });
  });
});
