/** The expected verdict for each address of the laboratory. `again`: the same check, repeated later. */
import type { Deliverability, Reason, Status } from '../../../src/kernel/facts/reasons.ts';
import type { EGRESS_HOSTS } from './zone.ts';

export interface Yields {
  readonly status: Status;
  readonly deliverability: Deliverability;
  readonly reason: Reason | null;
  readonly validation_type: 'mx' | 'smtp';
  readonly credits_used: number;
  readonly is_catch_all: boolean | null;
}

export interface Row {
  readonly server: string;
  readonly email: string;
  readonly yields: Yields;
  readonly again?: { readonly afterMs: number; readonly yields: Yields };
  /** Default: `fit`. */
  readonly egress?: keyof typeof EGRESS_HOSTS;
  readonly timeoutMs?: number;
}

const answered = (status: Status, deliverability: Deliverability, reason: Reason | null): Yields => ({
  status,
  deliverability,
  reason,
  validation_type: 'smtp',
  credits_used: 10,
  is_catch_all: null,
});
/** The server gave no answer about the mailbox, so the smtp level is not billed. */
const unknown = (reason: Reason): Yields => ({
  status: 'good',
  deliverability: 'unknown',
  reason,
  validation_type: 'mx',
  credits_used: 1,
  is_catch_all: null,
});
const noMail = (reason: Reason, deliverability: Deliverability = 'undeliverable'): Yields => ({
  ...unknown(reason),
  status: 'bad',
  deliverability,
});

const DELIVERABLE: Yields = { ...answered('good', 'deliverable', null), is_catch_all: false };
const CATCH_ALL: Yields = { ...answered('good', 'risky', 'catch_all'), is_catch_all: true };
const NOT_FOUND = answered('bad', 'undeliverable', 'mailbox_not_found');
const FULL = answered('bad', 'undeliverable', 'mailbox_full');
const FULL_FOR_NOW = answered('good', 'risky', 'mailbox_full');
const DISABLED = answered('bad', 'undeliverable', 'mailbox_disabled');
const NO_RELAY = answered('bad', 'undeliverable', 'relay_denied');
const GREYLISTED = unknown('greylisted');
const BLOCKED = unknown('smtp_blocked');
const LATER = unknown('smtp_temporary_failure');
const TIMEOUT = unknown('smtp_timeout');
const NEVER_TELLS = unknown('smtp_unverifiable');

