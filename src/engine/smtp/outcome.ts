import type { ReadBy, SmtpFinding, SmtpStage } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import type { Reply } from './reply.ts';

/** What the machine waits for, and so which time limit holds. */
export type Phase = 'connect' | 'banner' | 'command' | 'tls' | 'idle' | 'quit' | 'closed';

/** What the classifier (classify.ts) makes of one reply. */
export interface ReplyReading {
  /** What the reply is about: `us_ip`, `recipient`, `remote_temporary` …; opaque here except for `us_ip`. */
  readonly meaning: string;
  /** `reconnect`: too many recipients, retry in a new session. `starttls_required`: send STARTTLS first. */
  readonly finding: SmtpFinding | 'reconnect' | 'starttls_required';
  /** Id of the deciding rule. */
  readonly rule: string | null;
  /** Seconds, as announced by the server. */
  readonly retryAfter: number | null;
  readonly readBy: ReadBy;
  /** That the mailbox cannot be reached, as the model sees the reply; null if it was not asked. */
  readonly probability: number | null;
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

/** One recipient to check. */
export interface Question {
  /** Between the angle brackets of RCPT; made by `forwardPath`. */
  readonly path: string;
  /** Between the angle brackets of MAIL; empty for the null sender. */
  readonly sender: string;
  /** `probe`: the path is random, tried in a session of its own. */
  readonly stage: 'rcpt' | 'probe';
  /** Called only when `path` was accepted: the random path to try next, or null for none. */
  readonly probe: () => string | null;
}

/**
 * How to continue after a session without an answer. `in_clear`: retry the same address without TLS. `new_session`: the
 * session failed, not the host. `rejoin`: the session ended because of another recipient, before a reply about this
 * one. `stop`: no other host would give a better answer.
 */
export type Next = 'next_address' | 'next_host' | 'in_clear' | 'new_session' | 'rejoin' | 'stop';

export type Outcome =
  | {
      readonly kind: 'answered';
      readonly rcpt: Heard;
      readonly finding: SmtpFinding;
      /** Null if no probe was requested. `reconnect`: must be tried in a session of its own. */
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
      /** The caller disconnected. */
      readonly cancelled: boolean;
    };

/**
 * The finding of a reply that rejected the session and not the recipient. A reply before RCPT is never about the
 * mailbox, whatever its text, even if a rule says so.
 */
export function findingOfRefusal({ reply, reading: { finding } }: Heard): SmtpFinding {
  if (finding === 'reconnect' || finding === 'starttls_required') return 'smtp_temporary_failure';
  if (!SMTP_FINDINGS[finding].aboutMailbox) return finding;
  return reply.code >= 500 ? 'smtp_blocked' : 'smtp_temporary_failure';
}

/** Outcome when the server closes the connection. `stale`: an idle session was closed before it was reused. */
export function dropAt(phase: Phase, stale: boolean): { finding: SmtpFinding; rule: string; next: Next } {
  if (phase === 'connect') {
    return { finding: 'smtp_unreachable', rule: 'dialogue.unreachable', next: 'next_address' };
  }
  if (phase === 'tls') return { finding: 'smtp_temporary_failure', rule: 'dialogue.tls_failed', next: 'in_clear' };
  const next: Next = stale ? 'new_session' : 'next_address';
  return { finding: 'smtp_temporary_failure', rule: 'dialogue.dropped', next };
}
