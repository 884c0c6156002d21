/**
 * Servers as found in the wild, and the expected findings. `yields`: the finding for the real recipient, then for the
 * catch-all probe.
 */
import type { Result, SmtpFinding } from '../../src/engine/evidence.ts';
import type { Persona } from './smtp.ts';

interface BenchRow {
  readonly name: string;
  readonly persona: Persona;
  readonly email?: string;
  readonly yields: readonly [SmtpFinding, Result];
  /** The finding of a second check, made afterwards. */
  readonly again?: readonly [SmtpFinding, Result];
}

const rcpt =
  (reply: string): NonNullable<Persona['on']> =>
  ({ verb }) =>
    verb === 'RCPT' ? reply : undefined;
const at =
  (verb: string, says: NonNullable<Persona['banner']>): NonNullable<Persona['on']> =>
  (heard) =>
    heard.verb === verb ? says : undefined;

const seen = new Set<string>();

export const BENCH: readonly BenchRow[] = [
  { name: 'plain, mailbox exists', persona: {}, yields: ['accepted', 'pass'] },
  { name: 'plain, no such mailbox', persona: {}, email: 'nobody@x.test', yields: ['mailbox_not_found', 'skipped'] },
  { name: 'catch-all', persona: { mailboxes: ['*'] }, yields: ['accepted', 'fail'] },
  {
    name: 'banner in three lines, slow, punishes early talkers',
    persona: {
      banner: ['220-mx.lab.test ESMTP', '220-wait for it', '220 ready'],
      bannerDelayMs: 150,
      punishEarlyTalkers: true,
    },
    yields: ['accepted', 'pass'],
  },
  {
    name: 'HELO only, no pipelining',
    persona: { on: at('EHLO', '502 5.5.1 Command not implemented') },
    yields: ['accepted', 'pass'],
  },
  { name: 'STARTTLS demanded', persona: { tls: 'works', demandsTls: true }, yields: ['accepted', 'pass'] },
  {
    name: 'STARTTLS demanded and broken',
    persona: { tls: 'broken', demandsTls: true },
    yields: ['smtp_temporary_failure', 'skipped'],
  },
  {
    name: 'blocklist in the banner',
    persona: { banner: '554 5.7.1 Service unavailable; Client host [127.0.0.1] blocked using zen.spamhaus.org' },
    yields: ['smtp_blocked', 'skipped'],
  },
  {
    name: 'blocklist told at RCPT, as if it were the mailbox',
    persona: {
      on: rcpt('550 5.7.1 Service unavailable, Client host [127.0.0.1] blocked using Spamhaus. mailbox unavailable'),
    },
    yields: ['smtp_blocked', 'skipped'],
  },
  {
    name: '421 in the banner',
    persona: { banner: '421 4.3.2 Too busy, try again later' },
    yields: ['smtp_temporary_failure', 'skipped'],
  },
  {
    name: 'greylisting, then accepted',
    persona: {
      on: ({ verb, path }) => {
        if (verb !== 'RCPT' || !path.startsWith('good@') || seen.has(path)) return undefined;
        seen.add(path);
        return '451 4.7.1 Greylisting in action, please come back in 00:05:00';
      },
    },
    yields: ['greylisted', 'skipped'],
    again: ['accepted', 'pass'],
  },
  {
    name: 'one recipient per session',
    persona: {
      on: ({ verb }, connection) =>
        verb === 'RCPT' && connection.recipients > 0 ? '452 4.5.3 Too many recipients' : undefined,
    },
    yields: ['accepted', 'pass'],
  },
  {
    name: 'mailbox full',
    persona: { on: rcpt('552 5.2.2 Mailbox full') },
    yields: ['mailbox_full', 'skipped'],
  },
  {
    name: 'mailbox full for now',
    persona: { on: rcpt('452 4.2.2 The email account that you tried to reach is over quota') },
    yields: ['mailbox_full_temporarily', 'skipped'],
  },
  {
    name: 'mailbox disabled',
    persona: { on: rcpt('550 5.2.1 The email account that you tried to reach is disabled') },
    yields: ['mailbox_disabled', 'skipped'],
  },
  {
    name: 'relay denied',
    persona: { on: rcpt('554 5.7.1 <good@x.test>: Relay access denied') },
    yields: ['relay_denied', 'skipped'],
  },
  { name: 'tarpit', persona: { on: at('RCPT', 'silence') }, yields: ['smtp_timeout', 'skipped'] },
  { name: 'never greets', persona: { banner: 'silence' }, yields: ['smtp_timeout', 'skipped'] },
  { name: 'byte by byte', persona: { delivery: 'bytes' }, yields: ['accepted', 'pass'] },
  {
    name: 'replies that nobody asked for',
    persona: { on: at('EHLO', ['250 mx.lab.test', '250 2.1.0 ok', '250 2.1.5 ok', '250 2.1.5 ok']) },
    yields: ['smtp_temporary_failure', 'skipped'],
  },
  {
    name: 'endless lines',
    persona: {
      on: at(
        'EHLO',
        Array.from({ length: 400 }, (_, i) => `250-X-EXTENSION-${i}`),
      ),
    },
    yields: ['smtp_temporary_failure', 'skipped'],
  },
  {
    name: 'giant line',
    persona: { on: at('EHLO', `250 ${'x'.repeat(5_000)}`) },
    yields: ['smtp_temporary_failure', 'skipped'],
  },
  { name: 'drops at the banner', persona: { banner: 'drop' }, yields: ['smtp_temporary_failure', 'skipped'] },
  { name: 'drops at EHLO', persona: { on: at('EHLO', 'drop') }, yields: ['smtp_temporary_failure', 'skipped'] },
  { name: 'drops at MAIL', persona: { on: at('MAIL', 'drop') }, yields: ['smtp_temporary_failure', 'skipped'] },
  { name: 'drops at RCPT', persona: { on: at('RCPT', 'drop') }, yields: ['smtp_temporary_failure', 'skipped'] },
  {
    name: 'SMTPUTF8 offered',
    persona: { capabilities: ['SMTPUTF8', '8BITMIME'], mailboxes: ['пётр'] },
    email: 'пётр@x.test',
    yields: ['accepted', 'pass'],
  },
  {
    name: 'SMTPUTF8 not offered',
    persona: { capabilities: ['8BITMIME'] },
    email: 'пётр@x.test',
    yields: ['smtp_unverifiable', 'skipped'],
  },
  {
    name: '8-bit text in Latin-1, bare LF',
    persona: { on: at('RCPT', Buffer.from('550 5.1.1 Bo\xeete inconnue: user unknown\n', 'latin1')) },
    yields: ['mailbox_not_found', 'skipped'],
  },
  {
    name: 'our sender refused',
    persona: { on: at('MAIL', '550 5.1.8 Sender address rejected: Domain not found') },
    yields: ['smtp_blocked', 'skipped'],
  },
];
