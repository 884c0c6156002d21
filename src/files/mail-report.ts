/**
 * Reports that mail servers send of mail: delivery status notifications (RFC 3464, in a report of RFC 6522), feedback
 * reports (RFC 5965), bounces that are only text, and mbox files of them. Anybody may send them: what is read of one
 * is bounded before it is parsed.
 */

import type { Attachment, Email } from 'postal-mime';
import { parseDiagnostic } from '../engine/smtp/bounce.ts';
import { fromMailDate } from '../kernel/clock.ts';
import { LF } from '../kernel/facts/ascii.ts';
import { ADDRESS_LENGTH, MAIL_DIAGNOSTIC_LENGTH, MAIL_REPORT_BYTES, MAIL_REPORT_READ } from '../kernel/facts/limits.ts';
import type { MailOutcome } from '../kernel/facts/sent-mail.ts';

/** Why a report, or what it says of a recipient, is no outcome. */
export const DISREGARDED = {
  auto_reply: 'an automatic reply: the mail arrived, or its sender is away (RFC 3834)',
  delayed: 'a notice of a delay: the server still tries',
  relayed: 'handed on to a server that reports nothing more',
  not_spam: 'a report that the mail is no spam',
  other_feedback: 'feedback that is no complaint',
  no_recipient: 'it does not say for which address',
  ambiguous: 'only text, in which address and code are not found beyond doubt',
  no_report: 'no delivery status notification, feedback report or bounce',
  too_complex: 'its MIME structure exceeds what is read of a report',
} as const;
export type Disregarded = keyof typeof DISREGARDED;

export interface ReportedRecipient {
  readonly email: string;
  readonly outcome: MailOutcome;
  /** As the report says, ms; null: it does not. */
  readonly at: number | null;
  readonly diagnostic: string | null;
}

export interface MailReport {
  readonly outcomes: readonly ReportedRecipient[];
  /** `email`: null where it concerns the whole message. */
  readonly disregarded: readonly { readonly email: string | null; readonly why: Disregarded }[];
}

const disregardedReport = (why: Disregarded): MailReport => ({ outcomes: [], disregarded: [{ email: null, why }] });

// What is read.

const DASH = 0x2d;

/**
 * The beginning of a message that is parsed: as many bytes, lines and boundaries as reports need. They come before the
 * message that is returned with them (RFC 6522 §3).
 */
function beginningOf(raw: Uint8Array): Uint8Array {
  const { bytes, lines: mostLines, boundaries: mostBoundaries } = MAIL_REPORT_READ;
  const most = Math.min(raw.length, bytes);
  let boundaries = 0;
  let at = 0;
  for (let lines = 0; lines < mostLines && at < most; lines++) {
    if (raw[at] === DASH && raw[at + 1] === DASH) boundaries++;
    if (boundaries > mostBoundaries) break;
    const end = raw.indexOf(LF, at);
    if (end === -1) return raw.subarray(0, most);
    at = end + 1;
  }
  return raw.subarray(0, Math.min(at, most));
}

/** Null: its structure exceeds what is read. */
async function parse(raw: Uint8Array): Promise<Email | null> {
  // Loaded with the first report: most processes never read one.
  const { default: PostalMime } = await import('postal-mime');
  try {
    return await PostalMime.parse(beginningOf(raw), {
      maxNestingDepth: MAIL_REPORT_READ.depth,
      maxHeadersSize: MAIL_REPORT_READ.headerBytes,
      // What is returned is not opened: a report in there is about somebody else's mail.
      forceRfc822Attachments: true,
    });
  } catch (error) {
    if (error instanceof Error && /^Maximum /.test(error.message)) return null;
    throw error;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const latin1 = new TextDecoder('latin1');

function attachmentText({ content }: Attachment): string {
  if (typeof content === 'string') return content;
  try {
    return utf8.decode(content);
  } catch {
    return latin1.decode(content);
  }
}

// Fields (RFC 3464 §2.1, RFC 5965 §3)

/** Names in lower case, values unfolded; the first of a name comes first. */
type HeaderFields = ReadonlyMap<string, readonly string[]>;

/** Groups of fields, between which there are empty lines; one begins as well where a recipient does. */
function fieldGroups(text: string): HeaderFields[] {
  const groups: Map<string, string[]>[] = [];
  let group = new Map<string, string[]>();
  let last: string[] | null = null;
  const next = () => {
    if (group.size > 0) groups.push(group);
    group = new Map();
    last = null;
  };
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') {
      next();
      continue;
    }
    if (/^[ \t]/.test(line) && last !== null) {
      last[last.length - 1] += ` ${line.trim()}`;
      continue;
    }
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (name === '') continue;
    if (name === 'final-recipient' && group.has(name)) next();
    last = group.get(name) ?? [];
    last.push(line.slice(colon + 1).trim());
    group.set(name, last);
  }
  next();
  return groups;
}

