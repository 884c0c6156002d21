/**
 * One TCP connection to one mail host: performs the dialogue's actions, enforces its timeouts, and always destroys the
 * socket.
 */
import { connect, isIP } from 'node:net';
import { createSecureContext, type SecureContext, type TLSSocket, connect as wrapTls } from 'node:tls';
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { Egress } from '../../kernel/egress.ts';
import type { TranscriptLine } from '../evidence.ts';
import {
  Dialogue,
  type DialogueAction,
  type DialogueEvent,
  type DialogueOutcome,
  type DialoguePhase,
  type DialogueSetup,
  type RecipientQuestion,
  type Recipients,
  roomForRecipients,
  type SmtpCommand,
} from './dialogue.ts';
import type { LearnedHost, LearnedHosts } from './learned-hosts.ts';
import type { SmtpLimits } from './limits.ts';
import { maskSecret, ReplyParser, type SmtpReply } from './reply.ts';
import { type MailConnection, Tunnel, type TunnelFailure, tunnelMs } from './tunnel.ts';

/** A check to be run in a session. */
export interface SessionCheck {
  readonly question: RecipientQuestion;
  /** Deadlines are on the clock of `Clock.elapsed()`. */
  readonly deadlineMs: number;
  /** The banner must have arrived by then, so that another host can still be tried. */
  readonly greetByMs: number;
  readonly transcript: Transcript;
  /** Called once, unless `failed` is. */
  readonly done: (outcome: DialogueOutcome) => void;
  /** A handler of the session threw, which has ended it. */
  readonly failed: (fault: unknown) => void;
}

interface SessionSetup extends Omit<DialogueSetup, 'known'> {
  readonly learned: LearnedHosts;
  /** An IP literal; host names are never dialled. */
  readonly address: string;
  readonly port: number;
  readonly egress: Pick<Egress, 'name' | 'bind' | 'via'>;
  readonly limits: SmtpLimits;
  readonly clock: Clock;
  /** Guards addresses, immediately before dialing. */
  readonly mayDial: (address: string) => boolean;
  readonly on: {
    /** Called when all checks are answered and the session is idle, after the last `done`. */
    readonly idle: () => void;
    /** Called where the egress has a SOCKS server; null: it connected us to the mail server. */
    readonly tunnelled: (failure: TunnelFailure | null) => void;
    /** Called once, when the socket has closed. */
    readonly closed: () => void;
  };
}

/** How long each phase may take. */
const PHASE_LIMIT: Readonly<Record<DialoguePhase, (limits: SmtpLimits) => number>> = {
  connect: ({ connectMs }) => connectMs,
  banner: ({ bannerMs }) => bannerMs,
  command: ({ commandMs }) => commandMs,
  tls: ({ tlsMs }) => tlsMs,
  idle: ({ idleMs }) => idleMs,
  quit: ({ quitMs }) => quitMs,
  // As long, so that the timer need not be set again.
  closed: ({ quitMs }) => quitMs,
};

/** What a socket reads into: parsed before the next one reads. Nothing refers to it afterwards. */
const SESSION_INPUT = Buffer.allocUnsafeSlow(64 * 1024);

export class SmtpSession {
  readonly setup: SessionSetup;
  readonly #known: LearnedHost;
  readonly #dialogue: Dialogue;
  readonly #endsAt: number;
  #parser = new ReplyParser();
  #socket: MailConnection | null = null;
  #plain: MailConnection | null = null;
  /** While it is being opened. */
  #tunnel: Tunnel | null = null;
  /** These checks are under way. */
  #asked: readonly SessionCheck[] = [];
  /** Transcripts of the current or last checks; QUIT is recorded there. */
  #transcripts: readonly Transcript[] = [];
  /** Whose reply comes next: the check that a command belongs to alone, or null for all of them. */
  #repliesTo: (RecipientQuestion | null)[] = [null];
  #outcomes: { readonly question: RecipientQuestion; readonly outcome: DialogueOutcome }[] = [];
  #onTunnelData: ((chunk: Buffer) => void) | null = null;
  #octets = 0;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #dueAt = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #isBusy = true;
  /** Counts completed checks. */
  served = 0;

