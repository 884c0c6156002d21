/**
 * Reports as mail servers write them, composed from what their formats document (RFC 3464, 5965, 6522): what each of
 * them has or lacks, in several languages. All are about ada@example.com, which got a mail from news@sender.example.
 */
import type { Disregarded } from '../../src/files/mail-report.ts';
import type { MailOutcome, OutcomeClass } from '../../src/kernel/facts/sent-mail.ts';

interface SampleReport {
  readonly server: string;
  readonly language: string;
  readonly raw: Buffer;
  /** What it counts as, and, of a bounce, the class; or why as nothing. */
  readonly counts: { readonly outcome: MailOutcome; readonly as: OutcomeClass } | Disregarded;
}

export const RECIPIENT = 'ada@example.com';
const DATE = 'Thu, 05 Nov 2026 09:15:02 +0100';
/** Of DATE, ms. */
export const REPORTED_AT = Date.parse('2026-11-05T08:15:02Z');

type Headers = Readonly<Record<string, string>>;
const headed = (headers: Headers, body: string): string =>
  `${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n')}\r\n\r\n${body}`;

const top = (daemon: string, more: Headers = {}): Headers => ({
  'Return-Path': '<>',
  Received: 'from mail.isp.example (mail.isp.example [192.0.2.7]) by in.sender.example with ESMTP; Thu, 5 Nov 2026',
  From: daemon,
  To: 'news@sender.example',
  Subject: 'Undelivered Mail Returned to Sender',
  Date: DATE,
  'Message-ID': '<20261105081502.1@mail.isp.example>',
  ...more,
});

const RETURNED = headed(
  { From: 'News <news@sender.example>', To: `Ada <${RECIPIENT}>`, Subject: '550 5.1.1 ways to save', Date: DATE },
  'A body that mentions somebody@else.example and 550 5.1.1 as well.\r\n',
);

interface Report {
  readonly daemon: string;
  readonly human: string;
  readonly status: string;
  readonly headers?: Headers;
  readonly encoding?: 'base64' | '8bit';
  readonly returned?: string;
}

/** A multipart/report of RFC 6522. */
function report({ daemon, human, status, headers = {}, encoding = '8bit', returned = RETURNED }: Report): Buffer {
  const machine = status.replaceAll(/\r?\n/g, '\r\n');
  const body =
    encoding === 'base64'
      ? (
          Buffer.from(machine)
            .toString('base64')
            .match(/.{1,76}/g) ?? []
        ).join('\r\n')
      : machine;
  const part = (type: string, text: string, more = '') => `--=_b1\r\nContent-Type: ${type}\r\n${more}\r\n${text}\r\n`;
  return Buffer.from(
    headed(
      top(daemon, {
        'MIME-Version': '1.0',
        'Content-Type': 'multipart/report; report-type=delivery-status;\r\n\tboundary="=_b1"',
        'Auto-Submitted': 'auto-replied',
        ...headers,
      }),
      `This is a MIME-encapsulated message.\r\n\r\n${part('text/plain; charset=utf-8', human, 'Content-Transfer-Encoding: 8bit\r\n')}${part('message/delivery-status', body, encoding === 'base64' ? 'Content-Transfer-Encoding: base64\r\n' : '')}${part('message/rfc822', returned)}--=_b1--\r\n`,
    ),
  );
}

const text = (daemon: string, body: string, headers: Headers = {}): Buffer =>
  Buffer.from(headed(top(daemon, headers), `${body}\r\n`));

/** Fields of one recipient, after those of the message. */
const fields = (code: string, said: string | null, more = '', action = 'failed'): string =>
  `Reporting-MTA: dns; mail.isp.example\r\nArrival-Date: ${DATE}\r\n\r\nFinal-Recipient: rfc822; ${RECIPIENT}\r\n${more}Action: ${action}\r\nStatus: ${code}\r\n${said === null ? '' : `Diagnostic-Code: ${said}\r\n`}`;

const bounced = (as: OutcomeClass) => ({ outcome: 'bounced' as const, as });

