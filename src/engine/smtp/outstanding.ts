import type { SmtpStage } from '../evidence.ts';
import { needsSmtputf8 } from './commands.ts';
import type { Question } from './outcome.ts';

/** Purpose of a command. `rcpt` has the recipient to check, `probe` the random recipient after it. */
export type Verb = 'banner' | 'ehlo' | 'helo' | 'starttls' | 'rset' | 'mail' | 'rcpt' | 'probe' | 'quit';

export interface Command {
  readonly verb: Verb;
  readonly line: string;
}

const RSET: Command = { verb: 'rset', line: 'RSET' };
export const QUIT: Command = { verb: 'quit', line: 'QUIT' };
export const STARTTLS: Command = { verb: 'starttls', line: 'STARTTLS' };

/** The commands to check one recipient; `reset` if the session had a transaction before. */
export function transaction(question: Question, verb: 'rcpt' | 'probe', path: string, reset: boolean): Command[] {
  const parameter = needsSmtputf8(question.path) ? ' SMTPUTF8' : '';
  const mail: Command = { verb: 'mail', line: `MAIL FROM:<${question.sender}>${parameter}` };
  const rcpt: Command = { verb, line: `RCPT TO:<${path}>` };
  return reset ? [RSET, mail, rcpt] : [mail, rcpt];
}

/** Which command a reply belongs to: replies come in the order of the commands (RFC 2920 §3.1). */
export class Outstanding {
  #verbs: Verb[] = [];
  /** How many of them were sent before the current read: it can answer no others. */
  #owed = 0;
  /** Commands of the current group that wait for an earlier reply. */
  #planned: readonly Command[] = [];

  get empty(): boolean {
    return this.#verbs.length === 0;
  }

  get first(): Verb | undefined {
    return this.#verbs[0];
  }

  /** Marks all outstanding commands as sent before the data read next. */
  beginRead(): void {
    this.#owed = this.#verbs.length;
  }

  push(verb: Verb): void {
    this.#verbs.push(verb);
  }

  /** The command that the next reply belongs to; undefined for an unsolicited reply. */
  take(): Verb | undefined {
    return this.#owed-- > 0 ? this.#verbs.shift() : undefined;
  }

  plan(commands: readonly Command[]): void {
    this.#planned = commands;
  }

  /** What may be written now: the whole group if the server supports PIPELINING (RFC 2920), else one command. */
  next(pipelining: boolean): readonly Command[] {
    const now = pipelining ? this.#planned : this.#planned.slice(0, 1);
    this.#planned = this.#planned.slice(now.length);
    return now;
  }

  clear(): void {
    this.#verbs = [];
    this.#planned = [];
  }
}

/** The evidence's stage for a command. */
export function stageOf(verb: Verb | undefined): SmtpStage {
  if (verb === 'helo') return 'ehlo';
  return verb === undefined || verb === 'quit' ? 'rset' : verb;
}
