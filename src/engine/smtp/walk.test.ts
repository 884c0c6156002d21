/** From host to host, and the same host once more where a part of the dialogue went wrong. */
import { afterEach, describe, expect, it } from 'vitest';
import { ask, labCheck, labHosts } from '../../../tests/lab/mailbox.ts';
import { type Persona, type SmtpLab, startSmtp } from '../../../tests/lab/smtp.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { SmtpEvidence } from '../evidence.ts';
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

/** Mail servers of one domain, in order of preference, on one port. */
async function hosts(...personas: Persona[]): Promise<SmtpLab[]> {
  const labs: SmtpLab[] = [];
  for (const persona of personas) {
    const where = labs[0] === undefined ? {} : { port: labs[0].port };
    labs.push(await server(persona, { ...where, address: `127.0.0.${labs.length + 1}` }));
  }
  return labs;
}
const NAMES = ['mx1.x.test', 'mx2.x.test', 'mx3.x.test'];
const dnsOf = (labs: readonly SmtpLab[]) =>
  labHosts(Object.fromEntries(labs.map(({ address }, i) => [NAMES[i] ?? '', [address]])));
const portOf = ([first]: readonly SmtpLab[]): number => first?.port ?? 0;

/** `good` is asked about, and gets this reply. */
const says = (line: string | readonly string[], others: Persona = {}): Persona => ({
  ...others,
  on: ({ verb, path }) => (verb === 'RCPT' && path.startsWith('good@') ? line : undefined),
});
const connections = (labs: readonly SmtpLab[]): number[] => labs.map((lab) => lab.connections.length);
const notes = ({ transcript }: SmtpEvidence): string =>
  transcript.lines.flatMap(({ from, text }) => (from === 'note' ? [text] : [])).join('\n');
const steps = ({ attempts }: SmtpEvidence) => attempts.map(({ host, code, next }) => [host, code, next]);

const DEFERRALS = [
  '450 4.7.1 Greylisted, try again',
  '450 4.2.0 <good@example.test>: Recipient address rejected: Greylisted',
  '451 4.7.1 Greylisting in action, please come back later',
  '451 4.3.0 Temporary lookup failure',
  '451 Requested action aborted: local error in processing',
  '452 4.3.1 Insufficient system storage',
  '452 4.5.3 Too many recipients',
  '450 Mailbox busy',
  '421 4.3.2 Service shutting down',
  '421 4.7.0 Greylisted, try again later',
  '432 4.3.2 not accepting mail now',
];