const firstField = (fields: HeaderFields, name: string): string | null => fields.get(name)?.[0] ?? null;

/** `type; value`, where a comment may follow. */
function typed(value: string | null): { readonly type: string; readonly text: string } | null {
  const at = value?.indexOf(';') ?? -1;
  if (value === null || at === -1) return null;
  return { type: value.slice(0, at).trim().toLowerCase(), text: value.slice(at + 1).trim() };
}

const REPORTED_MAILBOX = /^[^\s@<>,;]{1,64}@[^\s@<>,;]{1,253}$|^"[^"\r\n]{1,62}"@[^\s@<>,;]{1,253}$/;

function mailboxIn(text: string): string | null {
  const bare = /^<([^<>]*)>/.exec(text)?.[1] ?? text;
  const plain = bare.trim();
  return plain.length <= ADDRESS_LENGTH.max && REPORTED_MAILBOX.test(plain) ? plain : null;
}

/** RFC 6533 §3: characters beyond ASCII may be written by their numbers. */
const fromXtext = (text: string): string =>
  text.replaceAll(/\\x\{([\da-f]{2,6})\}/gi, (written, hex: string) => {
    const number = Number.parseInt(hex, 16);
    return number > 0x10_ff_ff ? written : String.fromCodePoint(number);
  });

function recipientIn(value: string | null): string | null {
  const recipient = typed(value);
  if (recipient === null) return null;
  if (recipient.type === 'rfc822') return mailboxIn(recipient.text);
  return recipient.type === 'utf-8' ? mailboxIn(fromXtext(recipient.text)) : null;
}

const mailTime = (date: string | null | undefined): number | null => fromMailDate(date ?? '');

// Delivery status notifications

/** RFC 3464 §2.3.3. */
const ACTIONS: Readonly<Record<string, MailOutcome | Disregarded>> = {
  failed: 'bounced',
  delivered: 'delivered',
  delayed: 'delayed',
  relayed: 'relayed',
  expanded: 'relayed',
};
const isDisregarded = (word: string): word is Disregarded => Object.hasOwn(DISREGARDED, word);

const STATUS = /^[245]\.\d{1,3}\.\d{1,3}(?!\d)/;
const HAS_CODE = /(?<![\d.])[245]\d\d(?![\d.])|(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.])/;
/** Says nothing more than the class does (RFC 3463 §3.1). */
const GENERAL = /^[245]\.0\.0$/;

/** Where Postfix notes in its text what was refused. */
const REFUSED_COMMAND_NOTE = /\(in reply to [A-Za-z ]{3,30} command\)/;