  constructor(setup: SessionSetup) {
    this.setup = setup;
    this.#known = setup.learned.of({ egress: setup.egress.name, address: setup.address });
    this.#dialogue = new Dialogue({ ...setup, known: this.#known });
    this.#endsAt = setup.clock.elapsed() + setup.limits.sessionMs;
  }

  /** Dials and runs the checks. Their results are never reported synchronously. */
  open(first: readonly SessionCheck[]): void {
    const { host, address, port, egress, mayDial } = this.setup;
    this.#dialogue.handle({ is: 'ask', questions: this.#take(first) });
    if (isIP(address) === 0 || !mayDial(address)) {
      this.#note(`${host} (${address}) is no address to be dialled`);
      queueMicrotask(contain(this.fail, () => this.#destroyed()));
      return;
    }
    const from = egress.bind ?? (egress.via === null ? null : egress.name);
    this.#note(`dialling ${host} [${address}]:${port}${from === null ? '' : ` from ${from}`}`);
    if (egress.via === null) this.#connect();
    else
      this.#tunnel = new Tunnel(egress.via, this.setup, {
        opened: (socket) => this.#onTunnel(socket),
        failed: (failure) => this.#onTunnelFailed(failure),
        fault: this.fail,
      });
    this.#arm();
  }

  #connect(): void {
    const { address, port, egress } = this.setup;
    const read = contain(this.fail, (octets: number) => this.#onData(SESSION_INPUT.subarray(0, octets)));
    // True: goes on reading.
    const onread = { buffer: SESSION_INPUT, callback: (octets: number) => read(octets) ?? true };
    const where = { host: address, port, noDelay: true, autoSelectFamily: false, onread };
    const socket = connect(egress.bind === null ? where : { ...where, localAddress: egress.bind });
    socket.on(
      'connect',
      contain(this.fail, () => this.#on({ is: 'connected' })),
    );
    this.#adopt(socket);
  }

  #adopt(socket: MailConnection): void {
    this.#plain = socket;
    this.#socket = socket;
    const onError = (error: NodeJS.ErrnoException) => this.#note(`connection: ${error.code ?? 'failed'}`);
    socket.on('error', contain(this.fail, onError));
    socket.on(
      'end',
      contain(this.fail, () => this.#note('the server closed the connection')),
    );
    socket.on(
      'close',
      contain(this.fail, () => this.#destroyed()),
    );
  }

  #onTunnel(socket: MailConnection): void {
    this.#tunnel = null;
    this.#adopt(socket);
    const onData = contain(this.fail, (chunk: Buffer) => this.#onData(chunk));
    this.#onTunnelData = onData;
    socket.on('data', onData);
    this.setup.on.tunnelled(null);
    this.#on({ is: 'connected' });
  }

  #onTunnelFailed(failure: TunnelFailure): void {
    this.#tunnel = null;
    this.#note(`SOCKS server: ${failure.why}`);
    this.setup.on.tunnelled(failure);
    // What it says of the mail server counts as if the server had said it to us.
    if (failure.blames === 'proxy') this.#on({ is: 'proxy_failed', mayPass: failure.step === 'request' });
    this.#destroyed();
  }

  /** Runs the next checks in an idle session. */
  ask(asked: readonly SessionCheck[]): void {
    const questions = this.#take(asked);
    const { host, address } = this.setup;
    this.#note(`session with ${host} [${address}] used again, after ${this.served} recipients`);
    this.#on({ is: 'ask', questions });
  }

  #take(asked: readonly SessionCheck[]): readonly RecipientQuestion[] {
    this.#isBusy = true;
    this.#asked = asked;
    this.#transcripts = asked.map(({ transcript }) => transcript);
    return asked.map(({ question }) => question);
  }

