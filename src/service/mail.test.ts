import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { type MailSink, startMailSink } from '../../tests/lab/mail-sink.ts';
import type { Logger } from '../kernel/log.ts';
import { createMail } from './mail.ts';

interface Line {
  readonly [field: string]: unknown;
}
/** What the log is told. */
function written(): { lines: Line[]; logger: Logger } {
  const lines: Line[] = [];
  const error = (fields: Line, message: string) => lines.push({ ...fields, message });
  return { lines, logger: { error } as unknown as Logger };
}

const LINK = 'http://127.0.0.1:8025/reset-password#token=abcdefghijklmnop';
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
async function sinkOf(...how: Parameters<typeof startMailSink>): Promise<MailSink> {
  const sink = await startMailSink(...how);
  closing.push(() => sink.close());
  return sink;
}
function mailVia(server: string) {
  const { lines, logger } = written();
  return { lines, mail: createMail({ server, from: 'mailvet@good.com', logger }) };
}

describe('mail', () => {
  it('works: one letter, as text, from and to whom it should be', async () => {
    const sink = await sinkOf();
    const { mail, lines } = mailVia(sink.url);
    expect(await mail.reset('jane@good.com', LINK)).toBe(true);
    const letter = await sink.next('jane@good.com');
    expect([letter.from, letter.to]).toEqual(['mailvet@good.com', ['jane@good.com']]);
    expect(letter.text).toContain(`\n${LINK}\n`);
    expect(letter.headers.get('message-id')).toMatch(/@good\.com>$/);
    expect(lines).toEqual([]);
    expect(sink.smtp.verbs()).toEqual(expect.arrayContaining(['EHLO', 'MAIL', 'RCPT', 'DATA']));
  });

  it('says low balances and invitations in their own words', async () => {
    const sink = await sinkOf();
    const { mail } = mailVia(sink.url);
    await mail.lowBalance({ to: 'jane@good.com', account: 'Shop', balance: 41, line: 50, link: 'http://x/' });
    const low = await sink.next('jane@good.com');
    expect(low.headers.get('subject')).toBe('Credits of "Shop" are running low');
    expect(low.text).toMatch(/has 41 credits left, fewer than the 50/);
    await mail.invitation({ to: 'jane@good.com', account: 'Größe', role: 'admin', by: 'ada@good.com', link: LINK });
    const invitation = await sink.next('jane@good.com');
    expect(invitation.headers.get('subject')).toBe('Invitation to "Größe" on Mailvet');
    expect(invitation.text).toContain('ada@good.com invited you to the account "Größe" on Mailvet, as admin.');
  });

  it('sends what strangers call themselves on one line, to nobody else', async () => {
    const sink = await sinkOf();
    const { mail } = mailVia(sink.url);
    const account = 'x\r\nBcc: eve@evil.example\r\n\r\nhello\u2028there';
    for (const to of [
      'jane@good.com',
      'jane@good.com, eve@evil.example',
      'jane@good.com\r\nRCPT TO:<eve@evil.example>',
    ])
      await mail.invitation({ to, account, role: 'member', by: 'a\r\nb@good.com', link: LINK });
    const letter = await sink.next('jane@good.com');
    expect(letter.headers.has('bcc')).toBe(false);
    expect(letter.headers.get('subject')).toBe('Invitation to "x  Bcc: eve@evil.example    hello there" on Mailvet');
    expect(sink.mails.flatMap(({ to }) => to).filter((to) => to.startsWith('eve'))).toEqual([]);
  });

  it('sends the password of the server, as it was before it was encoded', async () => {
    const heard: string[] = [];
    const sink = await sinkOf({
      capabilities: ['AUTH PLAIN'],
      on({ line }) {
        if (!line.startsWith('AUTH PLAIN ')) return undefined;
        heard.push(Buffer.from(line.slice('AUTH PLAIN '.length), 'base64').toString('utf8'));
        return '235 2.7.0 welcome';
      },
    });
    const { mail } = mailVia(sink.url.replace('smtp://', 'smtp://post%40good.com:p%C3%A4ss%3A%2F@'));
    expect(await mail.reset('jane@good.com', LINK)).toBe(true);
    expect(heard).toEqual(['\0post@good.com\0päss:/']);
  });
});

describe('what goes wrong is told to the caller, and to the log without addresses, links and passwords', () => {
  const SECRETS = [/jane/, /token/, /hunter2/, /mailbox of/];
  const expectLogged = (lines: Line[], fields: Line) => {
    expect(lines).toEqual([expect.objectContaining({ mail: 'reset', message: 'a mail was not sent', ...fields })]);
    for (const secret of SECRETS) expect(JSON.stringify(lines)).not.toMatch(secret);
  };

  it('a recipient who is refused', async () => {
    const refuse = {
      on: ({ verb }: { verb: string }) => (verb === 'RCPT' ? '550 5.1.1 no mailbox of <jane@good.com>' : undefined),
    };
    const { mail, lines } = mailVia((await sinkOf(refuse)).url);
    expect(await mail.reset('jane@good.com', LINK)).toBe(false);
    expectLogged(lines, { code: 'EENVELOPE', reply: 550 });
  });

  it('a server that is not there', async () => {
    const { mail, lines } = mailVia('smtp://user:hunter2@127.0.0.1:1');
    expect(await mail.reset('jane@good.com', LINK)).toBe(false);
    expectLogged(lines, { code: 'ECONNREFUSED' });
  });

  it('a certificate that nobody vouches for', async () => {
    const read = (name: string) => readFileSync(new URL(`../../tests/lab/certificate/${name}`, import.meta.url));
    const server = createServer({ cert: read('cert.pem'), key: read('key.pem') }, (socket) => socket.end());
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as { port: number };
    const { mail, lines } = mailVia(`smtps://user:hunter2@127.0.0.1:${port}`);
    expect(await mail.reset('jane@good.com', LINK)).toBe(false);
    expectLogged(lines, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('a server that says nothing, within a bound', async () => {
    const { mail, lines } = mailVia((await sinkOf({ banner: 'silence' })).url);
    const began = performance.now();
    expect(await mail.reset('jane@good.com', LINK)).toBe(false);
    expect(performance.now() - began).toBeLessThan(14_000);
    expectLogged(lines, { code: 'ETIMEDOUT' });
  }, 20_000);
});
