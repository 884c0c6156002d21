import type { Clock } from '../../kernel/clock.ts';
import type { TranscriptLine } from '../evidence.ts';
import type { SmtpLimits } from './limits.ts';
import type { Reply } from './reply.ts';

interface Entry {
  readonly at: number;
  readonly from: TranscriptLine['from'];
  readonly text: string;
  /** Instead of the text. */
  readonly reply: Reply | null;
}

/**
 * The dialogue of one check across all hosts: bounded, with milliseconds since the check began. The local part is
 * masked everywhere, also where a server echoes it; the random one of the probe is kept. The lines are made when they
 * are asked for, which is rare.
 */
export class Transcript {
  readonly #entries: Entry[] = [];
  /** Lines of all entries. */
  #count = 0;
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
    const { transcriptLines, transcriptLineLength } = this.#limits;
    const lines: TranscriptLine[] = [];
    for (const { at, from, text, reply } of this.#entries) {
      for (const line of reply === null ? [text] : linesOf(reply)) {
        if (lines.length === transcriptLines - 1) return [...lines, { at, from: 'note', text: 'the rest is left out' }];
        lines.push({ at, from, text: blank(line.slice(0, transcriptLineLength), this.#secret) });
      }
    }
    return lines;
  }

  add(from: TranscriptLine['from'], text: string): void {
    this.#add(from, text, null, 1);
  }

  addReply(reply: Reply): void {
    this.#add('server', '', reply, reply.lines.length);
  }

  /** What follows is left out: the end of the session, which goes on after the check. */
  end(): this {
    this.#count = Number.POSITIVE_INFINITY;
    return this;
  }

  #add(from: TranscriptLine['from'], text: string, reply: Reply | null, lines: number): void {
    if (this.#count >= this.#limits.transcriptLines) return;
    this.#count += lines;
    this.#entries.push({ at: Math.round(this.#clock.elapsed() - this.#begun), from, text, reply });
  }
}

const linesOf = ({ code, lines }: Reply): string[] =>
  lines.map((line, i) => `${code}${i === lines.length - 1 ? ' ' : '-'}${line}`);

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