  /** Closes the session, with QUIT if allowed. Checks in progress end as canceled. */
  finish(): void {
    this.#on({ is: 'finish' });
  }

  /** Ends one check as canceled; the session as well if it is the only one. */
  cancel({ question }: SessionCheck): void {
    this.#on({ is: 'abandon', question, why: 'cancelled' });
  }

  /** How many more checks an idle session can run, even if the server rejects all of them. */
  get room(): number {
    const { limits, clock } = this.setup;
    const { phase, recipients } = this.#dialogue;
    if (phase !== 'idle' || this.#isClosed || clock.elapsed() >= this.#endsAt - limits.commandMs) return 0;
    return roomForRecipients(limits, recipients);
  }

  get secure(): boolean {
    return this.#dialogue.secure;
  }

  /** Recipients that the server takes, as far as it has said so: in a transaction, and in this session so far. */
  get takes(): Pick<Recipients, 'perTransaction' | 'judged'> {
    return this.#dialogue.recipients;
  }

  #on(event: DialogueEvent): void {
    for (const action of this.#dialogue.handle(event)) this.#perform(action);
    this.#arm();
    const wasBusy = this.#isBusy;
    this.#isBusy = this.#dialogue.phase !== 'idle';
    if (this.#outcomes.length > 0) this.#report();
    if (wasBusy && !this.#isBusy) this.setup.on.idle();
  }

  #report(): void {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    for (const { question, outcome } of outcomes) {
      const asked = this.#askedBy(question);
      this.#asked = this.#asked.filter((one) => one !== asked);
      this.served++;
      asked?.done(outcome);
    }
  }

  #askedBy(question: RecipientQuestion): SessionCheck | undefined {
    return this.#asked.find((one) => one.question === question);
  }

