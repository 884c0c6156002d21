/**
 * One TCP connection to one mail host: performs the dialogue's actions, enforces its timeouts, and always destroys the
 * socket.
 */
import { connect, isIP, type Socket } from 'node:net';
import { type TLSSocket, connect as wrapTls } from 'node:tls';
import type { Clock } from '../../kernel/clock.ts';
import { Dialogue } from './dialogue.ts';
import type { Action, DialogueEvent, DialogueSetup } from './events.ts';
import type { SmtpLimits } from './limits.ts';
import type { Outcome, Phase, Question } from './outcome.ts';
import type { Recipients } from './recipients.ts';
import { ReplyParser } from './reply.ts';
import { describeTls, secureContext } from './tls.ts';
import type { Transcript } from './transcript.ts';

/** A check to be run in a session. */
export interface Asked {
  readonly question: Question;
  /** `Clock.elapsed()` ms. */
  readonly deadline: number;
  /** The banner must have arrived by then, so that another host can still be tried. */
  readonly greetBy: number;
  readonly transcript: Transcript;
  /** Called once. */
  readonly done: (outcome: Outcome) => void;
}

interface SessionSetup extends DialogueSetup {
  readonly host: string;
  /** An IP literal; host names are never dialled. */
  readonly address: string;
  readonly port: number;
  /** Egress address, or null for the system's choice. */
  readonly egress: string | null;
  readonly limits: SmtpLimits;
  readonly clock: Clock;
  /** The address guard, checked immediately before dialling. */
  readonly mayDial: (address: string) => boolean;
  /** Called when all checks are answered and the session is idle, after the last `done`. */
  readonly onIdle: () => void;
  /** Called once, when the socket has closed. */
  readonly onGone: () => void;
}

/**
 * How many more recipients a session takes that has had these. Nothing ends it in the middle of a transaction, so as many
 * as will not be too many if the server rejects as many of them as before; at first, if it rejects all.
 */
export const roomOf = (
  limits: SmtpLimits,
  { sent, judged, refusals }: Pick<Recipients, 'sent' | 'judged' | 'refusals'>,
) => {
  const { recipientsPerSession, recipientsPerTransaction, refusalsPerSession } = limits;
  const tolerated = ((refusalsPerSession - refusals) * (judged + 1)) / (refusals + 1);
  return Math.max(0, Math.min(recipientsPerSession - sent, Math.floor(tolerated), recipientsPerTransaction));
};

/** How long each phase may take. */
const LIMIT_OF: Readonly<Record<Phase, (limits: SmtpLimits) => number>> = {
  connect: ({ connectMs }) => connectMs,
  banner: ({ bannerMs }) => bannerMs,
  command: ({ commandMs }) => commandMs,
  tls: ({ tlsMs }) => tlsMs,
  idle: ({ idleMs }) => idleMs,
  quit: ({ quitMs }) => quitMs,
  // As long, so that the timer need not be set again.
  closed: ({ quitMs }) => quitMs,
};

export class Session {
  readonly setup: SessionSetup;
  readonly #dialogue: Dialogue;
  readonly #endsAt: number;
  #parser = new ReplyParser();
  #socket: Socket | null = null;
  #plain: Socket | null = null;
  /** The checks under way, by question. */
  readonly #asked = new Map<Question, Asked>();
  /** Transcripts of the current or last checks; QUIT is recorded there. */
  #transcripts: readonly Transcript[] = [];
  /** Whose reply comes next: the check that a command belongs to alone, or null for all of them. */
  #repliesTo: (Question | null)[] = [null];
  readonly #outcomes: { readonly question: Question; readonly outcome: Outcome }[] = [];
  #octets = 0;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #dueAt = Number.POSITIVE_INFINITY;
  #gone = false;
  #isBusy = true;
  /** Completed checks. */
  served = 0;

