import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { type MailSink, startMailSink } from '../../tests/lab/mail-sink.ts';
import { alertWords } from '../kernel/alert-words.ts';
import { JobFailure } from '../kernel/jobs.ts';
import { createMail } from './mail.ts';

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
const mailVia = (server: string) =>
  createMail({ server: () => server, from: 'mailvet@good.com', url: () => 'https://mailvet.test' });
const ID = 'job_1';
const RESET = { to: 'jane@good.com', link: LINK };

describe('mail', () => {
  it('sends one plain-text message with the right sender and recipient', async () => {
    const sink = await sinkOf();
    const mail = mailVia(sink.url);
    await mail.passwordReset(RESET, ID);
    const message = await sink.next('jane@good.com');
    expect([message.from, message.to]).toEqual(['mailvet@good.com', ['jane@good.com']]);
    expect(message.text).toContain(`\n${LINK}\n`);
    // A retry, after an unknown outcome, has the same Message-ID.
    expect(message.headers.get('message-id')).toBe('<job_1@good.com>');
    expect(sink.smtp.verbs()).toEqual(expect.arrayContaining(['EHLO', 'MAIL', 'RCPT', 'DATA']));
  });

  it('goes to the server that is configured now', async () => {
    const [first, second] = [await sinkOf(), await sinkOf()];
    let server = first.url;
    const mail = createMail({ server: () => server, from: 'mailvet@good.com', url: () => 'https://mailvet.test' });
    await mail.passwordReset(RESET, ID);
    server = second.url;
    await mail.passwordReset(RESET, ID);
    expect([first.mails.length, second.mails.length]).toEqual([1, 1]);
  });

  it('has a text for low balances and one for invitations', async () => {
    const sink = await sinkOf();
    const mail = mailVia(sink.url);
    await mail.lowBalance({ to: 'jane@good.com', account: 'Shop', balance: 41, threshold: 50, link: 'http://x/' }, ID);
    const low = await sink.next('jane@good.com');
    expect(low.headers.get('subject')).toBe('"Shop" is running low on credits');
    expect(low.text).toMatch(/has 41 credits left, below its alert threshold of 50\./);
    await mail.invitation({ to: 'jane@good.com', account: 'Größe', role: 'admin', by: 'ada@good.com', link: LINK }, ID);
    const invitation = await sink.next('jane@good.com');
    expect(invitation.headers.get('subject')).toBe('Invitation to "Größe" on Mailvet');
    expect(invitation.text).toContain(
      'ada@good.com invited you to join the account "Größe" on Mailvet. Your role: admin.',
    );
  });

  it('has alerts, with links to the pages of the account', async () => {
    const sink = await sinkOf();
    const mail = mailVia(sink.url);
    const words = alertWords('list.failed', { id: 'lst_1', name: 'spring.csv' })!;
    await mail.alert({ to: 'jane@good.com', account: 'Shop', ...words }, 'acc_1', ID);
    const failed = await sink.next('jane@good.com');
    expect(failed.headers.get('subject')).toBe('The list "spring.csv" failed (Shop)');
    expect(failed.text).toMatch(
      /https:\/\/mailvet\.test\/accounts\/acc_1\/lists\/lst_1\n[\s\S]*\/accounts\/acc_1\/alerts/,
    );
    const closed = alertWords('smtp.unreachable', { state: 'port_closed', since: '2026-11-20T10:00:00.000Z' })!;
    await mail.alert({ to: 'jane@good.com', account: 'Shop', ...closed }, 'acc_1', ID);
    expect((await sink.next('jane@good.com')).text).toContain('https://mailvet.test/accounts/acc_1\n');
  });

  it('has a text for webhooks that were disabled, with why', async () => {
    const sink = await sinkOf();
    const mail = mailVia(sink.url);
    const about = {
      to: 'jane@good.com',
      account: 'Shop',
      webhook: 'https://example.com/hooks',
      link: 'http://x/webhooks',
    };
    await mail.webhookDisabled({ ...about, reason: 'gone' }, ID);
    const gone = await sink.next('jane@good.com');
    expect(gone.headers.get('subject')).toBe('A webhook of "Shop" was disabled');
    for (const line of ['https://example.com/hooks', 'It answered with status 410 (Gone).', 'http://x/webhooks'])
      expect(gone.text).toContain(`\n${line}`);
    await mail.webhookDisabled({ ...about, reason: 'failing' }, ID);
    expect((await sink.next('jane@good.com')).text).toContain('Every attempt has failed for 5 days.');
  });

  it('keeps untrusted names on one line, and adds no recipients', async () => {
    const sink = await sinkOf();
    const mail = mailVia(sink.url);
    const account = 'x\r\nBcc: eve@evil.example\r\n\r\nhello\u2028there';
    for (const to of [
      'jane@good.com',
      'jane@good.com, eve@evil.example',
      'jane@good.com\r\nRCPT TO:<eve@evil.example>',
    ])
      await mail.invitation({ to, account, role: 'member', by: 'a\r\nb@good.com', link: LINK }, ID);
    const message = await sink.next('jane@good.com');
    expect(message.headers.has('bcc')).toBe(false);
    expect(message.headers.get('subject')).toBe('Invitation to "x Bcc: eve@evil.example hello there" on Mailvet');
    expect(sink.mails.flatMap(({ to }) => to).filter((to) => to.startsWith('eve'))).toEqual([]);
  });

  it('decodes the password in the URL of the server', async () => {
    const heard: string[] = [];
    const sink = await sinkOf({
      capabilities: ['AUTH PLAIN'],
      on({ line }) {
        if (!line.startsWith('AUTH PLAIN ')) return undefined;
        heard.push(Buffer.from(line.slice('AUTH PLAIN '.length), 'base64').toString('utf8'));
        return '235 2.7.0 welcome';
      },
    });
    const mail = mailVia(sink.url.replace('smtp://', 'smtp://post%40good.com:p%C3%A4ss%3A%2F@'));
    await mail.passwordReset(RESET, ID);
    expect(heard).toEqual(['\0post@good.com\0päss:/']);
  });
});