describe('a deferral of the recipient', () => {
  it.each(DEFERRALS)('goes on to the second host: %s', async (reply) => {
    for (const capabilities of [['PIPELINING'], []]) {
      const labs = await hosts(says(reply, { capabilities }), { capabilities });
      const { smtp, catchAll } = await ask(checker(portOf(labs)), { dns: dnsOf(labs) });
      expect(smtp).toMatchObject({ finding: 'accepted', host: 'mx2.x.test' });
      expect(catchAll.result).toBe('pass');
      // An operator that takes too few recipients gets the random one in a session of its own.
      expect(connections(labs)).toEqual([1, reply.includes('Too many') ? 2 : 1]);
      expect(steps(smtp)).toEqual([
        ['mx1.x.test', Number(reply.slice(0, 3)), 'deferred'],
        ['mx2.x.test', 250, null],
      ]);
      expect(notes(smtp)).toContain('mx1.x.test defers the recipient: mx2.x.test is asked');
      for (const lab of labs) {
        await lab.idle();
        expect(lab.verbs().at(-1)).toBe('QUIT');
      }
    }
  });

  it.each([
    ['450 4.7.1 Greylisted', '550 5.1.1 User unknown', 'mailbox_not_found', 'mx2.x.test'],
    ['451 4.3.0 Temporary lookup failure', '552 5.2.2 Mailbox full', 'mailbox_full', 'mx2.x.test'],
    ['451 4.3.0 Temporary lookup failure', '450 4.7.1 Greylisted', 'greylisted', 'mx2.x.test'],
    ['450 4.7.1 Greylisted', '451 4.3.0 Temporary lookup failure', 'greylisted', 'mx1.x.test'],
    ['450 4.7.1 Greylisted', '550 5.7.1 Relaying denied', 'greylisted', 'mx1.x.test'],
    [
      '450 4.7.1 Greylisted',
      '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org',
      'greylisted',
      'mx1.x.test',
    ],
  ])('%s, then %s: %s', async (first, second, finding, host) => {
    const labs = await hosts(says(first), says(second));
    const { smtp } = await ask(checker(portOf(labs)), { dns: dnsOf(labs) });
    expect(smtp).toMatchObject({ finding, host });
    expect(connections(labs)).toEqual([1, 1]);
  });

  it.each([
    ['550 5.1.1 User unknown', 'mailbox_not_found'],
    ['552 5.2.2 Mailbox full', 'mailbox_full'],
    ['452 4.2.2 Mailbox full', 'mailbox_full_temporarily'],
    ['550 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org', 'smtp_blocked'],
    ['450 4.7.1 Client host rejected: cannot find your reverse hostname', 'smtp_blocked'],
    ['550 5.7.1 Message refused by policy', 'smtp_blocked'],
  ])('is not what a definite answer or a refusal is: %s', async (reply, finding) => {
    const labs = await hosts(says(reply), {});
    const { smtp } = await ask(checker(portOf(labs)), { dns: dnsOf(labs) });
    expect(smtp).toMatchObject({ finding, host: 'mx1.x.test' });
    expect(connections(labs)).toEqual([1, 0]);
  });

  it('goes through all hosts, and reports the first of those that greylist', async () => {
    const labs = await hosts(
      says('451 4.3.0 not now'),
      says('450 4.7.1 Greylisted for 5 minutes'),
      says('450 Greylisted'),
    );
    const { smtp } = await ask(checker(portOf(labs)), { dns: dnsOf(labs) });
    expect(smtp).toMatchObject({ finding: 'greylisted', host: 'mx2.x.test', retryAfterSeconds: 300 });
    expect(steps(smtp)).toEqual([
      ['mx1.x.test', 451, 'deferred'],
      ['mx2.x.test', 450, 'deferred'],
      ['mx3.x.test', 450, null],
    ]);
  });

  it('stands where the next host cannot be reached, or accepts every mailbox as a backup', async () => {
    for (const second of [{ banner: 'drop' } as const, { mailboxes: ['*'] }]) {
      const labs = await hosts(says('450 4.7.1 Greylisted'), second);
      const { smtp, catchAll } = await ask(checker(portOf(labs)), { dns: dnsOf(labs) });
      expect(smtp).toMatchObject({ finding: 'greylisted', host: 'mx1.x.test' });
      expect(catchAll.result).toBe('skipped');
    }
  });

  it('leaves what is known of the domain apart from what a backup does', async () => {
    let isGreylisting = false;
    const first: Persona = {
      on: ({ verb, path }) =>
        verb === 'RCPT' && isGreylisting && path.startsWith('good@') ? '450 4.7.1 Greylisted' : undefined,
    };
    const labs = await hosts(first, { mailboxes: ['*'] });
    const check = checker(portOf(labs));
    const about = () => ask(check, { dns: dnsOf(labs) });
    expect((await about()).catchAll).toMatchObject({ result: 'pass', cached: false });
    isGreylisting = true;
    expect((await about()).smtp.finding).toBe('greylisted');
    isGreylisting = false;
    expect(await about()).toMatchObject({ smtp: { finding: 'accepted' }, catchAll: { result: 'pass', cached: true } });
  });

  it('is bounded by the time of the caller', async () => {
    const labs = await hosts(says('450 4.7.1 Greylisted'), says('silence'));
    const begun = systemClock.elapsed();
    const { smtp } = await ask(checker(portOf(labs)), { dns: dnsOf(labs), ms: 700 });
    expect(smtp).toMatchObject({ finding: 'greylisted', host: 'mx1.x.test' });
    expect(systemClock.elapsed() - begun).toBeLessThan(2_000);
  });

  it('keeps the pace: a host is not dialled more often than it may be', async () => {
    const labs = await hosts(says('450 4.7.1 Greylisted', { mailboxes: ['*'] }), { mailboxes: ['good'] });
    const check = checker(portOf(labs), { ratePerOperator: 0.2 });
    const { smtp } = await ask(check, { dns: dnsOf(labs), ms: 2_000 });
    expect(smtp).toMatchObject({ finding: 'greylisted', host: 'mx1.x.test' });
    expect(notes(smtp)).toContain('not dialled: pace.deadline');
    expect(connections(labs)).toEqual([1, 0]);
  });

  it('brings the recipients of a list to the second host in shared sessions, none twice to the first', async () => {
    const labs = await hosts(
      { on: ({ verb }) => (verb === 'RCPT' ? '451 4.3.0 not now' : undefined) },
      { mailboxes: Array.from({ length: 40 }, (_, i) => `good${i}`) },
    );
    const check = checker(portOf(labs), { connectionsPerHost: 2 });
    const emails = Array.from({ length: 40 }, (_, i) => `good${i}@x.test`);
    const found = await Promise.all(emails.map((email) => ask(check, { email, dns: dnsOf(labs), ms: 30_000 })));
    expect(new Set(found.map(({ smtp }) => `${smtp.finding} ${smtp.host}`))).toEqual(new Set(['accepted mx2.x.test']));
    const asked = (lab: SmtpLab | undefined) =>
      lab?.commands.flatMap(({ verb, path }) => (verb === 'RCPT' && path.startsWith('good') ? [path] : []));
    for (const lab of labs) {
      expect(asked(lab)?.sort()).toEqual([...emails].sort());
      expect(lab.mostOpen).toBeLessThanOrEqual(2);
      expect(lab.connections.length).toBeLessThan(15);
    }
  });

  it('by greylisting is remembered: the next time begins where the recipient has waited', async () => {
    const seen = new Set<string>();
    const greylisting: Persona = {
      on: ({ verb, path }) => {
        if (verb !== 'RCPT' || !path.startsWith('good@') || seen.has(path)) return undefined;
        seen.add(path);
        return '450 4.7.1 Greylisted';
      },
    };
    const labs = await hosts(says('451 4.3.0 not now'), greylisting);
    const check = checker(portOf(labs));
    expect((await ask(check, { dns: dnsOf(labs) })).smtp).toMatchObject({ finding: 'greylisted', host: 'mx2.x.test' });
    const again = await ask(check, { dns: dnsOf(labs) });
    expect(again.smtp).toMatchObject({ finding: 'accepted', host: 'mx2.x.test' });
    expect(connections(labs)).toEqual([1, 2]);
    // Another recipient has not waited anywhere.
    await ask(check, { dns: dnsOf(labs), email: 'other@example.test' });
    expect(connections(labs)).toEqual([2, 2]);
  });

  it('does not bring another recipient to a host that refused us', async () => {
    const refusing = {
      on: ({ verb }: { verb: string }) => (verb === 'RCPT' ? '554 5.7.1 Client host blocked' : undefined),
    };
    const labs = await hosts({ on: ({ verb }) => (verb === 'RCPT' ? '450 4.7.1 Greylisted' : undefined) }, refusing);
    const check = checker(portOf(labs));
    for (const email of ['a@x.test', 'b@x.test', 'c@x.test'])
      expect((await ask(check, { email, dns: dnsOf(labs) })).smtp).toMatchObject({ finding: 'greylisted' });
    expect(connections(labs)).toEqual([3, 1]);
  });
});

