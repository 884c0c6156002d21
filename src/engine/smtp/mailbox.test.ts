import { afterEach, describe, expect, it } from 'vitest';
import { ask, labCheck, labEgresses, labHosts } from '../../../tests/lab/mailbox.ts';
import { type Persona, type SmtpLab, startSmtp } from '../../../tests/lab/smtp.ts';
import { systemClock } from '../../kernel/clock.ts';
import { routable } from '../dns/routable.ts';
import type { MailboxCheck, MailboxCheckOptions } from './mailbox.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const it of open.splice(0)) await it.close();
});

async function server(persona: Persona = {}, where: { address?: string; port?: number } = {}): Promise<SmtpLab> {
  const lab = await startSmtp(persona, where);
  open.push(lab);
  return lab;
}
function checker(port: number, options: Partial<MailboxCheckOptions> = {}): MailboxCheck {
  const check = labCheck(port, options);
  open.unshift(check);
  return check;
}
const rcptOf = (lab: SmtpLab): string[] => lab.commands.filter(({ verb }) => verb === 'RCPT').map(({ path }) => path);

describe('choice of the host', () => {
  it('tries the next one after a refused or dropped connection or a rejection at banner, EHLO or MAIL', async () => {
    const second = await server({}, { address: '127.0.0.2' });
    const { port } = second;
    const failing: Persona[] = [
      { banner: '554 5.3.2 no service' },
      { banner: '421 4.3.2 busy' },
      { banner: 'drop' },
      { on: ({ verb }) => (verb === 'EHLO' || verb === 'HELO' ? '550 5.7.1 no' : undefined) },
      { on: ({ verb }) => (verb === 'MAIL' ? '451 4.3.0 not now' : undefined) },
      { on: ({ verb }) => (verb === 'RCPT' ? 'drop' : undefined), capabilities: [] },
    ];
    const dns = labHosts({ 'mx1.x.test': ['127.0.0.1'], 'mx2.x.test': ['127.0.0.2'] });
    const refused = await ask(checker(port), { dns });
    expect(refused.smtp).toMatchObject({ finding: 'accepted', host: 'mx2.x.test', address: '127.0.0.2' });
    for (const persona of failing) {
      const first = await server(persona, { port });
      const { smtp } = await ask(checker(port), { dns });
      expect(smtp).toMatchObject({ finding: 'accepted', host: 'mx2.x.test' });
      expect(first.connections).toHaveLength(1);
      await first.close();
    }
  });

  it('stops at the first answer about the recipient', async () => {
    const first = await server({ mailboxes: [] });
    const second = await server({}, { address: '127.0.0.2', port: first.port });
    const dns = labHosts({ 'mx1.x.test': ['127.0.0.1'], 'mx2.x.test': ['127.0.0.2'] });
    const { smtp } = await ask(checker(first.port), { dns });
    expect(smtp).toMatchObject({ finding: 'mailbox_not_found', stage: 'rcpt', code: 550, enhancedCode: '5.1.1' });
    expect(second.connections).toEqual([]);
  });

  it('reports the most informative of several failures', async () => {
    const blocking = await server({ banner: '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org' });
    await server({ banner: '421 4.3.2 busy' }, { address: '127.0.0.2', port: blocking.port });
    const dns = labHosts({ 'a.x.test': ['127.0.0.2'], 'b.x.test': ['127.0.0.1'], 'c.x.test': ['127.0.0.3'] });
    const { smtp } = await ask(checker(blocking.port), { dns });
    expect(smtp).toMatchObject({ finding: 'smtp_blocked', host: 'b.x.test', stage: 'banner', code: 554 });
  });

  it('reports a domain as unreachable when all ports are closed', async () => {
    const { port, close } = await startSmtp();
    await close();
    const { smtp, catchAll } = await ask(checker(port), {});
    expect(smtp).toMatchObject({ finding: 'smtp_unreachable', stage: 'connect', code: null });
    expect(catchAll.result).toBe('skipped');
  });

  it('dials only addresses that the guard accepts, never names', async () => {
    const canary = await server();
    const mayDial = (ip: string) => routable(ip, { allowPrivate: false, own: new Set() });
    const check = checker(canary.port, { mayDial });
    const special = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', 'fe80::1%lo', 'localhost'];
    for (const address of special) {
      const { smtp } = await ask(check, { dns: labHosts({ 'mx.x.test': [address] }), ms: 1_000 });
      expect(smtp.finding).toBe('smtp_unreachable');
    }
    expect(canary.connections).toEqual([]);
  });
});