describe('failures are thrown without addresses, links or passwords', () => {
  const SECRETS = [/jane/, /token/, /hunter2/, /mailbox of/];
  async function expectFailure(server: string, what: string, permanent = false): Promise<void> {
    const error: unknown = await mailVia(server)
      .passwordReset(RESET, ID)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JobFailure);
    expect(error).toMatchObject({ message: `Mail could not be sent: ${what}.`, permanent });
    for (const secret of SECRETS) expect(String(error)).not.toMatch(secret);
  }

  it('a rejected recipient', async () => {
    const reject = {
      on: ({ verb }: { verb: string }) => (verb === 'RCPT' ? '550 5.1.1 no mailbox of <jane@good.com>' : undefined),
    };
    await expectFailure((await sinkOf(reject)).url, 'reply 550 to RCPT', true);
  });

  it('a server that does not listen', async () => {
    await expectFailure('smtp://user:hunter2@127.0.0.1:1', 'ECONNREFUSED');
  });

  it('a self-signed certificate', async () => {
    const read = (name: string) => readFileSync(new URL(`../../tests/lab/certificate/${name}`, import.meta.url));
    const server = createServer({ cert: read('cert.pem'), key: read('key.pem') }, (socket) => socket.end());
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as { port: number };
    await expectFailure(`smtps://user:hunter2@127.0.0.1:${port}`, 'DEPTH_ZERO_SELF_SIGNED_CERT');
  });

  it('a server that never replies, within the time limit', async () => {
    const { url } = await sinkOf({ banner: 'silence' });
    const began = performance.now();
    await expectFailure(url, 'ETIMEDOUT');
    expect(performance.now() - began).toBeLessThan(14_000);
  }, 20_000);
});