describe('PIPELINING that is offered', () => {
  const BROKEN = ['closes', 'repeats', 'reverses', 'swallows', 'rejects'] as const;
  /** Everything that is accepted is answered alike. */
  const terse: Persona['on'] = ({ verb, path }) =>
    verb === 'MAIL' || verb === 'RSET' || path.startsWith('good')
      ? '250 ok'
      : verb === 'RCPT'
        ? '550 no such user'
        : undefined;
  const MAILBOXES = [
    ['good@example.test', 'accepted', 'pass'],
    ['nobody@example.test', 'mailbox_not_found', 'skipped'],
  ] as const;

  it.each(BROKEN)('and %s: the answer is that of a session without it, and it is remembered', async (pipelining) => {
    for (const [email, finding, result] of MAILBOXES) {
      const lab = await server({ pipelining });
      const check = checker(lab.port, { limits: { commandMs: 500 } });
      const first = await ask(check, { email, ms: 10_000 });
      expect(first.smtp, email).toMatchObject({ finding });
      expect(first.catchAll.result).toBe(result);
      // Two replies that are the same in another order are in order.
      const isHarmless = pipelining === 'reverses' && finding === 'accepted';
      if (!isHarmless) {
        expect(first.smtp.attempts.map(({ next }) => next)).toEqual(['without_pipelining', null]);
        expect(notes(first.smtp)).toContain('PIPELINING went wrong: once more without it');
        expect(lab.connections).toHaveLength(2);
        for (const name of ['a', 'b', 'c'])
          expect((await ask(check, { email: `${name}@example.test` })).smtp.finding).toBe('mailbox_not_found');
        expect(lab.connections).toHaveLength(5);
      }
      await lab.idle();
    }
  });

  it.each(BROKEN)('and %s, by a server of few words', async (pipelining) => {
    for (const [email, finding, result] of MAILBOXES) {
      const lab = await server({ pipelining, on: terse });
      const check = checker(lab.port, { limits: { commandMs: 500 } });
      const { smtp, catchAll } = await ask(check, { email, ms: 10_000 });
      expect(smtp, email).toMatchObject({ finding });
      expect(catchAll.result).toBe(result);
      await lab.idle();
    }
  });

  it('and works is believed of a server of few words, after one RSET', async () => {
    const lab = await server({ on: terse });
    const check = checker(lab.port);
    expect(await ask(check, {})).toMatchObject({ smtp: { finding: 'accepted' }, catchAll: { result: 'pass' } });
    expect((await ask(check, { email: 'good2@example.test' })).smtp.finding).toBe('accepted');
    await lab.idle();
    expect(lab.verbs(0)).toEqual(['EHLO', 'MAIL', 'RCPT', 'RCPT', 'RSET', 'QUIT']);
    expect(lab.verbs(1)).toEqual(['EHLO', 'MAIL', 'RCPT', 'QUIT']);
  });

  it.each(BROKEN)('and %s: each of a list gets its answer', async (pipelining) => {
    const lab = await server({ pipelining, mailboxes: ['good0', 'good3', 'good6', 'good9'] });
    const check = checker(lab.port, { connectionsPerHost: 1, limits: { commandMs: 500 } });
    const emails = Array.from({ length: 12 }, (_, i) => `${i % 3 === 0 ? 'good' : 'nobody'}${i}@x.test`);
    const found = await Promise.all(emails.map((email) => ask(check, { email, ms: 30_000 })));
    expect(found.map(({ smtp }) => smtp.finding)).toEqual(
      emails.map((email) => (email.startsWith('good') ? 'accepted' : 'mailbox_not_found')),
    );
    expect(lab.mostOpen).toBe(1);
  });

  it.each([
    '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org',
    '550 5.7.1 Sender rejected',
    '451 4.3.0 not now',
  ])('and works is not doubted where MAIL is rejected: %s', async (reply) => {
    const lab = await server({
      on: ({ verb }, { commands }) =>
        verb === 'MAIL' ? reply : verb === 'RCPT' && commands.length > 2 ? '503 5.5.1 MAIL first' : undefined,
    });
    const { smtp } = await ask(checker(lab.port), {});
    expect(smtp).toMatchObject({ stage: 'mail', code: Number(reply.slice(0, 3)) });
    expect(lab.connections).toHaveLength(1);
  });

  it('and works is not doubted later, when a connection is lost', async () => {
    const lab = await server({
      on: ({ verb, path }) => (verb === 'RCPT' && path.startsWith('lost') ? 'drop' : undefined),
    });
    const check = checker(lab.port);
    expect((await ask(check, {})).smtp.finding).toBe('accepted');
    expect((await ask(check, { email: 'lost@x.test' })).smtp).toMatchObject({ rule: 'dialogue.dropped' });
    expect(lab.connections).toHaveLength(2);
    await ask(check, { email: 'other@x.test' });
    expect(lab.connections).toHaveLength(3);
  });
});

