import type { SmtpFinding, SmtpStage } from '../evidence.ts';
import type { Phase } from './events.ts';
import type { Reply } from './reply.ts';

/** What the classifier (classify.ts) makes of one reply. */
export interface ReplyReading {
  /** Whose affair the reply is: `us_ip`, `recipient`, `remote_temporary` …; opaque here but for `us_ip`. */
  readonly meaning: string;
  /** `reconnect`: too many recipients, ask in a new session. `starttls_required`: say STARTTLS first. */
  readonly finding: SmtpFinding | 'reconnect' | 'starttls_required';
  /** Id of the deciding rule. */
  readonly rule: string | null;
  /** Seconds, as announced by the server. */
  readonly retryAfter: number | null;
}

/** The classifier as the dialogue needs it. `path`: the address asked about, which servers echo. */
export type Read = (stage: SmtpStage, reply: Reply, path: string | null) => ReplyReading;

/** A reply together with where it was given and what it means. */
export interface Heard {
  readonly stage: SmtpStage;
  readonly reply: Reply;
  readonly reading: ReplyReading;
}

export const isPositive = ({ code }: Reply): boolean => code >= 200 && code <= 299;
export const isNegative = ({ code }: Reply): boolean => code >= 400 && code <= 599;

/** One recipient to be asked about. */
export interface Question {
  /** Between the angle brackets of RCPT; made by `forwardPath`. */
  readonly path: string;
  /** Between the angle brackets of MAIL; empty for the null sender. */
  readonly sender: string;
  /** `probe`: the path is a random one, asked in a session of its own. */
  readonly stage: 'rcpt' | 'probe';
  /** Called when `path` was accepted and only then: the random path to ask next, or null to leave it. */
  readonly probe: () => string | null;
}

/**
 * Where to turn after a session that gave no answer. `in_clear`: the same address again without TLS. `new_session`: the
 * session was at fault, not the host. `stop`: no other host would answer better.
 */
export type Next = 'next_address' | 'next_host' | 'in_clear' | 'new_session' | 'stop';

export type Outcome =
  | {
      readonly kind: 'answered';
      readonly rcpt: Heard;
      readonly finding: SmtpFinding;
      /** Null when no probe was wanted. `reconnect`: to be asked in a session of its own. */
      readonly probe: { readonly finding: SmtpFinding | 'reconnect'; readonly heard: Heard | null } | null;
    }
  | {
      readonly kind: 'failed';
      readonly stage: SmtpStage;
      readonly finding: SmtpFinding;
      readonly rule: string | null;
      /** The reply that ended it; null for a timeout, a drop and the like. */
      readonly heard: Heard | null;
      readonly next: Next;
    };

const OF_NO_MAILBOX: ReadonlySet<string> = new Set<SmtpFinding>([
  'greylisted',
  'smtp_temporary_failure',
  'smtp_timeout',
  'smtp_unreachable',
  'smtp_blocked',
  'smtp_unverifiable',
]);

/**
 * The finding of a reply that refused the dialogue and not the recipient. A stage before RCPT never speaks of the
 * mailbox, whatever its words: this holds even if a rule should say otherwise.
 */
export function findingOfRefusal({ reply, reading }: Heard): SmtpFinding {
  if (OF_NO_MAILBOX.has(reading.finding)) return reading.finding as SmtpFinding;
  return reading.finding !== 'reconnect' && reading.finding !== 'starttls_required' && reply.code >= 500
    ? 'smtp_blocked'
    : 'smtp_temporary_failure';
}

/** What it means that the server closed the connection. `stale`: an idle session went away before it was used again. */
export function dropAt(phase: Phase, stale: boolean): { finding: SmtpFinding; rule: string; next: Next } {
  if (phase === 'connect') {
    return { finding: 'smtp_unreachable', rule: 'dialogue.unreachable', next: 'next_address' };
  }
  if (phase === 'tls') return { finding: 'smtp_temporary_failure', rule: 'dialogue.tls_failed', next: 'in_clear' };
  const next: Next = stale ? 'new_session' : 'next_address';
  return { finding: 'smtp_temporary_failure', rule: 'dialogue.dropped', next };
}