const POSTFIX: readonly Row[] = [
  { server: 'Postfix, virtual mailboxes', email: 'anna@plain.test', yields: DELIVERABLE },
  { server: 'Postfix, virtual mailboxes', email: 'nobody@plain.test', yields: NOT_FOUND },
  { server: 'Postfix, tagged address', email: 'anna+news@plain.test', yields: DELIVERABLE },
  { server: 'Postfix, quoted local part', email: '"anna smith"@plain.test', yields: DELIVERABLE },
  { server: 'Postfix, quoted local part', email: '"nobody here"@plain.test', yields: NOT_FOUND },
  { server: 'Postfix, IDN domain', email: 'anna@exämple.test', yields: DELIVERABLE },
  { server: 'Postfix, SMTPUTF8', email: 'анна@plain.test', yields: DELIVERABLE },
  { server: 'Postfix, SMTPUTF8', email: 'никто@plain.test', yields: NOT_FOUND },
  { server: 'Postfix, SMTPUTF8 off', email: 'анна@ascii.test', yields: NEVER_TELLS },
  { server: 'Postfix, no extensions', email: 'anna@plainold.test', yields: DELIVERABLE },
  { server: 'Postfix, no extensions', email: 'nobody@plainold.test', yields: NOT_FOUND },
  { server: 'Postfix, catch-all', email: 'anna@catchall.test', yields: CATCH_ALL },
  { server: 'Postfix, catch-all', email: 'nobody@catchall.test', yields: CATCH_ALL },
  {
    server: 'Postfix, postgrey',
    email: 'anna@grey.test',
    yields: GREYLISTED,
    again: { afterMs: 3000, yields: DELIVERABLE },
  },
  { server: 'Postfix, postgrey', email: 'nobody@grey.test', yields: NOT_FOUND },
  {
    // postgrey greylists the random recipient too, so it takes a third check.
    server: 'Postfix, postgrey before the mailboxes',
    email: 'anna@greyfirst.test',
    yields: GREYLISTED,
    again: { afterMs: 3000, yields: GREYLISTED },
  },
  {
    server: 'Postfix, postgrey, catch-all',
    email: 'anna@greyall.test',
    yields: GREYLISTED,
    again: { afterMs: 3000, yields: GREYLISTED },
  },
  { server: 'postscreen, pregreet test', email: 'anna@pregreet.test', yields: DELIVERABLE },
  { server: 'postscreen, pregreet test', email: 'nobody@pregreet.test', yields: NOT_FOUND },
  {
    server: 'postscreen, deep protocol tests',
    email: 'anna@deep.test',
    yields: LATER,
    again: { afterMs: 0, yields: DELIVERABLE },
  },
  { server: 'Postfix, full', email: 'box-full@states.test', yields: FULL },
  { server: 'Postfix, full for now', email: 'box-fullnow@states.test', yields: FULL_FOR_NOW },
  { server: 'Postfix, disabled', email: 'box-disabled@states.test', yields: DISABLED },
  { server: 'Postfix, suspended', email: 'box-suspended@states.test', yields: DISABLED },
  { server: 'Postfix, mailbox busy', email: 'box-busy@states.test', yields: LATER },
  { server: 'Postfix, neither', email: 'anna@states.test', yields: DELIVERABLE },
  { server: 'Postfix, STARTTLS required', email: 'anna@tls.test', yields: DELIVERABLE },
  { server: 'Postfix, STARTTLS required', email: 'nobody@tls.test', yields: NOT_FOUND },
  { server: 'Postfix, strict HELO and sender', email: 'anna@strict.test', yields: DELIVERABLE },
  { server: 'Postfix, strict HELO and sender', email: 'nobody@strict.test', yields: NOT_FOUND },
  { server: 'Postfix, sender not welcome', email: 'anna@unwelcome.test', yields: BLOCKED },
  { server: 'Postfix, recipient limit 1', email: 'anna@onercpt.test', yields: DELIVERABLE },
  { server: 'Postfix, one error ends the session', email: 'anna@oneerror.test', yields: DELIVERABLE },
  { server: 'Postfix, one error ends the session', email: 'nobody@oneerror.test', yields: NOT_FOUND },
  { server: 'Postfix, 2 s for a recipient', email: 'anna@slow.test', yields: DELIVERABLE },
  { server: 'Postfix, 2 s for a recipient', email: 'nobody@slow.test', yields: NOT_FOUND },
  { server: 'Postfix, tarpit of 30 s', email: 'anna@tarpit.test', yields: TIMEOUT, timeoutMs: 3000 },
  { server: 'Postfix, relay denied', email: 'anna@norelay.test', yields: NO_RELAY },
  { server: 'Postfix, 421 Client host rejected', email: 'anna@shut.test', yields: LATER },
  {
    server: 'Postfix, one connection a minute',
    email: 'anna@busy.test',
    yields: DELIVERABLE,
    again: { afterMs: 3000, yields: LATER },
  },
  { server: 'Postfix, gate that asks the server behind', email: 'anna@front.test', yields: DELIVERABLE },
  { server: 'Postfix, gate that asks the server behind', email: 'nobody@front.test', yields: NOT_FOUND },
  { server: 'Postfix, such a gate that says 450', email: 'nobody@front450.test', yields: LATER },
  { server: 'Postfix, blocklist, not on it', email: 'anna@rbl.test', yields: DELIVERABLE },
  { server: 'postscreen, blocklist, not on it', email: 'anna@screenbl.test', yields: DELIVERABLE },
];

/** All rejections are about the client, so no mailbox may be reported as bad. */
const UNFIT: readonly Row[] = [
  { server: 'Postfix, blocklist', email: 'anna@rbl.test', yields: BLOCKED },
  { server: 'Postfix, blocklist', email: 'nobody@rbl.test', yields: BLOCKED },
  { server: 'Postfix, blocklist at the banner', email: 'anna@rblbanner.test', yields: BLOCKED },
  { server: 'postscreen, blocklist', email: 'nobody@screenbl.test', yields: BLOCKED },
  { server: 'Postfix, reverse DNS demanded, 450', email: 'anna@strict.test', yields: BLOCKED },
  { server: 'Postfix, reverse DNS demanded, 550', email: 'nobody@rdns.test', yields: BLOCKED },
  { server: 'Postfix, HELO name unknown, 550', email: 'nobody@helo.test', yields: BLOCKED },
  { server: 'Postfix, sender domain unknown, 550', email: 'nobody@sender.test', yields: BLOCKED },
  { server: 'Exim, blocklist at the banner', email: 'anna@eximbl.test', yields: BLOCKED },
  { server: 'Exim, sender verification', email: 'anna@eximsender.test', yields: BLOCKED },
  { server: 'Exim, sender callout', email: 'anna@eximcallout.test', yields: BLOCKED },
  { server: 'OpenSMTPD, reverse DNS demanded', email: 'anna@openrdns.test', yields: BLOCKED },
  { server: 'Postfix, not strict', email: 'anna@plain.test', yields: DELIVERABLE },
].map((row) => ({ ...row, egress: 'unfit' as const }));