describe('SMTPUTF8', () => {
  const email = 'адам@example.test';
  const utf8: Persona = { mailboxes: ['адам'], capabilities: ['PIPELINING'] };
  const all = ['PIPELINING', 'SMTPUTF8'];

  it.each([
    ['only under TLS', { ...utf8, tls: 'works', capabilitiesUnderTls: all }, 'accepted', true],
    ['in clear', { ...utf8, capabilities: all, tls: 'works', capabilitiesUnderTls: [] }, 'accepted', false],
    ['nowhere', { ...utf8, tls: 'works' }, 'smtp_unverifiable', true],
    ['nowhere, without TLS', utf8, 'smtp_unverifiable', false],
    ['under TLS that is refused', { ...utf8, tls: 'refused', capabilitiesUnderTls: all }, 'smtp_unverifiable', false],
    ['under TLS that is broken', { ...utf8, tls: 'broken', capabilitiesUnderTls: all }, 'smtp_unverifiable', false],
  ] as const)('is offered %s', async (_, persona, finding, tls) => {
    const lab = await server(persona);
    const { smtp } = await ask(checker(lab.port), { email });
    expect(smtp).toMatchObject({ finding, tls });
    expect(lab.connections).toHaveLength(1);
    if (finding === 'smtp_unverifiable') expect(smtp.rule).toBe('dialogue.no_smtputf8');
    if (tls) expect(lab.verbs(0).filter((verb) => verb === 'EHLO')).toHaveLength(2);
  });

  it('is what EHLO says after TLS, not before it', async () => {
    const lab = await server({ ...utf8, capabilities: all, tls: 'works', capabilitiesUnderTls: ['PIPELINING'] });
    const { smtp } = await ask(checker(lab.port, { tls: 'opportunistic' }), { email });
    expect(smtp).toMatchObject({ finding: 'smtp_unverifiable', rule: 'dialogue.no_smtputf8' });
  });

  it('gets a session of its own where one in clear is under way', async () => {
    const lab = await server({ mailboxes: ['*'], tls: 'works', capabilities: [], capabilitiesUnderTls: ['SMTPUTF8'] });
    const check = checker(lab.port, { connectionsPerHost: 1 });
    const emails = ['a@example.test', 'b@example.test', email, 'c@example.test', 'ева@example.test'];
    const found = await Promise.all(emails.map((one) => ask(check, { email: one, ms: 20_000 })));
    expect(found.map(({ smtp }) => smtp.finding)).toEqual(emails.map(() => 'accepted'));
    expect(found.map(({ smtp }) => smtp.tls)).toEqual([false, false, true, expect.any(Boolean), true]);
  });
});

