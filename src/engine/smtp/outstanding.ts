import type { SmtpStage } from '../evidence.ts';
import { needsSmtputf8 } from './commands.ts';
import type { Inquiry } from './inquiry.ts';
import type { Question } from './outcome.ts';

/** Purpose of a command. `rcpt` has the recipient to check, `probe` the random recipient after it. */
export type Verb = 'banner' | 'ehlo' | 'helo' | 'starttls' | 'rset' | 'mail' | 'rcpt' | 'probe' | 'quit';

export interface Command {
  readonly verb: Verb;
  readonly line: string;
  /** The check that it belongs to alone; null: to all in the transaction. */
  readonly of: Inquiry | null;
}

const RSET: Command = { verb: 'rset', line: 'RSET', of: null };
export const QUIT: Command = { verb: 'quit', line: 'QUIT', of: null };
export const STARTTLS: Command = { verb: 'starttls', line: 'STARTTLS', of: null };

export const recipient = (verb: 'rcpt' | 'probe', of: Inquiry, path: string): Command => ({
  ...{ verb, of },
  line: `RCPT TO:<${path}>`,
});

/** One transaction for recipients of the same sender; `reset` if the session had a transaction before. */
export function transaction({ sender, path }: Question, recipients: readonly Command[], reset: boolean): Command[] {
  const parameter = needsSmtputf8(path) ? ' SMTPUTF8' : '';
  const mail: Command = { verb: 'mail', line: `MAIL FROM:<${sender}>${parameter}`, of: null };
  return reset ? [RSET, mail, ...recipients] : [mail, ...recipients];
}

/** Which command a reply belongs to: replies come in the order of the commands (RFC 2920 §3.1). */
export class Outstanding {
  #sent: Command[] = [];
  /** How many of them were sent before the current read: it can answer no others. */
  #owed = 0;
  /** Commands of the current group that wait for an earlier reply. */
  #planned: readonly Command[] = [];

  get empty(): boolean {
    return this.#sent.length === 0;
  }

  get first(): Command | undefined {
    return this.#sent[0];
  }

  /** Marks all outstanding commands as sent before the data read next. */
  beginRead(): void {
    this.#owed = this.#sent.length;
  }

  push(command: Command): void {
    this.#sent.push(command);
  }

  /** The command that the next reply belongs to; undefined for an unsolicited reply. */
  take(): Command | undefined {
    return this.#owed-- > 0 ? this.#sent.shift() : undefined;
  }

  plan(commands: readonly Command[]): void {
    this.#planned = commands;
  }

  /** To be sent after what is planned. */
  add(commands: readonly Command[]): void {
    this.#planned = [...this.#planned, ...commands];
  }

  /** Its commands that were not sent yet are not needed any more. */
  drop(of: Inquiry): void {
    this.#planned = this.#planned.filter((command) => command.of !== of);
  }

  /** What may be written now: the whole group if the server supports PIPELINING (RFC 2920), else one command. */
  next(pipelining: boolean): readonly Command[] {
    const now = pipelining ? this.#planned : this.#planned.slice(0, 1);
    this.#planned = this.#planned.slice(now.length);
    return now;
  }

  clear(): void {
    this.#sent = [];
    this.#planned = [];
  }
}

/** The evidence's stage for a command. */
export function stageOf(verb: Verb | undefined): SmtpStage {
  if (verb === 'helo') return 'ehlo';
  return verb === undefined || verb === 'quit' ? 'rset' : verb;
}
