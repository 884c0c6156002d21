/**
 * One TCP connection to one mail host: performs the dialogue's actions, enforces its timeouts, and always destroys the
 * socket.
 */
import { connect, isIP, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, type TLSSocket, connect as wrapTls } from 'node:tls';
import type { Clock } from '../../kernel/clock.ts';
import { Dialogue } from './dialogue.ts';
import type { Action, DialogueEvent, DialogueSetup } from './events.ts';
import type { SmtpLimits } from './limits.ts';
import type { Outcome, Phase, Question } from './outcome.ts';
import { ReplyParser } from './reply.ts';
import type { Transcript } from './transcript.ts';

/** A check to be run in a session. */
export interface Asked {
  readonly question: Question;
  /** `Clock.elapsed()` ms. */
  readonly deadline: number;
  /** The banner must have arrived by then, so that another host can still be tried. */
  readonly greetBy: number;
  readonly transcript: Transcript;
  /** Called once, when the session is idle or closing. */
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
  /** Called once, when the socket has closed. */
  readonly onGone: (session: Session) => void;
}

let shared: SecureContext | null = null;
/**
 * One context for all sessions (each costs some 50 KB). Opportunistic TLS: used because servers require it;
 * certificates are recorded and not enforced (RFC 7435), so old protocol versions are better than clear text.
 */
const secureContext = (): SecureContext => {
  shared ??= createSecureContext({ minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' });
  return shared;
};

/** How long a flushed socket may take to close before it is destroyed. */
const FLUSH_MS = 500;

/** How long each phase may take. */
const LIMIT_OF: Readonly<Record<Phase, (limits: SmtpLimits) => number>> = {
  connect: ({ connectMs }) => connectMs,
  banner: ({ bannerMs }) => bannerMs,
  command: ({ commandMs }) => commandMs,
  tls: ({ tlsMs }) => tlsMs,
  idle: ({ idleMs }) => idleMs,
  quit: ({ quitMs }) => quitMs,
  closed: () => FLUSH_MS,
};

export class Session {
  readonly setup: SessionSetup;
  readonly #dialogue: Dialogue;
  readonly #endsAt: number;
  #parser = new ReplyParser();
  #socket: Socket | null = null;
  #plain: Socket | null = null;
  #asked: Asked | null = null;
  /** Transcript of the current or last check; QUIT is recorded there. */
  #transcript: Transcript | null = null;
  #outcome: Outcome | null = null;
  #octets = 0;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #dueAt = Number.POSITIVE_INFINITY;
  #gone = false;
  /** Completed checks. */
  served = 0;

  constructor(setup: SessionSetup) {
    this.setup = setup;
    this.#dialogue = new Dialogue(setup);
    this.#endsAt = setup.clock.elapsed() + setup.limits.sessionMs;
  }

  /** Dials and runs the check. Its result is never reported synchronously. */
  open(first: Asked): void {
    const { host, address, port, egress, mayDial } = this.setup;
    this.#asked = first;
    this.#transcript = first.transcript;
    this.#dialogue.handle({ is: 'ask', question: first.question });
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

  /** Runs the next check in an idle session. */
  ask(asked: Asked): void {
    this.#asked = asked;
    this.#transcript = asked.transcript;
    const { host, address } = this.setup;
    this.#note(`session with ${host} [${address}] used again, after ${this.served} recipients`);
    this.#on({ is: 'ask', question: asked.question });
  }

  /** Closes the session, with QUIT if allowed. A check in progress ends as cancelled. */
  finish(): void {
    this.#on({ is: 'finish' });
  }

  /** Whether the session can run another check. */
  get reusable(): boolean {
    const { limits, clock } = this.setup;
    return (
      this.#dialogue.phase === 'idle' &&
      !this.#gone &&
      this.#dialogue.recipients < limits.recipientsPerSession &&
      this.#dialogue.refusals < limits.refusalsPerSession &&
      clock.elapsed() < this.#endsAt - limits.commandMs
    );
  }

  get phase(): Phase {
    return this.#dialogue.phase;
  }

  get secure(): boolean {
    return this.#dialogue.secure;
  }

  get recipients(): number {
    return this.#dialogue.recipients;
  }

  #on(event: DialogueEvent): void {
    for (const action of this.#dialogue.handle(event)) this.#perform(action);
    this.#arm();
    const outcome = this.#outcome;
    if (outcome === null) return;
    const asked = this.#asked;
    this.#outcome = null;
    this.#asked = null;
    this.served++;
    asked?.done(outcome);
  }

  #perform(action: Action): void {
    switch (action.do) {
      case 'send':
        for (const line of action.lines) this.#transcript?.add('client', line);
        this.#socket?.write(`${action.lines.join('\r\n')}\r\n`);
        return;
      case 'starttls':
        this.#wrap();
        return;
      case 'answer':
        this.#outcome = action.outcome;
        return;
      case 'close':
        this.#socket?.destroySoon();
        return;
    }
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#octets += chunk.length;
    const replies = this.#parser.push(chunk);
    for (const reply of replies) this.#transcript?.addReply(reply);
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
    // Data after the reply was sent in clear text and must be discarded (RFC 3207 §6, CVE-2011-0411).
    this.#parser = new ReplyParser();
    plain.off('data', this.#onData);
    const options = { socket: plain, secureContext: secureContext(), rejectUnauthorized: false };
    const socket: TLSSocket = wrapTls(isIP(host) === 0 ? { ...options, servername: host } : options);
    this.#socket = socket;
    socket.on('secureConnect', () => {
      this.#note(describe(socket));
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
    this.#transcript?.add('note', text);
  }

  /** One timer per session, extended lazily, so that most replies need no timer operation. */
  #arm(): void {
    if (this.#gone) return;
    const now = this.setup.clock.elapsed();
    const phase = this.#dialogue.phase;
    const due = now + LIMIT_OF[phase](this.setup.limits);
    const greeting = phase === 'connect' || phase === 'banner';
    const asked = greeting ? this.#asked?.greetBy : this.#asked?.deadline;
    const bounded = Math.min(due, this.#endsAt, asked ?? Number.POSITIVE_INFINITY);
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
    this.#on({ is: 'timeout' });
  };

  #destroyed(): void {
    if (this.#gone) return;
    this.#gone = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#on({ is: 'closed' });
    this.#socket?.destroy();
    this.setup.onGone(this);
  }
}

/** Protocol and certificate, for the transcript. */
function describe(socket: TLSSocket): string {
  const certificate = socket.getPeerCertificate() ?? {};
  const { subject, issuer, valid_from: from, valid_to: to, fingerprint256: print } = certificate;
  const name = (party: { CN?: string | string[]; O?: string | string[] } | undefined) =>
    String(party?.CN ?? party?.O ?? 'nobody').replace(/[^\x20-\x7e]/g, '?');
  const verified = socket.authorized ? 'verified' : 'not verified';
  return `${socket.getProtocol() ?? 'TLS'} ${socket.getCipher().name}; certificate of ${name(subject)} by ${name(issuer)}, ${from} to ${to}, SHA-256 ${print}, ${verified}`;
}
