import type { Clock } from '../../kernel/clock.ts';
import type { TranscriptLine } from '../evidence.ts';
import type { SmtpLimits } from './limits.ts';
import type { Reply } from './reply.ts';

/**
 * The dialogue of one check across all hosts: bounded, with milliseconds since the check began. The local part is
 * masked everywhere, also where a server echoes it; the random one of the probe is kept.
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

/** `text` without `secret` (lower case) where it is a separate word or precedes an `@`. */
function blank(text: string, secret: string): string {
  if (secret === '') return text;
  const lower = text.toLowerCase();
  // Some letters change their length in lower case, so positions would not match: mask the whole line.
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