const EXIM: readonly Row[] = [
  { server: 'Exim', email: 'anna@exim.test', yields: DELIVERABLE },
  { server: 'Exim, Unrouteable address', email: 'nobody@exim.test', yields: NOT_FOUND },
  { server: 'Exim, catch-all', email: 'nobody@eximany.test', yields: CATCH_ALL },
  { server: 'Exim as cPanel has it', email: 'anna@eximcpanel.test', yields: DELIVERABLE },
  { server: 'Exim, No Such User Here', email: 'nobody@eximcpanel.test', yields: NOT_FOUND },
  { server: 'Exim, account suspended', email: 'box-suspended@eximcpanel.test', yields: DISABLED },
  { server: 'Exim, Administrative prohibition', email: 'nobody@eximpolicy.test', yields: BLOCKED },
  { server: 'Exim, sender verification', email: 'anna@eximsender.test', yields: DELIVERABLE },
  { server: 'Exim, sender callout', email: 'anna@eximcallout.test', yields: DELIVERABLE },
  { server: 'Exim, sender callout', email: 'nobody@eximcallout.test', yields: NOT_FOUND },
  { server: 'Exim, 2 s for a recipient', email: 'anna@eximslow.test', yields: DELIVERABLE },
  { server: 'Exim, blocklist, not on it', email: 'anna@eximbl.test', yields: DELIVERABLE },
  { server: 'Exim, deferred', email: 'nobody@eximdefer.test', yields: LATER },
  { server: 'Exim, STARTTLS required', email: 'anna@eximtls.test', yields: DELIVERABLE },
  { server: 'Exim, STARTTLS required', email: 'nobody@eximtls.test', yields: NOT_FOUND },
  { server: 'Exim, relay not permitted', email: 'anna@eximrelay.test', yields: NO_RELAY },
];

/** OpenSMTPD's reply for an unknown mailbox: "524 5.2.4 Mailing list expansion problem". */
const OPENSMTPD: readonly Row[] = [
  { server: 'OpenSMTPD', email: 'anna@open.test', yields: DELIVERABLE },
  { server: 'OpenSMTPD', email: 'nobody@open.test', yields: NOT_FOUND },
  { server: 'OpenSMTPD, catch-all', email: 'nobody@openany.test', yields: CATCH_ALL },
  // "550 Invalid recipient" for every address of a domain that it does not serve, without mentioning relaying.
  { server: 'OpenSMTPD, no rule for the domain', email: 'anna@openrelay.test', yields: NOT_FOUND },
  { server: 'OpenSMTPD, reverse DNS demanded', email: 'anna@openrdns.test', yields: DELIVERABLE },
  // Debian 12's OpenSMTPD cannot finish a handshake with OpenSSL 3 (its issues 1171 and 1239).
  { server: 'OpenSMTPD, STARTTLS required, broken', email: 'anna@opentls.test', yields: LATER },
];

const DNS: readonly Row[] = [
  { server: 'no such domain', email: 'anna@nothing.test', yields: noMail('domain_not_found') },
  { server: 'no MX, no address', email: 'anna@no-mail.test', yields: noMail('no_mx_records') },
  { server: 'null MX', email: 'anna@null-mx.test', yields: noMail('null_mx') },
  { server: 'MX is localhost', email: 'anna@mx-local.test', yields: noMail('mx_unusable') },
  { server: 'MX without an address', email: 'anna@mx-noaddress.test', yields: noMail('mx_unusable') },
  { server: 'name server is not there', email: 'anna@lame.test', yields: noMail('dns_failure', 'unknown') },
  { server: 'implicit MX', email: 'anna@implicit.test', yields: DELIVERABLE },
  { server: 'CNAME to a domain with MX', email: 'anna@cname.test', yields: DELIVERABLE },
  { server: '40 MX, over TCP', email: 'anna@many.test', yields: DELIVERABLE },
  { server: 'first MX down, second answers', email: 'anna@backup.test', yields: DELIVERABLE },
  { server: 'first MX 421, second answers', email: 'nobody@downfirst.test', yields: NOT_FOUND },
  { server: 'the only MX is down', email: 'anna@down.test', yields: unknown('smtp_unreachable') },
];