function diagnosticOf(fields: HeaderFields, note: string): string | null {
  const status = STATUS.exec(firstField(fields, 'status') ?? '')?.[0] ?? '';
  const code = firstField(fields, 'diagnostic-code') ?? '';
  const said = typed(code)?.text ?? code;
  const remote = typed(firstField(fields, 'remote-mta'))?.text ?? '';
  const [host = ''] = /^[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?(?=$|[\s([])/i.exec(remote) ?? [];
  const words = HAS_CODE.test(said) || GENERAL.test(status) ? said : `${status} ${said}`.trim();
  if (words === '') return null;
  const text = host.includes('.') ? `host ${host} said: ${words}` : words;
  return `${text.slice(0, MAIL_DIAGNOSTIC_LENGTH.max - note.length - 1)} ${note}`.trim();
}

/** A recipient is whom the mail was sent to, where that is said; it may have been forwarded. */
function readDeliveryStatus(status: string, { text = '', date }: Email): MailReport {
  const [message, ...others] = fieldGroups(status);
  const groups = [message, ...others].filter((group): group is HeaderFields => group?.has('final-recipient') ?? false);
  const outcomes: ReportedRecipient[] = [];
  const disregarded: { email: string | null; why: Disregarded }[] = [];
  // What is noted in the text is known to be about a recipient only where there is one.
  const note = groups.length === 1 ? (REFUSED_COMMAND_NOTE.exec(text)?.[0] ?? '') : '';
  for (const group of groups.slice(0, MAIL_REPORT_READ.recipients)) {
    const email =
      recipientIn(firstField(group, 'original-recipient')) ?? recipientIn(firstField(group, 'final-recipient'));
    const [word = ''] = /^[a-z]+/.exec((firstField(group, 'action') ?? '').toLowerCase()) ?? [];
    const code = STATUS.exec(firstField(group, 'status') ?? '')?.[0] ?? '';
    const action = ACTIONS[word] ?? (code.startsWith('5') ? 'bounced' : 'delayed');
    if (email === null) disregarded.push({ email, why: 'no_recipient' });
    else if (isDisregarded(action)) disregarded.push({ email, why: action });
    else {
      const at = mailTime(firstField(group, 'last-attempt-date')) ?? mailTime(date);
      outcomes.push({
        email,
        outcome: action,
        at,
        diagnostic: action === 'bounced' ? diagnosticOf(group, note) : null,
      });
    }
  }
  return groups.length === 0 ? disregardedReport('no_recipient') : { outcomes, disregarded };
}

// Feedback reports

/** RFC 5965 §7.3, RFC 6591, RFC 6650; other types are no complaints either. */
const FEEDBACK: Readonly<Record<string, 'complained' | Disregarded>> = {
  abuse: 'complained',
  fraud: 'complained',
  'not-spam': 'not_spam',
  'auth-failure': 'other_feedback',
  virus: 'other_feedback',
  other: 'other_feedback',
};

const RETURNED = new Set(['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers']);

/**
 * Returns the recipient of the returned message if it names one: providers leave it out of the report, or redact it.
 */
function returnedTo(attachments: readonly Attachment[]): string | null {
  const returned = attachments.find(({ mimeType }) => RETURNED.has(mimeType));
  if (returned === undefined) return null;
  const [head] = fieldGroups(attachmentText(returned));
  const to = head && (firstField(head, 'x-hmxmroriginalrecipient') ?? firstField(head, 'to'));
  if (to === null || to === undefined || to.length > MAIL_DIAGNOSTIC_LENGTH.max) return null;
  const named = to.split(',');
  const [, address] = /<([^<>]*)>\s*$/.exec(to) ?? [];
  return named.length === 1 ? mailboxIn(address ?? to) : null;
}

function readFeedback(report: string, { attachments, date }: Email): MailReport {
  const [fields] = fieldGroups(report);
  if (fields === undefined) return disregardedReport('no_report');
  const type = (firstField(fields, 'feedback-type') ?? '').toLowerCase();
  const outcome = FEEDBACK[type] ?? 'other_feedback';
  if (isDisregarded(outcome)) return disregardedReport(outcome);
  const named = fields.get('original-rcpt-to') ?? [];
  const found = named.map((text) => mailboxIn(typed(text)?.text ?? text)).filter((email) => email !== null);
  const emails = found.length > 0 ? found : [returnedTo(attachments)].filter((email) => email !== null);
  const at =
    mailTime(firstField(fields, 'received-date')) ?? mailTime(firstField(fields, 'arrival-date')) ?? mailTime(date);
  const outcomes = emails
    .slice(0, MAIL_REPORT_READ.recipients)
    .map((email): ReportedRecipient => ({ email, outcome, at, diagnostic: null }));
  return outcomes.length === 0 ? disregardedReport('no_recipient') : { outcomes, disregarded: [] };
}

// Bounces that are only text.

const DAEMON = /^(?:mailer-?daemon|mail-?daemon|postmaster|mdaemon)$/i;
const REPORTED_ADDRESS = /[^\s<>"'()[\],;:@]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}\p{N}-]{2,63}/gu;
/** Matches the header of the returned message. */
const RETURNED_HEADER = /^[> ]{0,4}(?:return-path|received|message-id|mime-version|dkim-signature|subject):/im;
const CODES = /(?<![\w.:/-])(?:[45]\d\d(?=[-:\s])|[45]\.\d{1,3}\.\d{1,3}(?![\d.]))/g;

const localPart = (address: string): string => address.slice(0, address.lastIndexOf('@'));
const key = (address: string): string => address.toLowerCase();

/** Whether codes of replies agree: at most one of each kind, and of the same class. */
function isOneReply(text: string): boolean {
  const codes = new Set(text.match(CODES) ?? []);
  const classes = new Set([...codes].map((code) => code[0]));
  return classes.size === 1 && [...codes].filter((code) => code.includes('.')).length < 2 && codes.size <= 2;
}

/** Claims nothing but what an address and one refusal for good say, in one paragraph or in the whole text. */
function readBounceText({ text = '', from, to = [], date }: Email): MailReport {
  const own = new Set([from?.address, ...to.map(({ address }) => address)].map((address) => key(address ?? '')));
  const bounded = text.slice(0, MAIL_REPORT_READ.text);
  const head = bounded.slice(0, RETURNED_HEADER.exec(bounded)?.index ?? bounded.length);
  const addressesIn = (part: string) =>
    new Map(
      (part.match(REPORTED_ADDRESS) ?? [])
        .filter((address) => !own.has(key(address)) && !DAEMON.test(localPart(address)))
        .map((address) => [key(address), address]),
    );
  const found = new Map<string, ReportedRecipient>();
  for (const part of [...head.split(/\r?\n[ \t]*\r?\n/), head]) {
    if (part === head && found.size > 0) break;
    const [email, other] = addressesIn(part).values();
    if (email === undefined || other !== undefined || !isOneReply(part)) continue;
    const said = parseDiagnostic(part);
    if (said === null || !said.hasCode || said.reply.code < 500) continue;
    found.set(key(email), {
      email,
      outcome: 'bounced',
      at: mailTime(date),
      diagnostic: part.slice(0, MAIL_DIAGNOSTIC_LENGTH.max).trim(),
    });
  }
  return found.size === 0 ? disregardedReport('ambiguous') : { outcomes: [...found.values()], disregarded: [] };
}

/** RFC 3834 §5, and what programs before it wrote. */
const isAutoReply = ({ headers }: Email): boolean =>
  headers.some(
    ({ key: name, value }) =>
      (name === 'auto-submitted' && !/^\s*no\b/i.test(value)) ||
      (name === 'precedence' && /^\s*auto_reply\b/i.test(value)) ||
      name === 'x-autoreply' ||
      name === 'x-autorespond',
  );

/**
 * Reads a message; at most MAIL_REPORT_BYTES are looked at. Whatever it is, the answer says what it counts as, and what
 * of it counts as nothing.
 */
export async function readMailReport(raw: Uint8Array): Promise<MailReport> {
  const email = await parse(raw.subarray(0, MAIL_REPORT_BYTES));
  if (email === null) return disregardedReport('too_complex');
  const part = (...types: readonly string[]) => email.attachments.find(({ mimeType }) => types.includes(mimeType));
  const status = part('message/delivery-status', 'message/global-delivery-status');
  if (status !== undefined) return readDeliveryStatus(attachmentText(status), email);
  const feedback = part('message/feedback-report');
  if (feedback !== undefined) return readFeedback(attachmentText(feedback), email);
  const isOfDaemon = DAEMON.test(localPart(email.from?.address ?? ''));
  if (isOfDaemon || email.headers.some(({ key: name }) => name === 'x-failed-recipients')) return readBounceText(email);
  return disregardedReport(isAutoReply(email) ? 'auto_reply' : 'no_report');
}

// mbox files

const FROM_LINE = /^From .*\d{2}:\d{2}/;
const QUOTED_FROM = /^>+From /;

/**
 * The messages of an mbox file (RFC 4155; `>From ` lines lose one sign, as mboxrd writes them), or the one message that
 * it is. Of a longer one, MAIL_REPORT_BYTES are given.
 */
export async function* messagesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let message: Buffer[] = [];
  let bytes = 0;
  let isMbox: boolean | null = null;
  let wasEmpty = true;
  const add = (line: Buffer) => {
    const kept = line.subarray(0, Math.max(0, MAIL_REPORT_BYTES - bytes));
    bytes += kept.length;
    if (kept.length > 0) message.push(kept);
  };
  const take = () => {
    const whole = Buffer.concat(message);
    message = [];
    bytes = 0;
    return whole;
  };
  for await (const line of reportLines(chunks)) {
    const start = line.subarray(0, 100).toString('latin1');
    const isFrom: boolean = start.startsWith('From ') && wasEmpty && (FROM_LINE.test(start) || isMbox === null);
    isMbox ??= isFrom;
    wasEmpty = start.trim() === '';
    if (isMbox && isFrom) {
      const before = take();
      if (before.toString('latin1').trim() !== '') yield before;
    } else add(isMbox && QUOTED_FROM.test(start) ? line.subarray(1) : line);
  }
  const last = take();
  if (last.length > 0) yield last;
}

/** Lines include their line endings; a line beyond MAIL_REPORT_BYTES comes in pieces. */
async function* reportLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = rest.indexOf(LF); end !== -1; end = rest.indexOf(LF, at)) {
      yield rest.subarray(at, end + 1);
      at = end + 1;
    }
    rest = rest.subarray(at);
    if (rest.length > MAIL_REPORT_BYTES) {
      yield rest;
      rest = Buffer.alloc(0);
    }
  }
  if (rest.length > 0) yield rest;
}
