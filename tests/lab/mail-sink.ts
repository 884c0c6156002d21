/** A mail server that accepts and records all mail to dashboard users. */
import { type Persona, type SmtpLab, startSmtp } from './smtp.ts';

interface Mailed {
  /** Envelope recipients. */
  readonly from: string;
  readonly to: readonly string[];
  /** Header lines, unfolded and decoded, by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** As sent, dots unstuffed. */
  readonly raw: string;
  /** The decoded body. */
  readonly text: string;
  /** The first link in the body. */
  readonly token: string;
}

export interface MailSink {
  /** For MAILVET_MAIL_URL. */
  readonly url: string;
  readonly mails: readonly Mailed[];
  readonly smtp: SmtpLab;
  /** Waits for the next unread mail to this address. */
  next(to: string): Promise<Mailed>;
  close(): Promise<void>;
}

/** The machine may be busy. */
const WAIT_MAX_MS = 30_000;

export async function startMailSink(persona: Persona = {}): Promise<MailSink> {
  const mails: Mailed[] = [];
  const taken = new Set<Mailed>();
  const writing = new Map<number, string[]>();
  const smtp = await startSmtp({
    mailboxes: ['*'],
    ...persona,
    on(heard, connection) {
      const lines = writing.get(connection.number);
      if (lines !== undefined) {
        if (heard.line !== '.') {
          lines.push(heard.line.replace(/^\./, ''));
          return 'silence';
        }
        writing.delete(connection.number);
        mails.push(mailOf(connection.commands, lines));
        return '250 2.0.0 queued';
      }
      const own = persona.on?.(heard, connection);
      if (own !== undefined) return own;
      if (heard.verb !== 'DATA') return undefined;
      writing.set(connection.number, []);
      return '354 go ahead';
    },
  });
  return {
    url: `smtp://${smtp.address}:${smtp.port}`,
    mails,
    smtp,
    async next(to) {
      for (const until = performance.now() + WAIT_MAX_MS; performance.now() < until; ) {
        const found = mails.find((mail) => mail.to.includes(to) && !taken.has(mail));
        if (found !== undefined) {
          taken.add(found);
          return found;
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`No mail to ${to} arrived.`);
    },
    close: () => smtp.close(),
  };
}

function mailOf(commands: SmtpLab['commands'], lines: readonly string[]): Mailed {
  const end = lines.indexOf('');
  const unfolded = lines
    .slice(0, end)
    .join('\n')
    .replaceAll(/\n[ \t]+/g, ' ')
    .split('\n');
  const headers = new Map(
    unfolded.map((line) => [line.split(':', 1)[0]!.toLowerCase(), words(line.replace(/^[^:]+:\s*/, ''))]),
  );
  const text = decoded(lines.slice(end + 1), headers.get('content-transfer-encoding') ?? '7bit');
  return {
    from: commands.findLast((command) => command.verb === 'MAIL')?.path ?? '',
    to: commands.filter((command) => command.verb === 'RCPT').map((command) => command.path),
    headers,
    raw: lines.join('\n'),
    text,
    token: /#token=([0-9A-Za-z]+)/.exec(text)?.[1] ?? '',
  };
}

/** Decodes RFC 2047 encoded words. */
const words = (header: string): string =>
  header.replaceAll(/(=\?UTF-8\?Q\?[^?]*\?=\s*)+/gi, (run) => {
    const inner = [...run.matchAll(/=\?UTF-8\?Q\?([^?]*)\?=/gi)].map(([, text]) => text!.replaceAll('_', ' ')).join('');
    return decoded([inner], 'quoted-printable');
  });

function decoded(lines: readonly string[], encoding: string): string {
  if (encoding === 'base64') return Buffer.from(lines.join(''), 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return lines.join('\n');
  const bytes = lines
    .join('\n')
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
