import type { Clock } from '../../kernel/clock.ts';
import type { TranscriptLine } from '../evidence.ts';
import type { SmtpLimits } from './limits.ts';
import type { Reply } from './reply.ts';

/**
 * What was said about one question, over all the hosts that were asked: bounded, with milliseconds since the question
 * began. The local part asked about is blanked wherever it stands, also where a server echoes it; the random one of the
 * probe belongs to nobody and stays.
 */
export class Transcript {
  readonly #lines: TranscriptLine[] = [];
  readonly #clock: Clock;
  readonly #begun: number;
  readonly #limits: SmtpLimits;
  readonly #secret: string;

  /** `secret`: the local part, as sent. */
  constructor(clock: Clock, limits: SmtpLimits, secret: string) {
    this.#clock = clock;
    this.#begun = clock.elapsed();
    this.#limits = limits;
    this.#secret = secret.toLowerCase();
  }

  get lines(): readonly TranscriptLine[] {
    return [...this.#lines];
  }

  add(from: TranscriptLine['from'], text: string): void {
    this.#add(Math.round(this.#clock.elapsed() - this.#begun), from, text);
  }

  addReply(reply: Reply): void {
    const at = Math.round(this.#clock.elapsed() - this.#begun);
    const end = reply.lines.length - 1;
    reply.lines.forEach((line, i) => {
      this.#add(at, 'server', `${reply.code}${i === end ? ' ' : '-'}${line}`);
    });
  }

  #add(at: number, from: TranscriptLine['from'], text: string): void {
    const { transcriptLines, transcriptLineLength } = this.#limits;
    if (this.#lines.length >= transcriptLines) return;
    const last = this.#lines.length === transcriptLines - 1;
    if (last) this.#lines.push({ at, from: 'note', text: 'the rest is left out' });
    else this.#lines.push({ at, from, text: blank(text.slice(0, transcriptLineLength), this.#secret) });
  }
}

const WORD = /[\p{L}\p{N}]/u;

/** `text` without `secret` (lower case) where it stands as a word of its own or before an `@`. */
function blank(text: string, secret: string): string {
  if (secret === '') return text;
  const lower = text.toLowerCase();
  // Some letters change their length in lower case; then positions would not match, and a whole line is little to lose.
  if (lower.length !== text.length) return lower.includes(secret) ? '***' : text;
  let out = '';
  let done = 0;
  for (let at = lower.indexOf(secret); at !== -1; at = lower.indexOf(secret, at + secret.length)) {
    const after = at + secret.length;
    if (WORD.test(text[at - 1] ?? '') || (WORD.test(text[after] ?? '') && text[after] !== '@')) continue;
    out += `${text.slice(done, at)}***`;
    done = after;
  }
  return out + text.slice(done);
}
