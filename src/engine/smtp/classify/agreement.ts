import type { Classifier, Reading } from '../classify.ts';

/** A reply with the label that a person gave it; `also_ok`: labels that a fair judge accepts too. */
export interface LabelledReply {
  readonly code: number;
  readonly enhanced: string | null;
  readonly text: string;
  readonly label: string;
  readonly also_ok: readonly string[];
  /** `unknown` is read as RCPT. */
  readonly stage?: 'unknown' | 'connect' | 'ehlo' | 'mail' | 'rcpt';
}

export interface Judged {
  readonly reply: LabelledReply;
  readonly reading: Reading;
  readonly label: string;
}

const BAD: ReadonlySet<string> = new Set(['mailbox_not_found', 'mailbox_full', 'mailbox_disabled', 'relay_denied']);
const HARMLESS: ReadonlySet<string> = new Set(['blocked', 'rate_limited', 'greylisted', 'temporary_failure']);

const OF_MEANING: Readonly<Record<string, string>> = {
  accepted: 'accepted',
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

/** The label of a reading, in the words of data/sources/smtp-replies.json. */
export function labelOf({ meaning, finding, rule }: Reading): string {
  const label = OF_MEANING[meaning];
  if (label !== undefined) return label;
  if (finding === 'mailbox_full_temporarily') return 'mailbox_full';
  if (finding === 'smtp_temporary_failure') return 'temporary_failure';
  if (finding === 'relay_denied') return rule.startsWith('relay.') ? 'relay_denied' : 'domain_error';
  return finding;
}

/** Reads labelled replies as nobody's in particular, with the echoes given. */
export function judgeAll(
  classifier: Pick<Classifier, 'classify' | 'fingerprint'>,
  replies: readonly LabelledReply[],
  echoes = {
    address: 'someone@example.com',
    ourNames: ['probe.example.net', 'verify@probe.example.net'],
    ourIps: ['192.0.2.25'],
  },
): readonly Judged[] {
  return replies.map((reply) => {
    const stage = reply.stage === undefined || reply.stage === 'unknown' ? 'rcpt' : reply.stage;
    const reading = classifier.classify({ stage, reply, operator: null, echoes });
    return { reply, reading, label: labelOf(reading) };
  });
}

export const agreesStrictly = ({ reply, label }: Judged): boolean =>
  label === reply.label || (label === 'tls_required' && reply.label === 'other');
export const agrees = (judged: Judged): boolean =>
  agreesStrictly(judged) || judged.reply.also_ok.includes(judged.label);

/** The mistake that matters: the asker's or the server's trouble read as a dead mailbox. */
export const blamesTheMailbox = ({ reply, reading }: Judged): boolean =>
  HARMLESS.has(reply.label) && BAD.has(reading.finding);
