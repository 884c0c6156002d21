import type { Transporter } from 'nodemailer';
import { within } from '../kernel/bounded-wait.ts';
import { toIso } from '../kernel/clock.ts';
import {
  INVITATION_DAYS,
  RESET_LINK_HOURS,
  SIGNUP_LINK_HOURS,
  WEBHOOK_FAILING_DAYS,
} from '../kernel/facts/lifetimes.ts';
import { counted } from '../kernel/format.ts';
import { type AlertMail, JobFailure, type MailPayload, type SecurityChange } from '../kernel/jobs.ts';
import { linkTo } from './alerts.ts';
import { harmlessName, UNSAFE_CHARACTERS } from './link-text.ts';

/** A mail with a link. The link's token is in the fragment. */
interface LinkMail {
  readonly to: string;
  readonly link: string;
}
type PayloadOf<Template extends MailPayload['template']> = Omit<
  Extract<MailPayload, { template: Template }>,
  'template'
>;

interface MailParts {
  /** `smtp://user:password@host:587` or `smtps://…`; asked for each message, since its password may be renewed. */
  readonly server: () => string;
  readonly from: string;
  /** The public URL of the service has no trailing slash. */
  readonly url: () => string;
}

const MAIL_CONNECT_MS = 10_000;
const MAIL_IDLE_MS = 10_000;
const TOTAL_MS = 30_000;

interface Message {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly lines: readonly string[];
}

/** An error of the library. Its message quotes the mail server, so it must not be logged. */
interface TransportError {
  readonly code?: string;
  /** The system's or TLS's own code, where `code` only says that the socket failed. */
  readonly originalCode?: string;
  readonly responseCode?: number;
  readonly command?: string;
}

function tookTooLong(): never {
  throw Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' });
}

/** Sends messages to one mail server, in at most TOTAL_MS each. */
function senderTo({ server, from }: Omit<MailParts, 'url'>) {
  async function withTransport(use: (transport: Transporter) => Promise<unknown>): Promise<void> {
    // Imported lazily, because most services never send mail.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({ ...transportOf(server()), ...BOUNDS, logger: false });
    // sendMail reports what fails as well.
    transport.on('error', () => undefined);
    try {
      await within({ ms: TOTAL_MS, late: tookTooLong }, () => use(transport));
    } catch (error) {
      throw mailFailure(error as TransportError);
    } finally {
      transport.close();
    }
  }
  const send = ({ id, to, subject, lines }: Message): Promise<void> =>
    withTransport((transport) =>
      transport.sendMail({
        // Objects, so that nothing in them can be parsed as a list of addresses.
        from: { name: 'Mailvet', address: from },
        to: { name: '', address: to },
        subject: singleLine(subject),
        text: `${lines.map((line) => singleLine(line)).join('\n')}\n`,
        messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      }),
    );
  return { send, connect: () => withTransport((transport) => transport.verify()) };
}

/** What the doctor asks of the mail server. Both throw JobFailure, as `Mail` does. */
export function createMailTrial(parts: MailParts) {
  const { send, connect } = senderTo(parts);
  return {
    /** Connects and signs in, and sends nothing. */
    connect,
    send: (to: string, id: string) =>
      send({
        id,
        to,
        subject: 'Mailvet can send mail',
        lines: ['`mailvet doctor --mail-to` sent this message to test the mail server of this service:', parts.url()],
      }),
  };
}

/**
 * Plain-text mail to users. `id` is the job's ID and becomes the Message-ID, so that a mail sent twice has the same
 * one. Throws JobFailure, whose message contains no addresses, links or text of the mail server.
 */
