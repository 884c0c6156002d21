import type { Logger } from '../kernel/log.ts';

/**
 * Mails to the people who sign in: plain text, with links whose token stands in the fragment. Each answers whether the
 * mail server took it; what went wrong is logged, without addresses, links or words of the server.
 */
export interface Mail {
  reset(to: string, link: string): Promise<boolean>;
  verify(to: string, link: string): Promise<boolean>;
  /** To somebody who signed up with an address that is known. */
  known(to: string, link: string): Promise<boolean>;
  invitation(input: { to: string; account: string; role: string; by: string; link: string }): Promise<boolean>;
  lowBalance(input: { to: string; account: string; balance: number; line: number; link: string }): Promise<boolean>;
}

export interface MailParts {
  /** `smtp://user:password@host:587` or `smtps://…` */
  readonly server: string;
  readonly from: string;
  readonly logger: Logger;
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 10_000;
const WHOLE_MS = 30_000;

interface Letter {
  readonly kind: string;
  readonly to: string;
  readonly subject: string;
  readonly lines: readonly string[];
}

/** An error of the library: words of the mail server are in its message, which is not for the log. */
interface Failure {
  readonly code?: string;
  /** What the system or TLS called it, where `code` only says that it was the socket. */
  readonly originalCode?: string;
  readonly responseCode?: number;
  readonly command?: string;
}

export function createMail({ server, from, logger }: MailParts): Mail {
  const settings = transportOf(server);
  async function send({ kind, to, subject, lines }: Letter): Promise<boolean> {
    // Not at the start, which most services never send a mail after.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({ ...settings, ...BOUNDS, logger: false });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(Object.assign(new Error('too slow'), { code: 'ETIMEDOUT' })), WHOLE_MS);
    });
    try {
      const letter = {
        // Objects, so that nothing in them is read as a list of addresses.
        from: { name: 'Mailvet', address: from },
        to: { name: '', address: to },
        subject: plain(subject),
        text: `${lines.map((line) => plain(line)).join('\n')}\n`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      };
      await Promise.race([transport.sendMail(letter), late]);
      return true;
    } catch (error) {
      const { originalCode, code, responseCode, command } = error as Failure;
      const fields = {
        mail: kind,
        code: originalCode ?? code,
        reply: responseCode,
        command: command?.split(' ', 1)[0],
      };
      logger.error(fields, 'a mail was not sent');
      return false;
    } finally {
      clearTimeout(timer);
      transport.close();
    }
  }

  return {
    reset: (to, link) =>
      send({
        kind: 'reset',
        to,
        subject: 'Choose a new password for Mailvet',
        lines: [
          'Somebody, most likely you, asked for a new password for Mailvet.',
          '',
          'Choose it here within the hour:',
          link,
          '',
          'If it was not you, do nothing: your password stays as it is.',
        ],
      }),
    verify: (to, link) =>
      send({
        kind: 'verify',
        to,
        subject: 'Confirm your address for Mailvet',
        lines: [
          'Somebody, most likely you, signed up for Mailvet with this address.',
          '',
          'Confirm it here within a day:',
          link,
          '',
          'If it was not you, do nothing: there will be no account.',
        ],
      }),
    known: (to, link) =>
      send({
        kind: 'known',
        to,
        subject: 'You have a Mailvet account already',
        lines: [
          'Somebody, most likely you, signed up for Mailvet with this address, which signs in already.',
          '',
          'Sign in here; there is also a link to choose a new password:',
          link,
          '',
          'If it was not you, do nothing: nothing was changed.',
        ],
      }),
    invitation: ({ to, account, role, by, link }) =>
      send({
        kind: 'invitation',
        to,
        subject: `Invitation to "${account}" on Mailvet`,
        lines: [
          `${by} invited you to the account "${account}" on Mailvet, as ${role}.`,
          '',
          'Accept it here within seven days:',
          link,
          '',
          'If you do not know who that is, do nothing.',
        ],
      }),
    lowBalance: ({ to, account, balance, line, link }) =>
      send({
        kind: 'low_balance',
        to,
        subject: `Credits of "${account}" are running low`,
        lines: [
          `The account "${account}" on Mailvet has ${balance} credits left, fewer than the ${line} that were set as its line.`,
          'At 0 its verifications are refused.',
          '',
          link,
        ],
      }),
  };
}

const BOUNDS = {
  connectionTimeout: CONNECT_MS,
  dnsTimeout: CONNECT_MS,
  greetingTimeout: SILENCE_MS,
  socketTimeout: SILENCE_MS,
  // A letter is text of ours; nothing in it may name a file or a page to fetch.
  disableFileAccess: true,
  disableUrlAccess: true,
} as const;

/** Names of accounts are words of strangers: on one line, whatever they hold. */
const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ');

/**
 * How to reach the server. Certificates are always verified. A password goes over TLS only; without one STARTTLS is used
 * where it is offered. On loopback nobody listens in, and local servers rarely have a certificate for that name.
 */
function transportOf(server: string) {
  const url = new URL(server);
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const local = host === 'localhost' || host === '::1' || host.startsWith('127.');
  const auth =
    url.username === ''
      ? undefined
      : { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) };
  return {
    host,
    port: url.port === '' ? (secure ? 465 : auth === undefined ? 25 : 587) : Number(url.port),
    secure,
    requireTLS: !secure && auth !== undefined && !local,
    ignoreTLS: !secure && local,
    ...(auth === undefined ? {} : { auth }),
  };
}