describe('TLS', () => {
  const demanding: Persona = { tls: 'works', demandsTls: true };
  const offering: Persona = { tls: 'works' };

  it.each([
    ['takes TLS 1.2 only', demanding, { tlsUpTo: 'TLSv1.2' }, 1],
    ['closes at TLS 1.3', demanding, { onTls13: 'close' }, 2],
    ['resets the connection at TLS 1.3', demanding, { onTls13: 'reset' }, 2],
    ['sends an alert at TLS 1.3', demanding, { onTls13: 'alert' }, 2],
    ['is silent at TLS 1.3', demanding, { onTls13: 'silence' }, 2],
    ['closes at TLS 1.3, takes TLS 1.2 only', demanding, { onTls13: 'close', tlsUpTo: 'TLSv1.2' }, 2],
    ['offers TLS and takes TLS 1.2 only', offering, { tlsUpTo: 'TLSv1.2' }, 1],
    ['offers TLS and closes at TLS 1.3', offering, { onTls13: 'close' }, 2],
    ['offers TLS and sends an alert at TLS 1.3', offering, { onTls13: 'alert' }, 2],
  ] as const)('of a server that %s is remembered', async (_, persona, kind, count) => {
    const lab = await server({ ...persona, ...kind });
    const tls = persona === offering ? 'opportunistic' : 'demanded';
    const check = checker(lab.port, { tls, limits: { tlsMs: 500 } });
    const first = await ask(check, { ms: 10_000 });
    expect(first).toMatchObject({ smtp: { finding: 'accepted', tls: true }, catchAll: { result: 'pass' } });
    expect(first.smtp.attempts.map(({ next }) => next)).toEqual(count === 1 ? [null] : ['tls_1_2', null]);
    expect(lab.connections).toHaveLength(count);
    for (const email of ['a@example.test', 'b@example.test'])
      expect((await ask(check, { email })).smtp).toMatchObject({ finding: 'mailbox_not_found', tls: true });
    expect(lab.connections).toHaveLength(count + 2);
  });

  it('that fails in every version is clear text, and that is remembered where it works', async () => {
    for (const [kind, count] of [
      ['broken', 2],
      ['closes', 3],
    ] as const) {
      const lab = await server({ tls: kind });
      const check = checker(lab.port, { tls: 'opportunistic' });
      expect((await ask(check, {})).smtp).toMatchObject({ finding: 'accepted', tls: false });
      expect(lab.connections).toHaveLength(count);
      await ask(check, { email: 'a@example.test' });
      expect(lab.connections).toHaveLength(count + 1);
    }
  });

  it.each([
    ['broken', 1],
    ['closes', 2],
  ] as const)('that is demanded and %s leaves nothing to conclude', async (kind, count) => {
    const lab = await server({ tls: kind, demandsTls: true });
    const second = await server({}, { address: '127.0.0.2', port: lab.port });
    const dns = labHosts({ 'mx1.x.test': ['127.0.0.1'], 'mx2.x.test': ['127.0.0.2'] });
    expect((await ask(checker(lab.port), {})).smtp).toMatchObject({ rule: 'dialogue.tls_failed', code: null });
    expect(lab.connections).toHaveLength(count);
    const { smtp } = await ask(checker(lab.port), { dns });
    expect(smtp).toMatchObject({ finding: 'accepted', host: 'mx2.x.test' });
    expect(second.connections).toHaveLength(1);
  });
});
