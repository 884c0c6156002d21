import type { SmtpFinding } from '../../evidence.ts';
import type { Classifier, RuleReading } from '../classify.ts';
import type { Echoes } from './echoes.ts';
import { isBadFinding, type Meaning } from './rules.ts';

/** The labels of data/sources/smtp-replies.json. */
type Label =
  | 'accepted'
  | 'blocked'
  | 'domain_error'
  | 'greylisted'
  | 'mailbox_disabled'
  | 'mailbox_full'
  | 'mailbox_not_found'
  | 'other'
  | 'rate_limited'
  | 'relay_denied'
  | 'syntax_rejected'
  | 'temporary_failure'
  | 'tls_required';

/** A reply with its manual label; `also_ok` has other acceptable labels. */
export interface LabelledReply {
  readonly code: number;
  readonly enhanced: string | null;
  readonly text: string;
  /** The lines of a reply with several. */
  readonly texts?: readonly string[];
  readonly label: Label;
  readonly also_ok: readonly Label[];
  /** `unknown` is treated as RCPT. */
  readonly stage?: 'unknown' | 'connect' | 'ehlo' | 'mail' | 'rcpt';
}

export interface Evaluated {
  readonly reply: LabelledReply;
  readonly reading: RuleReading;
  readonly label: Label;
}

/** They label replies about the client or the server, never about the mailbox. */
const NOT_ABOUT_MAILBOX: readonly Label[] = ['blocked', 'rate_limited', 'greylisted', 'temporary_failure'];

/** Null: the finding decides. */
const OF_MEANING: Readonly<Record<Meaning, Label | null>> = {
  accepted: 'accepted',
  recipient: null,
  recipient_domain: null,
  greylisted: 'greylisted',
  rate: 'rate_limited',
  too_many_recipients: 'rate_limited',
  us_ip: 'blocked',
  us_sender: 'blocked',
  us_policy: 'blocked',
  remote_temporary: 'temporary_failure',
  remote_permanent: 'temporary_failure',
  protocol: 'syntax_rejected',
  tls_required: 'tls_required',
  unclear: 'other',
};

const OF_FINDING: Readonly<Record<SmtpFinding | 'reconnect' | 'starttls_required', Label>> = {
  accepted: 'accepted',
  mailbox_not_found: 'mailbox_not_found',
  mailbox_full: 'mailbox_full',
  mailbox_full_temporarily: 'mailbox_full',
  mailbox_disabled: 'mailbox_disabled',
  relay_denied: 'domain_error',
  greylisted: 'greylisted',
  smtp_temporary_failure: 'temporary_failure',
  smtp_timeout: 'temporary_failure',
  smtp_unreachable: 'temporary_failure',
  smtp_blocked: 'blocked',
  smtp_unverifiable: 'other',
  reconnect: 'rate_limited',
  starttls_required: 'tls_required',
};

function labelOf({ meaning, finding, rule }: RuleReading): Label {
  // The other rules with this finding are about the domain.
  const isRelay = finding === 'relay_denied' && rule.startsWith('relay.');
  return OF_MEANING[meaning] ?? (isRelay ? 'relay_denied' : OF_FINDING[finding]);
}

/** The address, names and IP that the labelled replies are read with. */
export const ECHOES: Echoes = {
  address: 'someone@example.com',
  ourNames: ['probe.example.net', 'verify@probe.example.net'],
  ourIps: ['192.0.2.25'],
};

/** Classifies labeled replies without a provider. */
export function evaluate(
  classifier: Pick<Classifier, 'classify'>,
  replies: readonly LabelledReply[],
): readonly Evaluated[] {
  return replies.map((reply) => {
    const stage = reply.stage === undefined || reply.stage === 'unknown' ? 'rcpt' : reply.stage;
    const reading = classifier.classify({ stage, reply, operator: null, echoes: ECHOES });
    return { reply, reading, label: labelOf(reading) };
  });
}

/** The model has one class for a domain that is not served and for relaying denied. */
const isSame = ({ label, reading }: Evaluated, wanted: Label): boolean =>
  label === wanted ||
  (label === 'tls_required' && wanted === 'other') ||
  (reading.rule === 'model.domain' && wanted === 'relay_denied');
export const agrees = (judged: Evaluated): boolean =>
  isSame(judged, judged.reply.label) || judged.reply.also_ok.some((label) => isSame(judged, label));

/** Whether a reading makes the address undeliverable. */
export const isReadAsBad = ({ finding }: Pick<RuleReading, 'finding'>): boolean => isBadFinding(finding);

/** The critical error: a problem of the client or the server classified as a dead mailbox. */
export const isFalsePositive = ({ reply, reading }: Evaluated): boolean =>
  NOT_ABOUT_MAILBOX.includes(reply.label) && isReadAsBad(reading);
