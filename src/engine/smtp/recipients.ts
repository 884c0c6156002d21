import type { SmtpStage } from '../evidence.ts';
import { CANCELLED, type Failure, Inquiry } from './inquiry.ts';
import type { SmtpLimits } from './limits.ts';
import type { Heard, Next, Outcome, Question, ReplyReading } from './outcome.ts';
import type { Reply } from './reply.ts';

/**
 * What follows from a reply about a recipient. `probe`: the random path is next, `probe_again`: in a new transaction.
 * `refuse`: the reply was not about the mailbox. `leave`: the server closes the session.
 */
type Step =
  | { readonly do: 'nothing' | 'leave' }
  | { readonly do: 'probe' | 'probe_again'; readonly path: string }
  | { readonly do: 'refuse'; readonly next: Next };
const NOTHING: Step = { do: 'nothing' };

/** The recipients of one session: what is asked about them, and how many the server takes. */
export class Recipients {
  /** RCPT commands sent so far; how many of them the server judged, and rejected. */
  sent = 0;
  judged = 0;
  refusals = 0;
  /** Recipients in one transaction that the server takes. */
  perTransaction = Number.POSITIVE_INFINITY;
  #judgedHere = 0;
  /** Those without an answer. */
  #open: readonly Inquiry[] = [];
  /** Those of this round, with and without an answer. */
  #asked: readonly Question[] = [];
  readonly #onAnswer: (question: Question, outcome: Outcome) => void;

  constructor(onAnswer: (question: Question, outcome: Outcome) => void) {
    this.#onAnswer = onAnswer;
  }

  get open(): readonly Inquiry[] {
    return this.#open;
  }

  get isProbing(): boolean {
    return this.#open.some((inquiry) => inquiry.isProbing);
  }

  ask(questions: readonly Question[]): void {
    if (this.#open.length > 0) throw new TypeError('the earlier questions are not answered yet');
    this.#asked = questions;
    this.#open = questions.map((question) => new Inquiry(question));
  }

  /** Those of the next transaction. */
  forTransaction(): readonly Inquiry[] {
    this.#judgedHere = 0;
    return this.#open.slice(0, this.perTransaction);
  }

  answer(inquiry: Inquiry, outcome: Outcome | null): void {
    if (outcome === null || !this.#open.includes(inquiry)) return;
    this.#open = this.#open.filter((one) => one !== inquiry);
    this.#onAnswer(inquiry.question, outcome);
  }

  /**
   * Whether a reply names, in brackets, another recipient than the one that it would be about: the server has replied
   * once too often before, and each reply is taken for that of the next command.
   */
  isAboutAnother({ path }: Inquiry, { text }: Reply): boolean {
    if (!text.includes('<')) return false;
    const lower = text.toLowerCase();
    const isNamed = (one: string): boolean => lower.includes(`<${one.toLowerCase()}>`);
    return !isNamed(path) && this.#asked.some((question) => question.path !== path && isNamed(question.path));
  }

  onRecipient(inquiry: Inquiry, rcpt: Heard): Step {
    const { finding } = rcpt.reading;
    const isClosing = rcpt.reply.code === 421;
    // The server counts an abandoned one as well.
    if (!this.#open.includes(inquiry)) return this.#count(finding);
    if (finding === 'starttls_required') return { do: 'refuse', next: 'next_host' };
    if (finding === 'reconnect') {
      // The other transactions take as many as this one did.
      if (!isClosing && this.#judgedHere > 0) {
        this.perTransaction = Math.min(this.perTransaction, this.#judgedHere);
        return NOTHING;
      }
      return { do: 'refuse', next: this.judged > 0 ? 'new_session' : 'stop' };
    }
    // What a server says at the end of a session with others may be about them.
    if (isClosing && finding !== 'greylisted')
      return { do: 'refuse', next: this.judged > 0 ? 'new_session' : 'next_host' };
    this.#count(finding);
    const path = finding === 'accepted' ? inquiry.accept(rcpt) : null;
    if (path !== null) return { do: 'probe', path };
    this.answer(inquiry, { kind: 'answered', rcpt, finding, probe: null });
    return NOTHING;
  }

  onProbe(inquiry: Inquiry, heard: Heard): Step {
    const { finding } = heard.reading;
    if (!this.#open.includes(inquiry)) return this.#count(finding);
    const isClosing = heard.reply.code === 421;
    // One recipient per transaction is common; a second rejection means one per session.
    const again = finding === 'reconnect' && !isClosing ? inquiry.repeatProbe() : null;
    if (again !== null) return { do: 'probe_again', path: again };
    if (finding !== 'reconnect') this.#count(finding);
    const shown = finding === 'starttls_required' ? 'smtp_temporary_failure' : finding;
    this.answer(inquiry, inquiry.answerProbe(shown, heard));
    return isClosing ? { do: 'leave' } : NOTHING;
  }

  #count(finding: ReplyReading['finding']): Step {
    this.judged++;
    this.#judgedHere++;
    if (finding !== 'accepted') this.refusals++;
    return NOTHING;
  }

  /**
   * Ends all checks. `by`: the recipient whose reply it was, or was awaited, to which alone the failure applies; null:
   * it applies to all. Whoever only needs another session is postponed, but for one: it tells whether that helps.
   */
  fail(failure: Failure, by: Inquiry | null): void {
    const cause = by !== null && this.#open.includes(by) ? by : null;
    const isForAll = failure.rule === CANCELLED || (cause === null && failure.next !== 'new_session');
    const [first] = this.#open;
    for (const inquiry of this.#open) {
      const applies = isForAll || inquiry === (cause ?? first);
      this.answer(inquiry, applies ? inquiry.fail(failure) : inquiry.postpone(failure.stage));
    }
  }

  /** The session ends: those without an answer go to another one. */
  postpone(stage: SmtpStage): void {
    for (const inquiry of this.#open) this.answer(inquiry, inquiry.postpone(stage));
  }
}

/**
 * How many more recipients a session takes that has had these. Nothing ends it in the middle of a transaction, so as
 * many as will not be too many if the server rejects as many of them as before; at first, if it rejects all.
 */
export const roomOf = (
  limits: SmtpLimits,
  { sent, judged, refusals }: Pick<Recipients, 'sent' | 'judged' | 'refusals'>,
) => {
  const { recipientsPerSession, recipientsPerTransaction, refusalsPerSession } = limits;
  const tolerated = ((refusalsPerSession - refusals) * (judged + 1)) / (refusals + 1);
  return Math.max(0, Math.min(recipientsPerSession - sent, Math.floor(tolerated), recipientsPerTransaction));
};