  #perform(action: DialogueAction) {
    switch (action.do) {
      case 'send':
        return this.#send(action.commands);
      case 'starttls':
        return this.#wrap();
      case 'answer':
        this.#outcomes.push(action);
        return;
      case 'learn':
        return this.#learn(action.what);
      case 'close':
        this.#close();
    }
  }

  #learn(what: Partial<LearnedHost>): void {
    const { learned, address, egress } = this.setup;
    learned.learn({ egress: egress.name, address }, what);
  }

  #send(commands: readonly SmtpCommand[]): void {
    let text = '';
    for (const { line, of } of commands) {
      const question = of?.question ?? null;
      this.#repliesTo.push(question);
      for (const transcript of this.#transcriptsOf(question)) transcript.add('client', line);
      text += `${line}\r\n`;
    }
    this.#socket?.write(text);
  }

  /** Closes at once if everything is written; TLS has its own farewell to write. */
  #close(): void {
    if (this.#tunnel !== null) {
      this.#tunnel.destroy();
      this.#tunnel = null;
      queueMicrotask(contain(this.fail, () => this.#destroyed()));
    }
    const socket = this.#socket;
    if (socket === this.#plain && socket?.writableLength === 0) socket.destroy();
    else socket?.destroySoon();
  }

  #onData(chunk: Buffer): void {
    this.#octets += chunk.length;
    const replies = this.#parser.push(chunk);
    for (const reply of replies)
      for (const transcript of this.#transcriptsOf(this.#repliesTo.shift() ?? null)) transcript.addReply(reply);
    if (replies.length > 0) this.#on({ is: 'replies', replies });
    const excess = this.#octets > this.setup.limits.sessionBytes ? 'too many octets' : null;
    const violation = this.#parser.violation ?? excess;
    if (violation === null || this.#dialogue.phase === 'closed') return;
    this.#note(`protocol violation: ${violation}`);
    this.#on({ is: 'violation' });
  }

  #wrap(): void {
    const plain = this.#plain;
    if (plain === null) return;
    const { host } = this.setup;
    // Data after the reply was sent in clear text and must be discarded (RFC 3207 §4.2, CVE-2011-0411).
    this.#parser = new ReplyParser();
    if (this.#onTunnelData !== null) plain.off('data', this.#onTunnelData);
    const options = { socket: plain, secureContext: secureContext(this.#known.tls), rejectUnauthorized: false };
    const socket: TLSSocket = wrapTls(isIP(host) === 0 ? { ...options, servername: host } : options);
    this.#socket = socket;
    const onSecure = () => {
      this.#note(describeTls(socket));
      this.#on({ is: 'secured' });
    };
    const onError = (error: NodeJS.ErrnoException) => {
      this.#note(`TLS: ${error.code ?? 'failed'}`);
      const isNoTls = error.code !== undefined && NO_TLS.has(error.code);
      if (this.#dialogue.phase === 'tls') this.#on({ is: 'tls_failed', isNoTls });
    };
    socket.on('secureConnect', contain(this.fail, onSecure));
    socket.on(
      'data',
      contain(this.fail, (chunk: Buffer) => this.#onData(chunk)),
    );
    socket.on('error', contain(this.fail, onError));
    socket.on(
      'close',
      contain(this.fail, () => plain.destroy()),
    );
  }

  #note(text: string): void {
    for (const transcript of this.#transcripts) transcript.add('note', text);
  }

  /**
   * Returns the transcripts of the check that a line belongs to; null means those of all checks. Nobody sees another's
   * recipient.
   */
  #transcriptsOf(question: RecipientQuestion | null): readonly Transcript[] {
    if (question === null) return this.#transcripts;
    const asked = this.#askedBy(question);
    return asked === undefined ? [] : [asked.transcript];
  }

  /** There is one timer per session, extended lazily, so that most replies need no timer operation. */
  #arm(): void {
    if (this.#isClosed) return;
    const now = this.setup.clock.elapsed();
    const phase = this.#dialogue.phase;
    const due = now + (this.#tunnel === null ? PHASE_LIMIT[phase](this.setup.limits) : tunnelMs(this.setup.limits));
    const greeting = phase === 'connect' || phase === 'banner';
    let bounded = Math.min(due, this.#endsAt);
    for (const { deadlineMs, greetByMs } of this.#asked) bounded = Math.min(bounded, greeting ? greetByMs : deadlineMs);
    this.#dueAt = phase === 'quit' || phase === 'closed' ? due : bounded;
    if (this.#dueAt < this.#timerAt) this.#setTimer(now);
  }

  /** Never for longer than QUIT may take, so that it need not be set again for QUIT. */
  #setTimer(now: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAt = Math.min(this.#dueAt, now + this.setup.limits.quitMs);
    this.#timer = setTimeout(this.#onTimer, Math.max(0, Math.ceil(this.#timerAt - now)));
  }

  #onTime(): void {
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.setup.clock.elapsed();
    if (this.#dueAt - now > 0.5) this.#setTimer(now);
    else this.#onDue();
  }

  #onDue(): void {
    // Whatever it waits for itself, nothing is known of the mail server.
    this.#tunnel?.giveUp();
    if (this.#dialogue.phase === 'closed') {
      this.#socket?.destroy();
      this.#plain?.destroy();
      return;
    }
    const expired = this.#asked.filter(({ deadlineMs }) => deadlineMs <= this.#dueAt);
    if (expired.length === 0 || expired.length === this.#asked.length) this.#on({ is: 'timeout' });
    else for (const { question } of expired) this.#on({ is: 'abandon', question, why: 'timeout' });
  }

  /** A fault of ours ends the session, and fails the checks in it. */
  readonly fail = (fault: unknown): void => {
    const [asked, wasClosed] = [this.#asked, this.#isClosed];
    this.#asked = [];
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#tunnel?.destroy();
    this.#socket?.destroy();
    this.#plain?.destroy();
    for (const { failed } of asked) failed(fault);
    if (asked.length === 0) warnOfFault(fault);
    if (!wasClosed) this.setup.on.closed();
  };
  readonly #onTimer = contain(this.fail, () => this.#onTime());

  #destroyed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#on({ is: 'closed' });
    this.#socket?.destroy();
    // Else the socket would retain the session (docs/architecture.md#what-v8-does).
    this.#plain?.removeAllListeners();
    this.setup.on.closed();
  }
}

/** What OpenSSL says of a record that is none of TLS. */
const NO_TLS = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_HTTP_REQUEST']);

const sharedContexts: { any: SecureContext | null; up_to_1_2: SecureContext | null } = { any: null, up_to_1_2: null };
/**
 * One context for all sessions, and one for servers that do not take TLS 1.3 (each costs some 50 KB). Opportunistic
 * TLS: used because servers require it; certificates are recorded and not enforced (RFC 7435), so old protocol versions
 * are better than clear text.
 */
const secureContext = (tls: LearnedHost['tls']): SecureContext => {
  const which = tls === 'up_to_1_2' ? tls : 'any';
  const maxVersion = which === 'any' ? 'TLSv1.3' : 'TLSv1.2';
  sharedContexts[which] ??= createSecureContext({ minVersion: 'TLSv1', maxVersion, ciphers: 'DEFAULT:@SECLEVEL=0' });
  return sharedContexts[which];
};

/** Names protocol and certificate, for the transcript. */
function describeTls(socket: TLSSocket): string {
  const certificate = socket.getPeerCertificate() ?? {};
  const { subject, issuer, valid_from: from, valid_to: to, fingerprint256: print } = certificate;
  const name = (party: { CN?: string | string[]; O?: string | string[] } | undefined) =>
    String(party?.CN ?? party?.O ?? 'nobody').replace(/[^\x20-\x7e]/g, '?');
  const verified = socket.authorized ? 'verified' : 'not verified';
  return `${socket.getProtocol() ?? 'TLS'} ${socket.getCipher().name}; certificate of ${name(subject)} by ${name(issuer)}, ${from} to ${to}, SHA-256 ${print}, ${verified}`;
}

interface TranscriptEntry {
  readonly at: number;
  readonly from: TranscriptLine['from'];
  readonly text: string;
  /** A reply is kept instead of its text. */
  readonly reply: SmtpReply | null;
}

/**
 * The dialogue of one check across all hosts: bounded, with milliseconds since the check began. The local part is
 * masked everywhere, also where a server echoes it; the random one of the probe is kept. The lines are made when they
 * are asked for, which is rare.
 */
export class Transcript {
  readonly #entries: TranscriptEntry[] = [];
  /** Counts the lines of all entries. */
  #count = 0;
  readonly #clock: Clock;
  readonly #begun: number;
  readonly #limits: SmtpLimits;
  readonly #secret: string;

  /** `secret` is the local part, as sent. */
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
      for (const line of reply === null ? [text] : replyLines(reply)) {
        if (lines.length === transcriptLines - 1) return [...lines, { at, from: 'note', text: 'the rest is left out' }];
        lines.push({ at, from, text: maskSecret(line.slice(0, transcriptLineLength), this.#secret) });
      }
    }
    return lines;
  }

  add(from: TranscriptLine['from'], text: string): void {
    this.#add(from, text, null, 1);
  }

  addReply(reply: SmtpReply): void {
    this.#add('server', '', reply, reply.lines.length);
  }

  /** What follows is left out: the end of the session, which goes on after the check. */
  end(): this {
    this.#count = Number.POSITIVE_INFINITY;
    return this;
  }

  #add(from: TranscriptLine['from'], text: string, reply: SmtpReply | null, lines: number): void {
    if (this.#count >= this.#limits.transcriptLines) return;
    this.#count += lines;
    this.#entries.push({ at: Math.round(this.#clock.elapsed() - this.#begun), from, text, reply });
  }
}

const replyLines = ({ code, lines }: SmtpReply): string[] =>
  lines.map((line, i) => `${code}${i === lines.length - 1 ? ' ' : '-'}${line}`);