export const SAMPLE_REPORTS: readonly SampleReport[] = [
  {
    server: 'Postfix',
    language: 'en',
    raw: report({
      daemon: 'MAILER-DAEMON@mail.isp.example (Mail Delivery System)',
      human: `<${RECIPIENT}>: host mx.example.com[192.0.2.25] said: 550 5.1.1\r\n    <${RECIPIENT}>: Recipient address rejected: User unknown in virtual mailbox\r\n    table (in reply to RCPT TO command)`,
      status: fields(
        '5.1.1',
        `smtp; 550 5.1.1 <${RECIPIENT}>: Recipient address rejected: User\r\n    unknown in virtual mailbox table`,
        `Original-Recipient: rfc822;${RECIPIENT}\r\nRemote-MTA: dns; mx.example.com\r\n`,
      ),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'Postfix, refused after DATA',
    language: 'en',
    raw: report({
      daemon: 'MAILER-DAEMON@mail.isp.example',
      human: `<${RECIPIENT}>: host mx.example.com[192.0.2.25] said: 554 5.7.1 Message rejected as spam (in reply to end of DATA command)`,
      status: fields('5.7.1', 'smtp; 554 5.7.1 Message rejected as spam', 'Remote-MTA: dns; mx.example.com\r\n'),
    }),
    counts: bounced('sender'),
  },
  {
    server: 'Postfix, delayed',
    language: 'en',
    raw: report({
      daemon: 'MAILER-DAEMON@mail.isp.example',
      human: '# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #',
      status: fields('4.4.1', 'X-Postfix; connect to mx.example.com[192.0.2.25]:25: timed out', '', 'delayed'),
    }),
    counts: 'delayed',
  },
  {
    server: 'Postfix, expired while full',
    language: 'it',
    raw: report({
      daemon: 'MAILER-DAEMON@mail.isp.example',
      human: 'Il messaggio non è stato consegnato.',
      status: fields(
        '4.2.2',
        'smtp; 452 4.2.2 Casella piena, riprovare più tardi. Mailbox full',
        'Remote-MTA: dns; mx.example.com\r\n',
      ),
    }),
    counts: bounced('full'),
  },
  {
    server: 'Exim',
    language: 'en',
    raw: report({
      daemon: 'Mail Delivery System <Mailer-Daemon@mail.isp.example>',
      headers: { 'X-Failed-Recipients': RECIPIENT },
      human: `This message was created automatically by mail delivery software.\r\n\r\n  ${RECIPIENT}\r\n    host mx.example.com [192.0.2.25]\r\n    SMTP error from remote mail server after RCPT TO:<${RECIPIENT}>:\r\n    550 No such user here`,
      status: `Reporting-MTA: dns; mail.isp.example\r\n\r\nAction: failed\r\nFinal-Recipient: rfc822;${RECIPIENT}\r\nStatus: 5.0.0\r\nRemote-MTA: dns; mx.example.com\r\nDiagnostic-Code: smtp; 550 No such user here\r\n`,
    }),
    counts: bounced('absent'),
  },
  {
    server: 'Exim before 4.86, only text',
    language: 'de',
    raw: text(
      'Mail Delivery System <Mailer-Daemon@mail.isp.example>',
      `Diese Nachricht wurde automatisch erzeugt.\r\n\r\n  ${RECIPIENT}\r\n    SMTP error from remote mail server after RCPT TO:<${RECIPIENT}>:\r\n    host mx.example.com [192.0.2.25]: 550 5.1.1 Benutzer unbekannt\r\n\r\n------ This is a copy of the message, including all the headers. ------\r\n\r\n${RETURNED}`,
      { 'X-Failed-Recipients': RECIPIENT, 'Auto-Submitted': 'auto-replied' },
    ),
    counts: bounced('absent'),
  },
  {
    server: 'Sendmail',
    language: 'en',
    raw: report({
      daemon: 'Mail Delivery Subsystem <MAILER-DAEMON@mail.isp.example>',
      human: `   ----- The following addresses had permanent fatal errors -----\r\n<${RECIPIENT}>\r\n    (reason: 552 5.2.2 Over quota)\r\n\r\n   ----- Transcript of session follows -----\r\n... while talking to mx.example.com.:\r\n>>> DATA\r\n<<< 552 5.2.2 Over quota`,
      status: fields(
        '5.2.2',
        'SMTP; 552 5.2.2 Over quota',
        `Remote-MTA: DNS; mx.example.com\r\nLast-Attempt-Date: ${DATE}\r\n`,
      ),
    }),
    counts: bounced('full'),
  },
  {
    server: 'qmail',
    language: 'en',
    raw: text(
      'MAILER-DAEMON@mail.isp.example',
      `Hi. This is the qmail-send program at mail.isp.example.\r\nI'm afraid I wasn't able to deliver your message to the following addresses.\r\nThis is a permanent error; I've given up. Sorry it didn't work out.\r\n\r\n<${RECIPIENT}>:\r\n192.0.2.25 does not like recipient.\r\nRemote host said: 550 5.1.1 No such user - sorry\r\nGiving up on 192.0.2.25.\r\n\r\n--- Below this line is a copy of the message.\r\n\r\n${RETURNED}`,
    ),
    counts: bounced('absent'),
  },
  {
    server: 'qmail, no code',
    language: 'en',
    raw: text(
      'MAILER-DAEMON@mail.isp.example',
      `Hi. This is the qmail-send program at mail.isp.example.\r\n\r\n<${RECIPIENT}>:\r\nI couldn't find any host by that name.\r\n\r\n--- Below this line is a copy of the message.\r\n\r\n${RETURNED}`,
    ),
    counts: 'ambiguous',
  },
  {
    server: 'Exchange 2019',
    language: 'de',
    raw: report({
      daemon: 'postmaster@isp.example',
      human: 'Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen.',
      status: fields('5.1.1', 'smtp;550 5.1.1 RESOLVER.ADR.RecipNotFound; not found', 'X-Display-Name: Ada\r\n'),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'Exchange Online',
    language: 'fr',
    raw: report({
      daemon: 'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@isp.example>',
      human: 'Votre message n’a pas pu être remis à ada. L’adresse est introuvable à example.com.',
      status: fields(
        '5.1.10',
        'smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
        `Original-Recipient: rfc822;${RECIPIENT}\r\n`,
      ),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'Exchange Online, our IP',
    language: 'en',
    raw: report({
      daemon: 'postmaster@isp.example',
      human: 'Your message could not be delivered.',
      status: fields(
        '5.7.606',
        'smtp;550 5.7.606 Access denied, banned sending IP [192.0.2.9]. To request removal from this list please visit the portal',
        'Remote-MTA: dns;example-com.mail.protection.outlook.com\r\n',
      ),
    }),
    counts: bounced('sender'),
  },
  {
    server: 'Gmail',
    language: 'pt',
    raw: report({
      daemon: 'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      headers: { 'X-Failed-Recipients': RECIPIENT },
      human: 'A mensagem não foi entregue porque o endereço não foi encontrado.',
      status: fields(
        '5.1.1',
        "smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try\r\n 550-5.1.1 double-checking the recipient's email address for typos or\r\n 550 5.1.1 unnecessary spaces. - gsmtp",
        `Remote-MTA: dns; gmail-smtp-in.l.google.com. (192.0.2.26, the server for the domain example.com.)\r\nLast-Attempt-Date: Thu, 05 Nov 2026 00:15:02 -0800 (PST)\r\n`,
      ),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'Yahoo, only text',
    language: 'en',
    raw: text(
      'MAILER-DAEMON@yahoo.com',
      `Sorry, we were unable to deliver your message to the following address.\r\n\r\n<${RECIPIENT}>:\r\n554: delivery error: dd This user doesn't have a yahoo.com account (${RECIPIENT}) [0] - mta1001.mail.yahoo.example\r\n\r\n--- Below this line is a copy of the message.\r\n\r\n${RETURNED}`,
    ),
    counts: bounced('absent'),
  },
  {
    server: 'Courier',
    language: 'en',
    raw: report({
      daemon: '"Courier mail server at mail.isp.example" <@mail.isp.example>',
      human: `UNDELIVERABLE MAIL\r\n\r\n<${RECIPIENT}>:\r\n     mx.example.com [192.0.2.25]:\r\n >>> RCPT TO:<${RECIPIENT}>\r\n <<< 550 User unknown`,
      status: fields('5.0.0', 'smtp; 550 User unknown', 'Remote-MTA: dns; mx.example.com [192.0.2.25]\r\n'),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'Zimbra',
    language: 'es',
    raw: report({
      daemon: 'MAILER-DAEMON@zimbra.isp.example',
      human: 'El mensaje no se ha podido entregar: el buzón está lleno.',
      status: fields('5.2.2', 'smtp; 552 5.2.2 Over quota', 'Remote-MTA: dns; mx.example.com\r\n'),
    }),
    counts: bounced('full'),
  },
  {
    server: 'Domino',
    language: 'en',
    raw: report({
      daemon: 'postmaster@isp.example',
      human: `Your message was not delivered to ${RECIPIENT} because of: User ada (${RECIPIENT}) not listed in Domino Directory`,
      status: fields('5.1.1', 'X-Notes; User ada (ada@example.com) not listed in Domino Directory'),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'OpenSMTPD',
    language: 'en',
    raw: report({
      daemon: 'Mailer Daemon <MAILER-DAEMON@mail.isp.example>',
      human: `    Hi!\r\n\r\n    This is the MAILER-DAEMON, please DO NOT REPLY to this email.\r\n\r\n${RECIPIENT}: 550 5.2.1 Mailbox disabled, not accepting messages`,
      status: `Reporting-MTA: dns; mail.isp.example\n\nFinal-Recipient: rfc822; ${RECIPIENT}\nAction: failed\nStatus: 5.2.1\nDiagnostic-Code: smtp; 550 5.2.1 Mailbox disabled, not accepting messages\n`,
    }),
    counts: bounced('disabled'),
  },
  {
    server: 'Haraka',
    language: 'nl',
    raw: report({
      daemon: 'MAILER-DAEMON@mail.isp.example',
      human: `<${RECIPIENT}>: de gebruiker bestaat niet`,
      status: `Reporting-MTA: dns;mail.isp.example\nArrival-Date: ${DATE}\n\nFinal-Recipient: rfc822;<${RECIPIENT}>\nAction: failed\nStatus: 5.1.1\nRemote-MTA: mx.example.com\nDiagnostic-Code: smtp;550 5.1.1 Gebruiker onbekend, user unknown\n`,
    }),
    counts: bounced('absent'),
  },
  {
    server: 'hMailServer, only text',
    language: 'en',
    raw: text(
      'mailer-daemon@isp.example',
      `Your message did not reach some or all of the intended recipients.\r\n\r\n   Sent: ${DATE}\r\n\r\nThe following recipient(s) could not be reached:\r\n\r\n${RECIPIENT}\r\n   Error Type: SMTP\r\n   Remote server replied: 550 5.1.1 Unknown user\r\n\r\nhMailServer`,
    ),
    counts: bounced('absent'),
  },
  {
    server: 'MDaemon',
    language: 'en',
    raw: report({
      daemon: 'MDaemon at isp.example <MDaemon@isp.example>',
      human: 'The attached message had PERMANENT fatal delivery errors!',
      encoding: 'base64',
      status: fields('5.1.1', `smtp; 550 <${RECIPIENT}> No such user here`, 'Remote-MTA: dns; mx.example.com\r\n'),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'Kerio Connect',
    language: 'cs',
    raw: report({
      daemon: 'Mail Delivery Subsystem <postmaster@isp.example>',
      human: 'Zprávu se nepodařilo doručit. Schránka neexistuje.',
      status: fields('5.1.1', 'smtp; 550 5.1.1 User unknown'),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'CommuniGate Pro',
    language: 'ru',
    raw: report({
      daemon: 'MAILER-DAEMON@isp.example',
      human: 'Письмо не доставлено: пользователь не найден.',
      status: fields('5.0.0', 'smtp; 550 ada@example.com Пользователь не найден: user unknown'),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'PowerMTA',
    language: 'en',
    raw: report({
      daemon: 'mailer-daemon@pmta.isp.example',
      human: 'This message could not be delivered.',
      status: `Reporting-MTA: dns;pmta.isp.example\r\n\r\nOriginal-Recipient: rfc822;${RECIPIENT}\r\nFinal-Recipient: rfc822;${RECIPIENT}\r\nAction: failed\r\nStatus: 5.7.1 (delivery not authorized, message refused)\r\nRemote-MTA: dns;mx.example.com (192.0.2.25)\r\nDiagnostic-Code: smtp;550 5.7.1 Service unavailable; client host [192.0.2.9] blocked using zen.spamhaus.org\r\nX-PowerMTA-BounceCategory: spam-related\r\n`,
    }),
    counts: bounced('sender'),
  },
  {
    server: 'Stalwart',
    language: 'ja',
    raw: report({
      daemon: 'Mail Delivery Subsystem <MAILER-DAEMON@isp.example>',
      human: 'メールを配信できませんでした。宛先のユーザーが見つかりません。',
      status: fields('5.1.1', 'smtp;550 5.1.1 User unknown, 宛先のユーザーが見つかりません'),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'Coremail',
    language: 'zh',
    raw: report({
      daemon: 'Postmaster@isp.example',
      human: '很抱歉，您的邮件被退回：收件人不存在。',
      status: fields('5.1.1', 'smtp; 550 5.1.1 User not found: ada@example.com 收件人不存在'),
    }),
    counts: bounced('absent'),
  },
  {
    server: 'SMTPUTF8 (RFC 6533)',
    language: 'pl',
    raw: Buffer.from(
      report({
        daemon: 'MAILER-DAEMON@isp.example',
        human: 'Nie można dostarczyć wiadomości.',
        status: `Reporting-MTA: dns; isp.example\r\n\r\nFinal-Recipient: utf-8; \\x{61}da@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 User unknown\r\n`,
      })
        .toString()
        .replace('Content-Type: message/delivery-status', 'Content-Type: message/global-delivery-status'),
    ),
    counts: bounced('absent'),
  },
  {
    server: 'Postfix, asked for a notice of success',
    language: 'en',
    raw: report({
      daemon: 'MAILER-DAEMON@mail.isp.example',
      human: 'This is the mail system. Your message was successfully delivered.',
      status: fields('2.0.0', 'smtp; 250 2.0.0 Ok: queued', '', 'delivered'),
    }),
    counts: { outcome: 'delivered', as: 'delivered' },
  },
  {
    server: 'Sendmail, relayed',
    language: 'en',
    raw: report({
      daemon: 'MAILER-DAEMON@mail.isp.example',
      human: 'Your message was relayed to a server that does not send notices.',
      status: fields('2.6.0', null, '', 'relayed'),
    }),
    counts: 'relayed',
  },
  {
    server: 'vacation',
    language: 'en',
    raw: text(`Ada <${RECIPIENT}>`, 'I am away until 2027. In my absence ask eve@example.com. 550 5.1.1', {
      'Auto-Submitted': 'auto-replied (vacation)',
    }),
    counts: 'auto_reply',
  },
  {
    server: 'a person',
    language: 'en',
    raw: text(`Ada <${RECIPIENT}>`, 'Thank you!', { 'Return-Path': `<${RECIPIENT}>` }),
    counts: 'no_report',
  },
];

// Feedback reports.

interface Feedback {
  readonly type: string;
  readonly rcpt?: string;
  readonly returned?: string;
}
const feedback = ({ type, rcpt = `Original-Rcpt-To: <${RECIPIENT}>\r\n`, returned = RETURNED }: Feedback): Buffer =>
  Buffer.from(
    headed(
      top('feedback@isp.example', {
        'MIME-Version': '1.0',
        'Content-Type': 'multipart/report; report-type=feedback-report; boundary="fb"',
      }),
      `--fb\r\nContent-Type: text/plain\r\n\r\nThis is an email abuse report.\r\n--fb\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: ${type}\r\nUser-Agent: Feedback/1.0\r\nVersion: 1\r\n${rcpt}Arrival-Date: ${DATE}\r\nSource-IP: 192.0.2.9\r\n\r\n--fb\r\nContent-Type: message/rfc822\r\n\r\n${returned}\r\n--fb--\r\n`,
    ),
  );
const complained = { outcome: 'complained' as const, as: 'complained' as const };

export const SAMPLE_FEEDBACK: readonly SampleReport[] = [
  { server: 'Yahoo', language: 'en', raw: feedback({ type: 'abuse' }), counts: complained },
  { server: 'fraud', language: 'en', raw: feedback({ type: 'fraud' }), counts: complained },
  { server: 'Fastmail, not spam', language: 'en', raw: feedback({ type: 'not-spam' }), counts: 'not_spam' },
  { server: 'authentication', language: 'en', raw: feedback({ type: 'auth-failure' }), counts: 'other_feedback' },
  { server: 'a type of tomorrow', language: 'en', raw: feedback({ type: 'dislike' }), counts: 'other_feedback' },
  {
    server: 'Outlook.com, redacted',
    language: 'en',
    raw: feedback({
      type: 'abuse',
      rcpt: '',
      returned: `X-HmXmrOriginalRecipient: ${RECIPIENT}\r\n${RETURNED}`,
    }),
    counts: complained,
  },
  {
    server: 'the recipient only in the returned message',
    language: 'en',
    raw: feedback({ type: 'abuse', rcpt: '' }),
    counts: complained,
  },
  {
    server: 'no recipient anywhere',
    language: 'en',
    raw: feedback({ type: 'abuse', rcpt: '', returned: headed({ From: 'news@sender.example' }, 'x') }),
    counts: 'no_recipient',
  },
];

// Hostile messages.

const MiB = 1024 * 1024;

/** Of at most 1 MiB each. */
export const HOSTILE_REPORTS: Readonly<Record<string, () => Buffer>> = {
  'nested 1,000 deep': () => {
    let text = 'Content-Type: multipart/mixed; boundary=b0\r\n\r\n';
    for (let at = 0; at < 1_000; at++) text += `--b${at}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`;
    return Buffer.from(text);
  },
  '100,000 headers': () => Buffer.from(`${'X: y\n'.repeat(100_000)}\nx`),
  'headers of 1 MiB in one line': () => Buffer.from(`Subject: ${'=?utf-8?q?a?= '.repeat(74_000)}`),
  'a folded header of 300,000 lines': () => Buffer.from(`Subject: a\n${' b\n'.repeat(300_000)}\nx`),
  '200,000 parameters': () => Buffer.from(`Content-Type: text/plain${'; a=b'.repeat(200_000)}\n\nx`),
  '1 MiB of base64': () =>
    Buffer.from(
      `Content-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n${`${'QUFB'.repeat(19)}\n`.repeat(13_500)}`,
    ),
  'base64 without a line': () =>
    Buffer.from(`Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n${'QUFB'.repeat(260_000)}`),
  '1 million empty lines': () => Buffer.from(`From: mailer-daemon@a.example\n\n${'\n'.repeat(MiB - 100)}`),
  '200,000 parts': () => Buffer.from(`Content-Type: multipart/report; boundary=b\n\n${'--b\n\n'.repeat(200_000)}`),
  '34,000 messages in messages': () => Buffer.from('Content-Type: message/rfc822\n\n'.repeat(34_000)),
  '1 MiB of HTML beside text': () =>
    Buffer.from(
      `Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Type: text/html\n\n${'<a><b>&amp;'.repeat(90_000)}`,
    ),
  '1 MiB of text beside HTML': () =>
    Buffer.from(
      `Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\nx\n--b\n\n${'&<>"'.repeat(250_000)}`,
    ),
  '100,000 recipients': () =>
    Buffer.from(`Content-Type: message/delivery-status\n\n${'Final-Recipient: rfc822;a@b.example\n'.repeat(29_000)}`),
  'one field of 1 MiB': () =>
    Buffer.from(
      `Content-Type: message/delivery-status\n\nFinal-Recipient: rfc822;a@b.example\nAction: failed\nDiagnostic-Code: smtp; ${'550-5.1.1 '.repeat(100_000)}`,
    ),
  'addresses and codes without end': () =>
    Buffer.from(`From: mailer-daemon@a.example\n\n${'<a@b.example>: 550 5.1.1 said '.repeat(34_000)}`),
  'signs of addresses': () => Buffer.from(`From: mailer-daemon@a.example\n\n${'a@'.repeat(500_000)}`),
  '1 MiB of NUL': () => Buffer.alloc(MiB),
};