export function createMail({ server, from, url }: MailParts) {
  const { send } = senderTo({ server, from });
  return {
    passwordReset: ({ to, link }: LinkMail, id: string) =>
      send({
        id,
        to,
        subject: 'Reset your Mailvet password',
        lines: [
          'We received a request to reset your Mailvet password.',
          '',
          `To choose a new password, open this link within ${counted(RESET_LINK_HOURS, 'hour')}:`,
          link,
          '',
          'If you did not request this, ignore this message. Your password has not changed.',
        ],
      }),
    confirmAddress: ({ to, link }: LinkMail, id: string) =>
      send({
        id,
        to,
        subject: 'Confirm your email address for Mailvet',
        lines: [
          'Someone signed up for Mailvet with this email address.',
          '',
          `If that was you, open this link to confirm the address within ${counted(SIGNUP_LINK_HOURS, 'hour')}:`,
          link,
          '',
          'If it was not you, ignore this message. No account will be created.',
        ],
      }),
    /** Goes to someone who signed up with the address of an existing user. */
    alreadyRegistered: ({ to, link }: LinkMail, id: string) =>
      send({
        id,
        to,
        subject: 'You already have a Mailvet account',
        lines: [
          'Someone tried to sign up for Mailvet with this email address, which already has an account.',
          '',
          'If that was you, sign in here. If you forgot your password, you can reset it on the same page:',
          link,
          '',
          'If it was not you, ignore this message. Nothing has changed.',
        ],
      }),
    invitation: ({ to, account, role, by, link }: PayloadOf<'invitation'>, id: string) =>
      send({
        id,
        to,
        subject: `Invitation to "${harmlessName(account)}" on Mailvet`,
        lines: [
          `${by} invited you to join the account "${harmlessName(account)}" on Mailvet. Your role: ${role}.`,
          '',
          `To accept, open this link within ${counted(INVITATION_DAYS, 'day')}:`,
          link,
          '',
          'If you do not know the sender, ignore this message.',
        ],
      }),
    /** The version before has queued it. */
    lowBalance: ({ to, account, balance, threshold, link }: PayloadOf<'low_balance'>, id: string) =>
      send({
        id,
        to,
        subject: `"${harmlessName(account)}" is running low on credits`,
        lines: [
          `The account "${harmlessName(account)}" on Mailvet has ${balance} credits left, below its alert threshold of ${threshold}.`,
          'Verifications are rejected once the credits are used up.',
          '',
          link,
        ],
      }),
    /** `account` is its id. */
    alert: ({ to, account, subject, text, path }: AlertMail, accountId: string, id: string) =>
      send({
        id,
        to,
        subject: `${subject} (${harmlessName(account)})`,
        lines: [
          text,
          '',
          `Account: "${harmlessName(account)}" on Mailvet`,
          linkTo(url(), accountId, path),
          '',
          'Owners and admins choose which alerts are mailed, and pause them, here:',
          linkTo(url(), accountId, '/alerts'),
        ],
      }),
    webhookDisabled: ({ to, account, webhook, reason, link }: PayloadOf<'webhook_disabled'>, id: string) =>
      send({
        id,
        to,
        subject: `A webhook of "${harmlessName(account)}" was disabled`,
        lines: [
          `Mailvet no longer sends events of the account "${harmlessName(account)}" to this webhook:`,
          webhook,
          '',
          WEBHOOK_DISABLED[reason],
          'Events that happen while it is disabled are not sent. Enable it, and replay earlier deliveries, here:',
          link,
        ],
      }),
    /** To a user whose password, second factor or passkeys were changed. */
    securityChange: (
      { to, change, removedPasskeys, at, ip, device, link }: PayloadOf<'security_change'>,
      id: string,
    ) => {
      const { subject, sentence } = SECURITY_CHANGES[change];
      const byOperator = ip === null && device === null;
      return send({
        id,
        to,
        subject,
        lines: [
          `${sentence} User: ${to}.`,
          ...(removedPasskeys > 0 ? [`Passkeys removed: ${removedPasskeys}.`] : []),
          '',
          `Time: ${toIso(at).slice(0, 16).replace('T', ' ')} UTC`,
          ...(byOperator
            ? ['Changed by: the operator of the service, on the command line']
            : [`IP address: ${ip ?? 'unknown'}`, `Device: ${device ?? 'unknown'}`]),
          '',
          ...(byOperator
            ? ['If you did not expect this, ask the operator of the service.']
            : [
                'If it was you, you need not do anything.',
                '',
                'If it was not you, choose a new password now, which ends all sessions and removes all passkeys:',
                link,
              ]),
        ],
      });
    },
  };
}

export type Mail = ReturnType<typeof createMail>;

const WEBHOOK_DISABLED: Readonly<Record<PayloadOf<'webhook_disabled'>['reason'], string>> = {
  gone: 'It answered with status 410 (Gone).',
  failing: `Every attempt has failed for ${counted(WEBHOOK_FAILING_DAYS, 'day')}.`,
};

const SECURITY_CHANGES: Readonly<Record<SecurityChange, { readonly subject: string; readonly sentence: string }>> = {
  password_changed: {
    subject: 'Your Mailvet password was changed',
    sentence: 'The password of your Mailvet user was changed.',
  },
  second_factor_on: {
    subject: 'Two-factor authentication was turned on',
    sentence: 'An authenticator app was added to your Mailvet user, with new recovery codes.',
  },
  second_factor_off: {
    subject: 'Two-factor authentication was turned off',
    sentence: 'The authenticator app and the recovery codes of your Mailvet user were removed.',
  },
  passkey_added: {
    subject: 'A passkey was added to your Mailvet user',
    sentence: 'A passkey was added: whoever has it can sign in as your Mailvet user.',
  },
  passkey_removed: {
    subject: 'A passkey was removed from your Mailvet user',
    sentence: 'A passkey of your Mailvet user was removed.',
  },
};

/**
 * The recipient or the message was rejected with 5xx (RFC 5321 §4.2.1). A failed login may be fixed, so it is retried.
 */
const isPermanent = ({ responseCode = 0, command = '' }: TransportError): boolean =>
  responseCode >= 500 && /^(RCPT|DATA)/.test(command);

function mailFailure(error: TransportError): JobFailure {
  const { originalCode, code, responseCode, command } = error;
  const step = command?.split(' ', 1)[0];
  const reply =
    responseCode === undefined
      ? null
      : step === undefined
        ? `reply ${responseCode}`
        : `reply ${responseCode} to ${step}`;
  const cause = reply ?? originalCode ?? code ?? 'unknown error';
  return new JobFailure(`Mail could not be sent: ${cause}.`, { permanent: isPermanent(error) });
}

const BOUNDS = {
  connectionTimeout: MAIL_CONNECT_MS,
  dnsTimeout: MAIL_CONNECT_MS,
  greetingTimeout: MAIL_IDLE_MS,
  socketTimeout: MAIL_IDLE_MS,
  // Messages are plain text; nothing in them may make the library read a file or fetch a URL.
  disableFileAccess: true,
  disableUrlAccess: true,
} as const;

/** Nothing in a mail is to break its lines or reorder its text; names of accounts are `harmlessName` as well. */
const singleLine = (text: string): string => text.replaceAll(UNSAFE_CHARACTERS, ' ');

/**
 * Connection settings. Certificates are always verified. A password is sent only over TLS; without a password, STARTTLS
 * is used if offered. Not on loopback: nobody can eavesdrop there, and local servers rarely have a certificate for that
 * name.
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
