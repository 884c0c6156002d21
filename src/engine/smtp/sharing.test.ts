import { afterEach, describe, expect, it } from 'vitest';
import { ask, labCheck, labHosts } from '../../../tests/lab/mailbox.ts';
import { type Persona, type SmtpLab, startSmtp } from '../../../tests/lab/smtp.ts';
import type { MailboxCheck, MailboxCheckOptions } from './mailbox.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const it of open.splice(0)) await it.close();
});

async function lab(persona: Persona, options: Partial<MailboxCheckOptions> = {}): Promise<[SmtpLab, MailboxCheck]> {
  const server = await startSmtp(persona);
  const check = labCheck(server.port, { connectionsPerHost: 1, ...options });
  open.push(check, server);
  return [server, check];
}

const MAILBOXES = Array.from({ length: 100 }, (_, i) => `good${i}`);
/** `good…` exist, others do not. */
const recipients = (count: number, domains = 1): string[] =>
  Array.from({ length: count }, (_, i) => `${i % 5 === 4 ? 'nobody' : 'good'}${i}@d${i % domains}.test`);
const findings = async (check: MailboxCheck, emails: readonly string[]) => {
  const found = await Promise.all(emails.map((email) => ask(check, { email, ms: 60_000 })));
  return new Map(emails.map((email, i) => [email, found[i]!]));
};
const expected = (email: string) => (email.startsWith('good') ? 'accepted' : 'mailbox_not_found');
const pathsOf = ({ commands }: Pick<SmtpLab, 'commands'>, verb: string) =>
  commands.filter((command) => command.verb === verb).map(({ path }) => path);

