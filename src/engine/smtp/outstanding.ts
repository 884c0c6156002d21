import type { SmtpStage } from '../evidence.ts';
import { needsSmtputf8 } from './commands.ts';
import type { Question } from './outcome.ts';

/** What a command is for. `rcpt` carries the question, `probe` the random recipient after it. */
export type Verb = 'banner' | 'ehlo' | 'helo' | 'starttls' | 'rset' | 'mail' | 'rcpt' | 'probe' | 'quit';

export interface Command {
  readonly verb: Verb;
  readonly line: string;
}

const RSET: Command = { verb: 'rset', line: 'RSET' };
export const QUIT: Command = { verb: 'quit', line: 'QUIT' };
export const STARTTLS: Command = { verb: 'starttls', line: 'STARTTLS' };

/** The commands that put one recipient; `reset` when the session had a transaction before. */
export function transaction(question: Question, verb: 'rcpt' | 'probe', path: string, reset: boolean): Command[] {
  const parameter = needsSmtputf8(question.path) ? ' SMTPUTF8' : '';
  const mail: Command = { verb: 'mail', line: `MAIL FROM:<${question.sender}>${parameter}` };
  const rcpt: Command = { verb, line: `RCPT TO:<${path}>` };
  return reset ? [RSET, mail, rcpt] : [mail, rcpt];
}

/** Which command a reply belongs to: replies come in the order of the commands (RFC 2920 §3.1). */
export class Outstanding {
  #verbs: Verb[] = [];
  /** Of them, how many were sent before the present read: nothing else can be answered by it. */
  #owed = 0;
  /** Commands of the present group that wait for the reply before them. */
  #planned: readonly Command[] = [];

  get empty(): boolean {
    return this.#verbs.length === 0;
  }

  get first(): Verb | undefined {
    return this.#verbs[0];
  }

  /** What is read from now on was sent after everything that is outstanding at this moment. */
  beginRead(): void {
    this.#owed = this.#verbs.length;
  }

  push(verb: Verb): void {
    this.#verbs.push(verb);
  }

  /** The command that the next reply belongs to; undefined when the reply was sent before any was asked for. */
  take(): Verb | undefined {
    return this.#owed-- > 0 ? this.#verbs.shift() : undefined;
  }

  plan(commands: readonly Command[]): void {
    this.#planned = commands;
  }

  /** What may be written now: the whole group where the server takes groups (RFC 2920), else one command. */
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

/** The stage of the evidence that a command belongs to. */
export function stageOf(verb: Verb | undefined): SmtpStage {
  if (verb === 'helo') return 'ehlo';
  return verb === undefined || verb === 'quit' ? 'rset' : verb;
}