describe('the dialogue', () => {
  it('does not take what a server says of our sender for the recipient', async () => {
    for (const about of ['<verify@verify.mailvet.test>', 'verify.mailvet.test']) {
      const lab = await server({
        on: ({ verb }) => (verb === 'RCPT' ? `550 5.7.1 ${about}: user unknown` : undefined),
      });
      const { smtp } = await ask(checker(lab.port), { email: 'someone@other.test' });
      expect(smtp, about).toMatchObject({ finding: 'smtp_blocked', stage: 'rcpt' });
    }
  });

  it('never uses the domain of the recipient as the sender, and keeps the quotes of a local part', async () => {
    const lab = await server({ mailboxes: ['"a b"'] });
    const check = checker(lab.port);
    await ask(check, { email: '"a b"@verify.mailvet.test' });
    await ask(check, { email: '"a b"@other.test' });
    const mail = lab.commands.filter(({ verb }) => verb === 'MAIL').map(({ line }) => line);
    expect(mail).toEqual(['MAIL FROM:<>', 'MAIL FROM:<verify@verify.mailvet.test>']);
    expect(rcptOf(lab)[0]).toBe('"a b"@verify.mailvet.test');
  });

  it('probes with a different local part of at least 20 characters each time', async () => {
    const lab = await server();
    const check = checker(lab.port);
    for (const domain of ['a.test', 'b.test', 'c.test']) await ask(check, { email: `good@${domain}` });
    const probes = rcptOf(lab).filter((path) => !path.startsWith('good@'));
    expect(new Set(probes).size).toBe(3);
    for (const probe of probes) expect(probe).toMatch(/^[a-z]+\.[a-z]+\d{4}@[abc]\.test$/);
    for (const probe of probes) expect(probe.indexOf('@')).toBeGreaterThanOrEqual(20);
  });

  it('keeps a timed transcript without the checked local part', async () => {
    const lab = await server();
    const { smtp } = await ask(checker(lab.port), { email: 'Jane.Doe@x.test' });
    const text = smtp.transcript.lines.map((line) => `${line.from}: ${line.text}`).join('\n');
    expect(text).toContain('client: RCPT TO:<***@x.test>');
    expect(text).toContain('server: 550 5.1.1 <***@x.test>: Recipient address rejected');
    expect(text.toLowerCase()).not.toContain('jane.doe');
    expect(text).toMatch(/client: QUIT$/);
    const times = smtp.transcript.lines.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it('records the certificate and does not enforce it', async () => {
    const lab = await server({ tls: 'works' });
    const { smtp } = await ask(checker(lab.port, { tls: 'opportunistic' }), {});
    expect(smtp).toMatchObject({ finding: 'accepted', tls: true });
    expect(smtp.transcript.lines.some(({ text }) => /TLSv1\.3 .* mx\.lab\.test .* SHA-256/.test(text))).toBe(true);
    expect(lab.commands.filter(({ tls }) => tls).map(({ verb }) => verb)).toContain('RCPT');
  });

  it('discards what arrives in clear text after the reply to STARTTLS (RFC 3207 §4.2, CVE-2011-0411)', async () => {
    const injected = Buffer.from('220 2.0.0 go ahead\r\n250-injected\r\n250 hal');
    const lab = await server({ tls: 'works', on: ({ verb }) => (verb === 'STARTTLS' ? injected : undefined) });
    const { smtp, catchAll } = await ask(checker(lab.port, { tls: 'opportunistic' }), {});
    expect(smtp).toMatchObject({ finding: 'accepted', tls: true });
    expect(catchAll.result).toBe('pass');
  });

  it.each(['broken', 'refused'] as const)('continues in clear text when TLS is offered but %s', async (tls) => {
    const lab = await server({ tls });
    const { smtp, catchAll } = await ask(checker(lab.port, { tls: 'opportunistic' }), {});
    expect(smtp).toMatchObject({ finding: 'accepted', tls: false });
    expect(catchAll.result).toBe('pass');
    expect(lab.connections).toHaveLength(tls === 'broken' ? 2 : 1);
  });

  it('reuses the random recipient with a server that greylists every recipient', async () => {
    const seen = new Set<string>();
    const lab = await server({
      on: ({ verb, path }) => {
        if (verb !== 'RCPT' || seen.has(path)) return undefined;
        seen.add(path);
        return '450 4.2.0 Greylisted, see http://postgrey.schweikert.ch/help/';
      },
    });
    const check = checker(lab.port);
    expect((await ask(check, {})).smtp.finding).toBe('greylisted');
    expect((await ask(check, {})).catchAll).toMatchObject({ result: 'unknown', why: 'greylisted' });
    expect(await ask(check, {})).toMatchObject({ smtp: { finding: 'accepted' }, catchAll: { result: 'pass' } });
    expect(seen.size).toBe(2);
  });

  it('reports the delay announced by greylisting', async () => {
    const lab = await server({
      on: ({ verb }) => (verb === 'RCPT' ? '450 4.7.1 Greylisted, try again in 5 minutes' : undefined),
    });
    expect((await ask(checker(lab.port), {})).smtp).toMatchObject({ finding: 'greylisted', retryAfterSeconds: 300 });
  });
});

describe('time', () => {
  it('is bounded by the deadline at every stage', async () => {
    for (const verb of ['EHLO', 'MAIL', 'RCPT']) {
      const lab = await server({ capabilities: [], on: (c) => (c.verb === verb ? 'silence' : undefined) });
      const { smtp } = await ask(checker(lab.port), { ms: 150 });
      expect(smtp).toMatchObject({ finding: 'smtp_timeout', stage: verb.toLowerCase() });
      await lab.idle();
      expect(lab.verbs().at(-1)).toBe('QUIT');
    }
  });

  it('sends QUIT immediately when the caller disconnects', async () => {
    const lab = await server({ on: ({ verb }) => (verb === 'RCPT' ? 'silence' : undefined) });
    const gone = new AbortController();
    const asked = ask(checker(lab.port), { ms: 60_000, signal: gone.signal });
    while (!lab.verbs().includes('RCPT')) await new Promise((resolve) => setTimeout(resolve, 5));
    gone.abort();
    const { smtp } = await asked;
    expect(smtp).toMatchObject({ finding: 'smtp_timeout', rule: 'dialogue.cancelled' });
    await lab.idle();
    expect(lab.verbs().at(-1)).toBe('QUIT');
  });
});

describe('catch-all', () => {
  it('is remembered for the egress that was told so, and says nothing of another', async () => {
    const lab = await server({
      on: ({ verb }, { from }) => (verb === 'RCPT' && from === '127.0.0.11' ? '250 2.1.5 as you like' : undefined),
    });
    const check = checker(lab.port, { egresses: labEgresses(['127.0.0.11', '127.0.0.12']) });
    const from = async (egress: string) => (await ask(check, { egress })).catchAll;
    expect(await from('127.0.0.11')).toMatchObject({ result: 'fail', cached: false });
    expect(await from('127.0.0.12')).toMatchObject({ result: 'pass', cached: false });
    expect(await from('127.0.0.11')).toMatchObject({ result: 'fail', cached: true });
    expect(await from('127.0.0.12')).toMatchObject({ result: 'pass', cached: true });
  });

  it('is probed once per domain while cached: 6 hours if not a catch-all, 24 hours if so', async () => {
    let skew = 0;
    const clock = { ...systemClock, now: () => 1_000 + skew, elapsed: () => systemClock.elapsed() + skew };
    for (const [mailboxes, result, hours] of [
      [['good', 'other'], 'pass', 6],
      [['*'], 'fail', 24],
    ] as const) {
      const lab = await server({ mailboxes });
      const check = checker(lab.port, { clock });
      const once = async (email: string) => {
        const limit = { deadlineMs: clock.elapsed() + 5_000, tenant: '' };
        const { labAddress } = await import('../../../tests/lab/mailbox.ts');
        return check.check({ address: labAddress(email), dns: labHosts({ 'mx.x.test': ['127.0.0.1'] }) }, limit);
      };
      const checkedAt = clock.now();
      const answer = { result, why: null, retryAfterSeconds: null, checkedAt };
      expect((await once('good@x.test')).catchAll).toEqual({ ...answer, cached: false });
      skew += hours * 3_600_000 - 60_000;
      const { smtp, catchAll } = await once('other@x.test');
      expect(catchAll).toEqual({ ...answer, cached: true });
      expect(smtp.transcript.lines.map(({ text }) => text).join()).toContain(new Date(checkedAt).toISOString());
      expect(rcptOf(lab)).toHaveLength(3);
      skew += 120_000;
      expect((await once('other@x.test')).catchAll).toEqual({ ...answer, cached: false, checkedAt: clock.now() });
      expect(rcptOf(lab)).toHaveLength(5);
    }
  });

  it('stays unknown, and is probed again, when the probe was rejected for another reason', async () => {
    const lab = await server({
      on: ({ verb, path }) =>
        verb === 'RCPT' && !path.startsWith('good@') ? '451 4.7.1 slow down, try again in 90 seconds' : undefined,
    });
    const check = checker(lab.port);
    for (let i = 0; i < 2; i++) {
      const { smtp, catchAll } = await ask(check, {});
      // The answer to the whole question is to be had when the probe is answered.
      expect(smtp).toMatchObject({ finding: 'accepted', retryAfterSeconds: 90 });
      expect(catchAll).toMatchObject({ result: 'unknown', retryAfterSeconds: 90, cached: false });
    }
    expect(rcptOf(lab)).toHaveLength(4);
  });

  it('is not probed for an operator that accepts every recipient; its rejections count', async () => {
    const lab = await server({
      mailboxes: ['*'],
      on: ({ path }) => (path.startsWith('dead@') ? '554 5.5.0 no account' : undefined),
    });
    const silentOperators = [{ operator: 'yahoo', why: '', source: '' }];
    const classify: MailboxCheckOptions['classify'] = ({ reply }) => ({
      meaning: 'recipient',
      finding: reply.code < 300 ? 'accepted' : 'mailbox_not_found',
      rule: 'test',
      retryAfterSeconds: null,
      readBy: 'rule',
      probability: null,
    });
    const check = checker(lab.port, { silentOperators, classify });
    const dns = labHosts({ 'mx.yahoodns.net': ['127.0.0.1'] }, 'yahoo');
    expect((await ask(check, { dns })).smtp).toMatchObject({
      finding: 'smtp_unverifiable',
      rule: 'operator.accepts_all',
    });
    expect((await ask(check, { dns, email: 'dead@x.test' })).smtp.finding).toBe('mailbox_not_found');
    expect(rcptOf(lab)).toHaveLength(2);
  });

  it('learns that an operator allows one recipient per session', async () => {
    const lab = await server({
      on: ({ verb }, { recipients }) =>
        verb === 'RCPT' && recipients > 0 ? '452 4.5.3 Too many recipients' : undefined,
    });
    const check = checker(lab.port);
    expect((await ask(check, { email: 'good@a.test' })).catchAll.result).toBe('pass');
    expect(lab.connections.map(({ commands }) => commands.filter(({ verb }) => verb === 'RCPT').length)).toEqual([
      3, 1,
    ]);
    expect((await ask(check, { email: 'good@b.test' })).catchAll.result).toBe('pass');
    expect(lab.connections.map(({ commands }) => commands.filter(({ verb }) => verb === 'RCPT').length)).toEqual([
      3, 1, 1, 1,
    ]);
  });
});
