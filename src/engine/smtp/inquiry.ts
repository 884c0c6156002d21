import type { SmtpFinding, SmtpStage } from '../evidence.ts';
import type { Heard, Next, Outcome, Question } from './outcome.ts';

/** Rule id of a canceled check. */
export const CANCELLED = 'dialogue.cancelled';
export const TIMED_OUT = 'dialogue.timeout';

export interface Failure {
  readonly stage: SmtpStage;
  readonly finding: SmtpFinding;
  readonly rule: string | null;
  readonly next: Next;
  /** The reply that ended it; null for a timeout and the like. */
  readonly heard: Heard | null;
}

/** The check in progress: the recipient first, then possibly the random one. */
export class Inquiry {
  readonly question: Question;
  /** The reply that accepted the recipient, and the random path, while that one is being tried. */
  #probe: { readonly rcpt: Heard; readonly path: string } | null = null;
  #isRepeated = false;

  constructor(question: Question) {
    this.question = question;
  }

  /** The session ended because of another recipient: this one, or its probe, has to be tried in another session. */
  postpone(stage: SmtpStage): Outcome {
    return (
      this.answerProbe('reconnect', null) ?? {
        ...{ kind: 'failed', stage, finding: 'smtp_temporary_failure', rule: 'dialogue.ended_early' },
        ...{ next: 'rejoin', heard: null, cancelled: false },
      }
    );
  }

  /** What is being tried: the random path, if there is one, or the recipient. */
  get path(): string {
    return this.#probe?.path ?? this.question.path;
  }

  get isProbing(): boolean {
    return this.#probe !== null;
  }

  /** The recipient was accepted. Returns the random path to try next; null ends the check. */
  accept(rcpt: Heard): string | null {
    const path = this.question.probe();
    if (path !== null) this.#probe = { rcpt, path };
    return path;
  }

  /** The random path once more, for a new transaction; null the second time. */
  repeatProbe(): string | null {
    if (this.#isRepeated) return null;
    this.#isRepeated = true;
    return this.#probe?.path ?? null;
  }

  /** The outcome of a failure: an accepted recipient stays accepted, and only its probe has failed. */
  fail(failure: Failure): Outcome {
    return (
      this.answerProbe(failure.finding, failure.heard) ?? {
        kind: 'failed',
        ...failure,
        cancelled: failure.rule === CANCELLED,
      }
    );
  }

  /** Null while there is no probe. */
  answerProbe(finding: SmtpFinding | 'reconnect', heard: Heard | null): Outcome | null {
    return this.#probe && { kind: 'answered', rcpt: this.#probe.rcpt, finding: 'accepted', probe: { finding, heard } };
  }
}