const PROVIDERS: readonly Row[] = [
  { server: 'Google', email: 'anna@google-hosted.test', yields: DELIVERABLE },
  { server: 'Google', email: 'nobody@google-hosted.test', yields: NOT_FOUND },
  { server: 'Google, out of storage, inactive', email: 'box-full@google-hosted.test', yields: FULL },
  { server: 'Google, out of storage', email: 'box-fullnow@google-hosted.test', yields: FULL_FOR_NOW },
  { server: 'Google, inactive', email: 'box-disabled@google-hosted.test', yields: DISABLED },
  { server: 'Google, receiving mail at a rate', email: 'box-rate@google-hosted.test', yields: LATER },
  { server: 'Google, reputation of our IP', email: 'box-spamip@google-hosted.test', yields: BLOCKED },
  { server: 'Google, rate of our IP', email: 'box-unusual@google-hosted.test', yields: BLOCKED },
  { server: 'Google, our PTR', email: 'box-noptr@google-hosted.test', yields: BLOCKED },
  { server: 'Microsoft 365', email: 'anna@microsoft-hosted.test', yields: DELIVERABLE },
  { server: 'Microsoft 365, Access denied', email: 'nobody@microsoft-hosted.test', yields: NOT_FOUND },
  { server: 'Microsoft 365, banned sending IP', email: 'box-banned@microsoft-hosted.test', yields: BLOCKED },
  { server: 'Microsoft 365, Spamhaus', email: 'box-spamhaus@microsoft-hosted.test', yields: BLOCKED },
  { server: 'Microsoft 365, server busy', email: 'box-busy@microsoft-hosted.test', yields: LATER },
  { server: 'Microsoft 365, restricted group', email: 'box-restricted@microsoft-hosted.test', yields: BLOCKED },
  { server: 'Outlook.com', email: 'anna@outlook-family.test', yields: DELIVERABLE },
  { server: 'Outlook.com', email: 'nobody@outlook-family.test', yields: NOT_FOUND },
  { server: 'Outlook.com, S3140', email: 'box-blocked@outlook-family.test', yields: BLOCKED },
  { server: 'Outlook.com, rate limited', email: 'box-limited@outlook-family.test', yields: BLOCKED },
  { server: 'Yahoo, accepted', email: 'anna@yahoo-family.test', yields: NEVER_TELLS },
  { server: 'Yahoo, no account', email: 'nobody@yahoo-family.test', yields: NOT_FOUND },
  { server: 'Yahoo, TSS04', email: 'box-deferred@yahoo-family.test', yields: BLOCKED },
  { server: 'Yahoo, BL21', email: 'box-listed@yahoo-family.test', yields: BLOCKED },
  { server: 'Yahoo, over quota', email: 'box-overquota@yahoo-family.test', yields: FULL },
  { server: 'iCloud', email: 'anna@icloud-hosted.test', yields: DELIVERABLE },
  { server: 'iCloud', email: 'nobody@icloud-hosted.test', yields: NOT_FOUND },
  { server: 'iCloud, over quota', email: 'box-full@icloud-hosted.test', yields: FULL },
  { server: 'iCloud, over quota for now', email: 'box-fullnow@icloud-hosted.test', yields: FULL_FOR_NOW },
  { server: 'iCloud, local policy', email: 'box-policy@icloud-hosted.test', yields: BLOCKED },
  { server: 'iCloud, blocklist', email: 'box-listed@icloud-hosted.test', yields: BLOCKED },
  { server: 'Proofpoint', email: 'anna@proofpoint-gated.test', yields: DELIVERABLE },
  { server: 'Proofpoint', email: 'nobody@proofpoint-gated.test', yields: NOT_FOUND },
  { server: 'Proofpoint, blocklist', email: 'box-listed@proofpoint-gated.test', yields: BLOCKED },
  { server: 'Proofpoint, local policy', email: 'box-policy@proofpoint-gated.test', yields: BLOCKED },
  { server: 'Proofpoint, later', email: 'box-later@proofpoint-gated.test', yields: GREYLISTED },
  { server: 'Mimecast', email: 'anna@mimecast-gated.test', yields: DELIVERABLE },
  { server: 'Mimecast', email: 'nobody@mimecast-gated.test', yields: NOT_FOUND },
  { server: 'Mimecast, envelope blocked', email: 'box-envelope@mimecast-gated.test', yields: BLOCKED },
  { server: 'Mimecast, blocked sender', email: 'box-sender@mimecast-gated.test', yields: BLOCKED },
  { server: 'Mimecast, reputation', email: 'box-reputation@mimecast-gated.test', yields: BLOCKED },
  { server: 'Mimecast, greylisting', email: 'box-greylisted@mimecast-gated.test', yields: GREYLISTED },
];

export const TABLE: readonly Row[] = [...POSTFIX, ...EXIM, ...OPENSMTPD, ...UNFIT, ...DNS, ...PROVIDERS];