describe('recipients of the same hosts share transactions', () => {
  it.each([
    [['PIPELINING']],
    [[]],
  ])('with the right answers, and one probe for each domain (%j)', async (capabilities) => {
    const [server, check] = await lab({ capabilities, mailboxes: MAILBOXES }, { connectionsPerHost: 3 });
    const emails = recipients(80, 2);
    const found = await findings(check, emails);
    for (const [email, { smtp, catchAll }] of found) {
      expect(smtp.finding, email).toBe(expected(email));
      expect(catchAll.result, email).toBe(smtp.finding === 'accepted' ? 'pass' : 'skipped');
    }
    await server.idle();
    const asked = pathsOf(server, 'RCPT');
    expect(asked.filter((path) => emails.includes(path)).sort()).toEqual([...emails].sort());
    expect(
      asked
        .filter((path) => !emails.includes(path))
        .map((path) => path.split('@')[1])
        .sort(),
    ).toEqual(['d0.test', 'd1.test']);
    expect(pathsOf(server, 'MAIL').length).toBeLessThan(emails.length / 2);
    expect(pathsOf(server, 'DATA')).toEqual([]);
    expect(check.stats()).toMatchObject({ open: 0, sessions: 0, waiting: 0 });
  });

  it('as many as the server takes in one', async () => {
    let most = 0;
    const [server, check] = await lab({
      mailboxes: MAILBOXES,
      on: ({ verb }, { commands }) => {
        if (verb !== 'RCPT') return undefined;
        const here = commands.slice(commands.findLastIndex((command) => command.verb === 'MAIL')).length - 1;
        if (here > 3) return '452 4.5.3 Too many recipients';
        most = Math.max(most, here);
        return undefined;
      },
    });
    const found = await findings(check, recipients(30));
    for (const [email, { smtp }] of found) expect(smtp.finding, email).toBe(expected(email));
    await server.idle();
    expect(most).toBe(3);
    expect(server.connections.length).toBeLessThan(6);
  });

  it('as many as the server takes in a session', async () => {
    const [server, check] = await lab({
      mailboxes: MAILBOXES,
      on: ({ verb }, { commands }) =>
        verb === 'RCPT' && commands.filter((command) => command.verb === 'RCPT').length > 4
          ? '452 4.5.3 Too many recipients'
          : undefined,
    });
    const found = await findings(check, recipients(20));
    for (const [email, { smtp }] of found) expect(smtp.finding, email).toBe(expected(email));
    await server.idle();
    expect(server.connections.length).toBeLessThan(12);
  });

  it('as many as another account has to be content with at its own server under the operator’s name, or more', async () => {
    const tight: Persona = {
      on: ({ verb }, { commands }) =>
        verb === 'RCPT' && commands.filter((command) => command.verb === 'RCPT').length > 1
          ? '452 4.5.3 Too many recipients'
          : undefined,
    };
    const [server, check] = await lab({ mailboxes: MAILBOXES });
    const own = await startSmtp(tight, { address: '127.0.0.2', port: server.port });
    open.push(own);
    const at = (host: string, address: string) => labHosts({ [host]: [address] }, 'google');
    const rented = at('rented-1.google.com', '127.0.0.2');
    for (const email of ['good@s0.test', 'good@s1.test', 'good@s2.test'])
      await ask(check, { email, dns: rented, tenant: 'stranger' });
    expect(own.connections.length).toBeGreaterThan(3);
    const dns = at('smtp.google.com', '127.0.0.1');
    await Promise.all(recipients(40).map((email) => ask(check, { email, dns, tenant: 'other', ms: 60_000 })));
    await server.idle();
    expect(server.connections.length).toBeLessThan(6);
  });

  it.each([
    '421 4.7.0 Too many errors',
    'drop',
    '451 4.3.0 not now',
    '250 ok, or not',
    'silence',
  ] as const)('and one that the server answers with "%s" does not spoil the others', async (says) => {
    const [, check] = await lab(
      {
        mailboxes: MAILBOXES,
        on: ({ verb, path }) => (verb === 'RCPT' && path === 'bad@d0.test' ? says : undefined),
        hold: ({ path }) => (says === 'silence' && path === 'bad@d0.test' ? new Promise(() => {}) : Promise.resolve()),
      },
      { limits: { commandMs: 500 } },
    );
    const emails = [...recipients(12), 'bad@d0.test', ...recipients(24).slice(12)];
    const found = await findings(check, emails);
    for (const [email, { smtp }] of found) {
      if (email !== 'bad@d0.test') expect(smtp.finding, email).toBe(expected(email));
      else if (says === 'silence') expect(smtp).toMatchObject({ finding: 'smtp_timeout', stage: 'rcpt' });
      else expect(smtp.finding).toBe(says.startsWith('250') ? 'accepted' : 'smtp_temporary_failure');
    }
  });

  it.each(['MAIL', 'RSET'] as const)('and go to another session when this one takes no more at %s', async (verb) => {
    const [server, check] = await lab({
      mailboxes: MAILBOXES,
      on: (command, { commands }) =>
        command.verb === verb && commands.filter((earlier) => earlier.verb === 'RCPT').length > 5
          ? '421 4.7.0 Too many transactions'
          : undefined,
    });
    const found = await findings(check, recipients(40));
    for (const [email, { smtp }] of found) expect(smtp.finding, email).toBe(expected(email));
    await server.idle();
    expect(server.connections.length).toBeLessThan(20);
  });

  it('each with a transcript of its own, without the other recipients', async () => {
    const [, check] = await lab({ mailboxes: MAILBOXES });
    const found = await findings(check, recipients(12));
    for (const [email, { smtp }] of found) {
      const text = smtp.transcript.lines.map((line) => line.text).join('\n');
      expect(text, email).toMatch(/^MAIL FROM:<verify@verify\.mailvet\.test>$/m);
      expect(text.match(/^RCPT TO:<\*\*\*@d0\.test>$/gm), email).toHaveLength(1);
      expect(text, email).toMatch(email.startsWith('good') ? /^250 2\.1\.5 /m : /^550 5\.1\.1 /m);
      expect(text, email).not.toMatch(/good\d|nobody\d/);
    }
  });

  it('and one whose client leaves does not take the others with it', async () => {
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const [, check] = await lab({
      mailboxes: MAILBOXES,
      hold: ({ verb, path }) => {
        if (verb !== 'RCPT' || path !== 'good1@d0.test') return Promise.resolve();
        reached.resolve();
        return held.promise;
      },
    });
    const client = new AbortController();
    const first = ask(check, { email: 'good0@d0.test', ms: 60_000 });
    const gone = ask(check, { email: 'good1@d0.test', ms: 60_000, signal: client.signal });
    const others = findings(check, ['good2@d0.test', 'good3@d0.test']);
    await reached.promise;
    client.abort();
    expect((await gone).smtp).toMatchObject({ finding: 'smtp_timeout', rule: 'dialogue.cancelled' });
    held.resolve();
    expect((await first).smtp.finding).toBe('accepted');
    for (const { smtp } of (await others).values()) expect(smtp.finding).toBe('accepted');
  });
});