  constructor(setup: SessionSetup) {
    this.setup = setup;
    this.#dialogue = new Dialogue(setup);
    this.#endsAt = setup.clock.elapsed() + setup.limits.sessionMs;
  }

  /** Dials and runs the checks. Their results are never reported synchronously. */
  open(first: readonly Asked[]): void {
    const { host, address, port, egress, mayDial } = this.setup;
    this.#dialogue.handle({ is: 'ask', questions: this.#take(first) });
    if (isIP(address) === 0 || !mayDial(address)) {
      this.#note(`${host} (${address}) is no address to be dialled`);
      queueMicrotask(() => this.#destroyed());
      return;
    }
    this.#note(`dialling ${host} [${address}]:${port}${egress === null ? '' : ` from ${egress}`}`);
    const from = egress === null ? {} : { localAddress: egress };
    const socket = connect({ host: address, port, ...from, noDelay: true, autoSelectFamily: false });
    this.#plain = socket;
    this.#socket = socket;
    socket.on('connect', () => this.#on({ is: 'connected' }));
    socket.on('data', this.#onData);
    socket.on('error', (error: NodeJS.ErrnoException) => this.#note(`connection: ${error.code ?? 'failed'}`));
    socket.on('end', () => this.#note('the server closed the connection'));
    socket.on('close', () => this.#destroyed());
    this.#arm();
  }

  /** Runs the next checks in an idle session. */
  ask(asked: readonly Asked[]): void {
    const questions = this.#take(asked);
    const { host, address } = this.setup;
    this.#note(`session with ${host} [${address}] used again, after ${this.served} recipients`);
    this.#on({ is: 'ask', questions });
  }

  #take(asked: readonly Asked[]): readonly Question[] {
    this.#isBusy = true;
    for (const one of asked) this.#asked.set(one.question, one);
    this.#transcripts = asked.map(({ transcript }) => transcript);
    return asked.map(({ question }) => question);
  }

  /** Closes the session, with QUIT if allowed. Checks in progress end as canceled. */
  finish(): void {
    this.#on({ is: 'finish' });
  }

  /** Ends one check as canceled; the session as well if it is the only one. */
  cancel({ question }: Asked): void {
    this.#on({ is: 'abandon', question, why: 'cancelled' });
  }

  /** How many more checks an idle session can run, even if the server rejects all of them. */
  get room(): number {
    const { limits, clock } = this.setup;
    const { phase, recipients } = this.#dialogue;
    if (phase !== 'idle' || this.#gone || clock.elapsed() >= this.#endsAt - limits.commandMs) return 0;
    return roomOf(limits, recipients);
  }

  get phase(): Phase {
    return this.#dialogue.phase;
  }

  get secure(): boolean {
    return this.#dialogue.secure;
  }

  /** Recipients that the server takes, as far as it has said so: in a transaction, and in this session so far. */
  get takes(): { readonly perTransaction: number; readonly inSession: number } {
    const { perTransaction, judged } = this.#dialogue.recipients;
    return { perTransaction, inSession: judged };
  }

  #on(event: DialogueEvent): void {
    for (const action of this.#dialogue.handle(event)) this.#perform(action);
    this.#arm();
    const wasBusy = this.#isBusy;
    this.#isBusy = this.#dialogue.phase !== 'idle';
    for (const { question, outcome } of this.#outcomes.splice(0)) {
      const asked = this.#asked.get(question);
      this.#asked.delete(question);
      this.served++;
      asked?.done(outcome);
    }
    if (wasBusy && !this.#isBusy) this.setup.onIdle();
  }

  #perform(action: Action): void {
    switch (action.do) {
      case 'send':
        for (const { line, question } of action.commands) {
          this.#repliesTo.push(question);
          this.#record(question, (transcript) => transcript.add('client', line));
        }
        this.#socket?.write(action.commands.map(({ line }) => `${line}\r\n`).join(''));
        return;
      case 'starttls':
        this.#wrap();
        return;
      case 'answer':
        this.#outcomes.push(action);
        return;
      case 'close':
        this.#socket?.destroySoon();
        return;
    }
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#octets += chunk.length;
    const replies = this.#parser.push(chunk);
    for (const reply of replies)
      this.#record(this.#repliesTo.shift() ?? null, (transcript) => transcript.addReply(reply));
    if (replies.length > 0) this.#on({ is: 'replies', replies });
    const excess = this.#octets > this.setup.limits.sessionBytes ? 'too many octets' : null;
    const violation = this.#parser.violation ?? excess;
    if (violation === null || this.#dialogue.phase === 'closed') return;
    this.#note(`protocol violation: ${violation}`);
    this.#on({ is: 'violation' });
  };

  #wrap(): void {
    const plain = this.#plain;
    if (plain === null) return;
    const { host } = this.setup;
    // Data after the reply was sent in clear text and must be discarded (RFC 3207 §4.2, CVE-2011-0411).
    this.#parser = new ReplyParser();
    plain.off('data', this.#onData);
    const options = { socket: plain, secureContext: secureContext(), rejectUnauthorized: false };
    const socket: TLSSocket = wrapTls(isIP(host) === 0 ? { ...options, servername: host } : options);
    this.#socket = socket;
    socket.on('secureConnect', () => {
      this.#note(describeTls(socket));
      this.#on({ is: 'secured' });
    });
    socket.on('data', this.#onData);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#note(`TLS: ${error.code ?? 'failed'}`);
      if (this.#dialogue.phase === 'tls') this.#on({ is: 'tls_failed' });
    });
    socket.on('close', () => plain.destroy());
  }

  #note(text: string): void {
    this.#record(null, (transcript) => transcript.add('note', text));
  }

  /** In the transcript of the check that it belongs to; null: in all of them. Nobody sees another's recipient. */
  #record(question: Question | null, write: (transcript: Transcript) => void): void {
    if (question === null) for (const transcript of this.#transcripts) write(transcript);
    else {
      const asked = this.#asked.get(question);
      if (asked !== undefined) write(asked.transcript);
    }
  }

  /** One timer per session, extended lazily, so that most replies need no timer operation. */
  #arm(): void {
    if (this.#gone) return;
    const now = this.setup.clock.elapsed();
    const phase = this.#dialogue.phase;
    const due = now + LIMIT_OF[phase](this.setup.limits);
    const greeting = phase === 'connect' || phase === 'banner';
    let bounded = Math.min(due, this.#endsAt);
    for (const { deadline, greetBy } of this.#asked.values())
      bounded = Math.min(bounded, greeting ? greetBy : deadline);
    this.#dueAt = phase === 'quit' || phase === 'closed' ? due : bounded;
    if (this.#dueAt >= this.#timerAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAt = this.#dueAt;
    this.#timer = setTimeout(this.#onTimer, Math.max(0, Math.ceil(this.#dueAt - now)));
  }

  readonly #onTimer = (): void => {
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const left = this.#dueAt - this.setup.clock.elapsed();
    if (left > 0.5) {
      this.#timerAt = this.#dueAt;
      this.#timer = setTimeout(this.#onTimer, Math.ceil(left));
      return;
    }
    if (this.#dialogue.phase === 'closed') {
      this.#socket?.destroy();
      this.#plain?.destroy();
      return;
    }
    const expired = [...this.#asked.values()].filter(({ deadline }) => deadline <= this.#dueAt);
    if (expired.length === 0 || expired.length === this.#asked.size) this.#on({ is: 'timeout' });
    else for (const { question } of expired) this.#on({ is: 'abandon', question, why: 'timeout' });
  };

  #destroyed(): void {
    if (this.#gone) return;
    this.#gone = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#on({ is: 'closed' });
    this.#socket?.destroy();
    // Sockets end up among old objects, from where they would retain the session until a full collection.
    this.#plain?.removeAllListeners();
    this.setup.onGone();
  }
}
