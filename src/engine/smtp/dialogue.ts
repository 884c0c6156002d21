/**
 * The SMTP dialogue as a pure state machine: events in, actions out. No socket, no clock, no randomness; the session
 * (session.ts) performs the actions and feeds in the events.
 *
 * One session runs several transactions, one after the other: RSET, MAIL, and RCPT for each recipient (RFC 5321
 * §4.1.1.5). What a reply says of one recipient holds for no other. Never sends DATA, nor anything before the banner.
 */
import type { Address } from '../address/parse.ts';
import type { ReadBy, SmtpFinding, SmtpStage } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import type { LearnedHost } from './learned-hosts.ts';
import type { SmtpLimits } from './limits.ts';
import type { SmtpReply } from './reply.ts';

// What is sent to mail servers: commands of one line, and what a server says that it takes.

/** RFC 5321 §4.5.3.1.4: 512 octets with CRLF; RFC 6531 §3.1 adds 10 for the SMTPUTF8 parameter of MAIL. */
const MOST_COMMAND_OCTETS = 522;

// It matches C0 with CR, LF and NUL, DEL, C1, and the two line separators of Unicode that some servers fold into a line
// end.
const UNSENDABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * Validates a command: one line without its CRLF. Throws if it could be read as anything but one line; callers reject
 * such input earlier, so a throw here is a bug.
 */
export function commandLine(text: string): string {
  if (UNSENDABLE.test(text) || LONE_SURROGATE.test(text)) throw new TypeError('a command must be one printable line');
  if (Buffer.byteLength(text) + 2 > MOST_COMMAND_OCTETS) throw new TypeError('a command line is too long');
  return text;
}

const ATOM_TEXT = /^[^\s"(),:;<>@[\\\]]+$/u;
const QUOTED_TEXT = /^"(?:[^"\\]|\\.)*"$/u;
const HOST_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i;

/**
 * The path between the angle brackets of RCPT (RFC 5321 §4.1.2 Mailbox), quoted local parts with their quotes; null for
 * input that could end the path early or break the line. The syntax stage rejects such addresses already: this is
 * defence in depth.
 */
export function forwardPath(address: Pick<Address, 'localPart' | 'domain'>): string | null {
  const { localPart, domain } = address;
  const local = localPart.startsWith('"') ? QUOTED_TEXT.test(localPart) : ATOM_TEXT.test(localPart);
  const path = `${localPart}@${domain}`;
  if (!local || !HOST_NAME.test(domain) || UNSENDABLE.test(path) || LONE_SURROGATE.test(path)) return null;
  return Buffer.byteLength(path) <= 254 + 2 ? path : null;
}

/** RFC 6531 §3.4: a path with anything beyond ASCII needs the SMTPUTF8 parameter. */
export const needsSmtputf8 = (path: string): boolean => /[^\x20-\x7e]/.test(path);

/** Extensions in an EHLO reply (RFC 5321 §4.1.1.1); SIZE, 8BITMIME and others are irrelevant here. */
interface Capabilities {
  readonly pipelining: boolean;
  readonly startTls: boolean;
  readonly smtputf8: boolean;
}

const NO_CAPABILITIES: Capabilities = { pipelining: false, startTls: false, smtputf8: false };

const EXTENSION = /^\s*(PIPELINING|STARTTLS|SMTPUTF8)(?:[\s=]|$)/i;

/** `lines`: the text of each reply line, without code and separator; the first is the greeting. */
export function parseCapabilities(lines: readonly string[]): Capabilities {
  const offered = new Set<string>();
  for (let i = 1; i < lines.length; i++) {
    const keyword = EXTENSION.exec(lines[i] ?? '')?.[1];
    if (keyword !== undefined) offered.add(keyword.toUpperCase());
  }
  return {
    pipelining: offered.has('PIPELINING'),
    startTls: offered.has('STARTTLS'),
    smtputf8: offered.has('SMTPUTF8'),
  };
}

/** EHLO rejections after which HELO is tried (RFC 5321 §3.2, §4.2.4): older servers and strict proxies. */
const SAYS_HELO = new Set([500, 501, 502, 503, 504, 550]);

/** What the machine waits for, and so which time limit holds. */
export type DialoguePhase = 'connect' | 'banner' | 'command' | 'tls' | 'idle' | 'quit' | 'closed';

/** What the classifier (classify.ts) makes of one reply. */
export interface ReplyReading {
  /** What the reply is about: `us_ip`, `recipient`, `remote_temporary` …; opaque here except for `us_ip`. */
  readonly meaning: string;
  /** `reconnect`: too many recipients, retry in a new session. `starttls_required`: send STARTTLS first. */
  readonly finding: SmtpFinding | 'reconnect' | 'starttls_required';
  /** This rule decided. */
  readonly rule: string | null;
  /** Seconds, as announced by the server. */
  readonly retryAfterSeconds: number | null;
  readonly readBy: ReadBy;
  /** That the mailbox cannot be reached, as the model sees the reply; null if it was not asked. */
  readonly probability: number | null;
}

/** The classifier as the dialogue needs it. `path`: the address asked about, which servers echo. */
export type ClassifyReply = (stage: SmtpStage, reply: SmtpReply, path: string | null) => ReplyReading;

/** A reply together with where it was given and what it means. */
export interface ClassifiedReply {
  readonly stage: SmtpStage;
  readonly reply: SmtpReply;
  readonly reading: ReplyReading;
}

/** Asks about one recipient. */
export interface RecipientQuestion {
  /** The path stands between the angle brackets of RCPT, and is made by `forwardPath`. */
  readonly path: string;
  /** Stands between the angle brackets of MAIL; empty for the null sender. */
  readonly sender: string;
  /** `probe`: the path is random, tried in a session of its own. */
  readonly stage: 'rcpt' | 'probe';
  /** Called only when `path` was accepted, with the host that did: the random path to try next, or null for none. */
  readonly probe: (host: string) => string | null;
}

/**
 * How to continue after a session without an answer. The same address once more: `without_pipelining`, `tls_1_2` (the
 * handshake ended where TLS 1.3 was offered), `in_clear` (without TLS), `new_session` (the session failed, not the
 * host). `rejoin`: the session ended because of another recipient, before a reply about this one. `stop`: no other host
 * would give a better answer.
 */
export type NextStep =
  | 'next_address'
  | 'next_host'
  | 'without_pipelining'
  | 'tls_1_2'
  | 'in_clear'
  | 'new_session'
  | 'rejoin'
  | 'stop';

export type DialogueOutcome =
  | {
      readonly kind: 'answered';
      readonly rcpt: ClassifiedReply;
      readonly finding: SmtpFinding;
      /** Null if no probe was requested. `reconnect`: must be tried in a session of its own. */
      readonly probe: {
        readonly finding: SmtpFinding | 'reconnect';
        readonly classified: ClassifiedReply | null;
      } | null;
    }
  | {
      readonly kind: 'failed';
      readonly stage: SmtpStage;
      readonly finding: SmtpFinding;
      readonly rule: string | null;
      /** The reply that ended it; null for a timeout, a drop and the like. */
      readonly classified: ClassifiedReply | null;
      readonly next: NextStep;
      /** The caller has disconnected. */
      readonly cancelled: boolean;
    };

export type DialogueEvent =
  /** All of one sender, and with the same need for SMTPUTF8: they share transactions. */
  | { readonly is: 'ask'; readonly questions: readonly RecipientQuestion[] }
  | { readonly is: 'connected' }
  /** All replies completed by one read: they were sent before we could respond to any of them. */
  | { readonly is: 'replies'; readonly replies: readonly SmtpReply[] }
  | { readonly is: 'secured' }
  /** `isNoTls`: the server sent something else than TLS, so that no version of it would do. */
  | { readonly is: 'tls_failed'; readonly isNoTls: boolean }
  | { readonly is: 'timeout' }
  /** The server has violated the protocol or the session's limit on octets. */
  | { readonly is: 'violation' }
  | { readonly is: 'closed' }
  /** The SOCKS server of the egress did not connect us. `mayPass`: to another address it might. */
  | { readonly is: 'proxy_failed'; readonly mayPass: boolean }
  /** One of several checks is no longer wanted, or has no time left; the others go on. */
  | { readonly is: 'abandon'; readonly question: RecipientQuestion; readonly why: 'cancelled' | 'timeout' }
  /** There are no further checks, or the caller has disconnected. */
  | { readonly is: 'finish' };

export type DialogueAction =
  /** All in one write. */
  | { readonly do: 'send'; readonly commands: readonly SmtpCommand[] }
  /** Wrap the connection; data received since the reply to STARTTLS must be discarded (RFC 3207 §4.2). */
  | { readonly do: 'starttls' }
  | { readonly do: 'answer'; readonly question: RecipientQuestion; readonly outcome: DialogueOutcome }
  /** To be remembered of the host. */
  | { readonly do: 'learn'; readonly what: Partial<LearnedHost> }
  /** Flush, then destroy the socket. No action follows. */
  | { readonly do: 'close' };

type AnswerAction = Extract<DialogueAction, { do: 'answer' }>;

export interface DialogueSetup {
  readonly host: string;
  /** Earlier sessions learned this about the host. */
  readonly known: LearnedHost;
  /** EHLO and HELO have this name. */
  readonly helo: string;
  readonly read: ClassifyReply;
  /** `never`: after a failed handshake, when the same host is retried in clear text. */
  readonly tls: 'never' | 'demanded' | 'opportunistic';
}

export interface SmtpCommand {
  readonly verb: CommandVerb;
  readonly line: string;
  /** The check that it belongs to alone; null: to all in the transaction. */
  readonly of: RecipientCheck | null;
}

/** Purpose of a command. `rcpt` has the recipient to check, `probe` the random recipient after it. */
type CommandVerb = 'banner' | 'ehlo' | 'helo' | 'starttls' | 'rset' | 'mail' | 'rcpt' | 'probe' | 'quit';

export class Dialogue {
  phase: DialoguePhase = 'connect';
  secure = false;
  capabilities: Capabilities = NO_CAPABILITIES;
  readonly recipients: Recipients;
  readonly #setup: DialogueSetup;
  readonly #tls: DialogueSetup['tls'];
  #actions: DialogueAction[] = [];
  readonly #outstanding = new OutstandingCommands();
  /** STARTTLS waits until the rest of its group is answered; those replies are ignored. */
  #draining = false;
  #bannerRead = false;
  /** A transaction was begun in this TLS layer, so the next one needs RSET. */
  #used = false;
  /** An earlier check completed in this session, and no reply to the current ones has arrived. */
  #stale = false;
  #ehloRefusal: ClassifiedReply | null = null;
  /** Several commands were sent together, and not all of them are answered. */
  #inGroup = false;
  /** Commands were sent together before, and what was answered since may belong to others of them. */
  #hasPipelined = false;
  /** A group was answered in step, here or in an earlier session, so the server can do it. */
  #isProven: boolean;
  /** The reply to MAIL, in this group. */
  #senderReply: SmtpReply | null = null;
  /** MAIL or RSET was rejected while others of its group are not answered yet: their replies tell whose it was. */
  #held: { readonly verb: CommandVerb; readonly reply: SmtpReply } | null = null;
  /**
   * Answers of a group in which MAIL and RCPT were answered alike, so that a reply too many would not show: kept until
   * RSET is answered in step. Null: answers need no such proof.
   */
  #unconfirmed: readonly AnswerAction[] | null = null;
  #isConfirming = false;
  /** What TLS was begun for; `offer`: it is not needed. */
  #tlsFor: 'offer' | 'demand' | 'smtputf8' = 'offer';
  #tlsRefused = false;

  constructor(setup: DialogueSetup) {
    this.#setup = setup;
    this.#isProven = setup.known.pipelining === 'works';
    this.#tls = setup.known.tls === 'none' && setup.tls === 'opportunistic' ? 'never' : setup.tls;
    const onAnswer = (question: RecipientQuestion, outcome: DialogueOutcome) => {
      const answer: AnswerAction = { do: 'answer', question, outcome };
      if (this.#unconfirmed === null) this.#actions.push(answer);
      else this.#unconfirmed = [...this.#unconfirmed, answer];
    };
    this.recipients = new Recipients(setup.host, onAnswer);
  }

  /** Returns the actions for an event. Never throws, whatever the server does. */
  handle(event: DialogueEvent): readonly DialogueAction[] {
    this.#actions = [];
    this.#outstanding.beginRead();
    if (event.is === 'ask') this.#onAsk(event.questions);
    else if (this.phase !== 'closed') this.#dispatch(event);
    if (this.phase === 'quit' || this.phase === 'closed') this.#releaseAnswers();
    return this.#actions;
  }

  /** Gives the answers that were kept until PIPELINING proved to work. */
  #releaseAnswers() {
    this.#actions = [...(this.#unconfirmed ?? []), ...this.#actions];
    this.#unconfirmed = null;
  }

  /** Whose answer was kept is asked about again; the first one tells whether that helps. */
  #discardAnswers() {
    const [kept, stage] = [this.#unconfirmed ?? [], 'rcpt' as const];
    this.#unconfirmed = null;
    for (const [i, { question }] of kept.entries()) {
      const inquiry = new RecipientCheck(question);
      const outcome = i === 0 ? inquiry.fail(OUT_OF_STEP) : inquiry.postpone(stage);
      this.#actions.push({ do: 'answer', question, outcome });
    }
  }

  #dispatch(event: Exclude<DialogueEvent, { is: 'ask' }>) {
    switch (event.is) {
      case 'connected':
        if (this.phase !== 'connect') return;
        this.phase = 'banner';
        this.#outstanding.push({ verb: 'banner', line: '', of: null });
        return;
      case 'replies':
        for (const reply of event.replies) this.#onReply(reply);
        return;
      case 'secured':
        if (this.phase !== 'tls') return;
        this.secure = true;
        this.capabilities = NO_CAPABILITIES;
        this.#used = false;
        return this.#greet('ehlo');
      case 'tls_failed':
        return this.#endTls(event.isNoTls ? 'no_tls' : 'failed');
      case 'timeout':
        return this.#onTimeout();
      case 'violation':
        return this.#end('smtp_temporary_failure', 'dialogue.violation', this.#orUnpipelined('next_address'));
      case 'closed':
        return this.#onClosed();
      case 'proxy_failed':
        return this.#end('smtp_unreachable', PROXY_FAILED, event.mayPass ? 'next_address' : 'stop');
      case 'abandon':
        return this.#abandon(event.question, event.why);
      case 'finish':
        if (this.phase !== 'quit') this.#end('smtp_timeout', CANCELLED, 'stop', 'wait');
    }
  }

  #onAsk(questions: readonly RecipientQuestion[]) {
    this.recipients.ask(questions);
    this.#stale = this.#used;
    if (this.phase === 'quit' || this.phase === 'closed') {
      return this.#fail('smtp_temporary_failure', 'dialogue.closed', 'new_session');
    }
    if (this.phase === 'idle') this.#beginTransaction();
  }

  /** The recipients that have no answer yet are asked about, as many as the server takes at once. */
  #beginTransaction() {
    const group = this.recipients.forTransaction();
    const [first] = group;
    const unsendable = first && needsSmtputf8(first.question.path) && !this.capabilities.smtputf8;
    // Some servers offer it only under TLS.
    if (unsendable && this.capabilities.startTls && this.#mayStartTls && !this.#tlsRefused) {
      if (!this.#used) return this.#startTls('smtputf8');
      this.#fail('smtp_temporary_failure', 'dialogue.no_smtputf8', 'new_session', 'mail', null);
    } else if (unsendable) this.#fail('smtp_unverifiable', 'dialogue.no_smtputf8', 'stop', 'mail');
    if (first === undefined || unsendable) {
      this.phase = 'idle';
      return;
    }
    this.#transact(
      first.question,
      group.map((inquiry) => recipientCommand('rcpt', inquiry, inquiry.question.path)),
    );
    this.#sendPlanned();
  }

  #transact(question: RecipientQuestion, recipients: readonly SmtpCommand[]) {
    this.#outstanding.add(transactionCommands(question, recipients, this.#used));
    this.#used = true;
  }

  #sendPlanned() {
    const now = this.#outstanding.next(this.capabilities.pipelining && this.#setup.known.pipelining !== 'broken');
    if (now.length > 1) {
      this.#inGroup = true;
      this.#hasPipelined = true;
    }
    if (now.length > 0) this.#send(now);
  }

  /** Says whether PIPELINING is suspect. */
  get #isSuspect(): boolean {
    return this.#inGroup && !this.#isProven;
  }

  get #mayStartTls(): boolean {
    return this.#bannerRead && !this.secure && this.#tls !== 'never';
  }

  /**
   * The next step, if the failure cannot be the fault of PIPELINING; else the same host is asked without it. `always`:
   * replies do not match commands, whenever that is noticed.
   */
  #orUnpipelined(next: NextStep, always = false): NextStep {
    if (!(always ? this.#hasPipelined : this.#isSuspect && this.phase === 'command')) return next;
    this.#actions.push({ do: 'learn', what: { pipelining: 'broken' } });
    this.#discardAnswers();
    this.recipients.discardAcceptances();
    return 'without_pipelining';
  }

  #send(commands: readonly SmtpCommand[]) {
    for (const command of commands) {
      commandLine(command.line);
      this.#outstanding.push(command);
      if (command.of !== null) this.recipients.sent++;
    }
    this.phase = commands[0] === QUIT ? 'quit' : 'command';
    this.#actions.push({ do: 'send', commands });
  }

  #greet(verb: 'ehlo' | 'helo') {
    this.#send([{ verb, line: `${verb.toUpperCase()} ${this.#setup.helo}`, of: null }]);
  }

  #startTls(why: 'offer' | 'demand' | 'smtputf8') {
    this.#tlsFor = why;
    this.#inGroup = false;
    this.#outstanding.plan([]);
    this.#draining = !this.#outstanding.empty;
    if (!this.#draining) this.#send([STARTTLS]);
  }

  #onReply(reply: SmtpReply) {
    // What arrives between the reply to STARTTLS and the end of the handshake was sent in clear text: discarded.
    if (this.phase === 'closed' || this.phase === 'tls' || this.phase === 'connect') return;
    const command = this.#outstanding.take();
    if (this.phase === 'quit') {
      // There was one reply too many before it.
      const isOutOfStep = command?.verb === 'quit' && reply.code !== 221 && reply.code !== 421;
      if (isOutOfStep && this.#hasPipelined) this.#actions.push({ do: 'learn', what: { pipelining: 'broken' } });
      if (this.#outstanding.empty) this.#close();
      return;
    }
    if (command === undefined || command.verb === 'quit') return this.#onUnasked(reply);
    this.#stale = false;
    if (this.#draining) {
      if (this.#outstanding.empty) this.#startTls(this.#tlsFor);
      return;
    }
    if (this.#held !== null) return this.#onReplyWhileHeld(this.#held, reply);
    // 3xx: only DATA and AUTH have such replies.
    if (!isPositive(reply) && !isNegative(reply)) {
      const next = this.#orUnpipelined('next_host');
      const by = next === 'next_host' ? command.of : null;
      return this.#end('smtp_temporary_failure', 'dialogue.unexpected_reply', next, 'leave', by);
    }
    if (command.of === null) this.#onAnswerTo(command.verb, reply);
    else this.#onAnswerAbout(command.of, command.verb, reply);
    if (this.phase !== 'command' || !this.#outstanding.empty || this.#held !== null) return;
    if (this.#isSuspect && this.#unconfirmed === null) this.#prove();
    this.#inGroup = false;
    this.#sendPlanned();
    if (!this.#outstanding.empty) return;
    if (this.#unconfirmed === null) return this.#beginTransaction();
    this.#isConfirming = true;
    this.#send([RSET]);
  }

  #prove() {
    this.#isProven = true;
    this.#actions.push({ do: 'learn', what: { pipelining: 'works' } });
  }

  /** An unsolicited reply. 421 announces the end (RFC 5321 §3.8); after any other, replies no longer match commands. */
  #onUnasked(reply: SmtpReply) {
    if (reply.code === 421) return this.#end('smtp_temporary_failure', 'dialogue.dropped', 'next_host', 'wait');
    this.#outOfStep();
  }

  #outOfStep() {
    const next = this.#orUnpipelined('next_address', true);
    this.#end('smtp_temporary_failure', 'dialogue.out_of_step', next, 'leave', null);
  }

  /**
   * A recipient is not accepted without a sender: the replies came in another order, if their texts say so as well.
   * Some servers do accept it.
   */
  #onReplyWhileHeld({ verb, reply: rejection }: { verb: CommandVerb; reply: SmtpReply }, reply: SmtpReply) {
    if (isPositive(reply) && (isOfSender(reply) || this.#isOfRecipient(rejection))) {
      this.#held = null;
      this.#outOfStep();
    } else if (this.#outstanding.empty) this.#release(verb, rejection);
  }

  #release(verb: CommandVerb, reply: SmtpReply) {
    this.#held = null;
    this.#inGroup = false;
    this.#onRefusal(verb, reply);
  }

  #onAnswerTo(verb: CommandVerb, reply: SmtpReply) {
    if (verb === 'banner') this.#bannerRead = true;
    const isConfirming = this.#isConfirming;
    this.#isConfirming = false;
    if (isNegative(reply)) return isConfirming && reply.code !== 421 ? this.#outOfStep() : this.#onRefusal(verb, reply);
    if (isConfirming) {
      this.#releaseAnswers();
      this.#prove();
    }
    if (verb === 'banner') return this.#greet('ehlo');
    if (verb === 'mail') this.#senderReply = reply;
    if (verb === 'starttls') {
      this.phase = 'tls';
      this.#outstanding.clear();
      this.#actions.push({ do: 'starttls' });
    } else if (verb === 'ehlo' || verb === 'helo') {
      this.capabilities = verb === 'ehlo' ? parseCapabilities(reply.lines) : NO_CAPABILITIES;
      if (this.#tls === 'opportunistic' && this.capabilities.startTls && !this.secure) this.#startTls('offer');
      else this.#beginTransaction();
    }
  }

  #onRefusal(verb: CommandVerb, reply: SmtpReply) {
    if (this.#inGroup && this.recipients.names(reply)) return this.#outOfStep();
    const classified = this.#classify(stageOf(verb), reply, this.recipients.open[0]);
    if (this.#isAboutPipelining(classified)) return this.#outOfStep();
    if (this.#inGroup && reply.code !== 421 && !this.#outstanding.empty) {
      this.#held = { verb, reply };
      return;
    }
    if (verb === 'ehlo' && SAYS_HELO.has(reply.code)) {
      this.#ehloRefusal = classified;
      return this.#greet('helo');
    }
    // Offered but failed, and not required so far: continue in clear text.
    if (verb === 'starttls' && !this.#used && reply.code !== 421) {
      this.#tlsRefused = true;
      return this.#beginTransaction();
    }
    // What a server defers after earlier recipients, it may take in a session without them.
    const needsNewSession = verb === 'rset' || (verb === 'mail' && this.recipients.judged > 0 && reply.code < 500);
    const ehlo = this.#ehloRefusal;
    if (verb === 'helo' && ehlo?.reading.finding === 'smtp_blocked') return this.#refuse(ehlo, 'next_host');
    this.#refuse(classified, needsNewSession ? 'new_session' : 'next_host');
  }

  #onAnswerAbout(inquiry: RecipientCheck, verb: CommandVerb, reply: SmtpReply) {
    const isRepeated = this.#repeatsSenderReply(reply);
    if (this.recipients.isAboutAnother(inquiry, reply) || (isRepeated && isOfSender(reply)))
      return this.#onUnasked(reply);
    if (isRepeated) this.#unconfirmed ??= [];
    const isProbe = verb === 'probe';
    const classified = this.#classify(isProbe ? 'probe' : inquiry.question.stage, reply, inquiry);
    if (this.#isAboutPipelining(classified)) return this.#outOfStep();
    const step = isProbe
      ? this.recipients.onProbe(inquiry, classified)
      : this.recipients.onRecipient(inquiry, classified);
    switch (step.do) {
      case 'probe':
        return this.#outstanding.add([recipientCommand('probe', inquiry, step.path)]);
      case 'probe_again':
        return this.#transact(inquiry.question, [recipientCommand('probe', inquiry, step.path)]);
      case 'refuse':
        return this.#refuse(classified, step.next, inquiry);
      case 'leave':
        this.recipients.postpone(this.#stage());
        return this.#quit();
      case 'nothing':
    }
  }

  /** A server that complains of the order of commands that were sent together, and were in order. */
  #isAboutPipelining({ reply, reading }: ClassifiedReply): boolean {
    if (!this.#isSuspect || !isNegative(reply)) return false;
    if (OF_PIPELINING.test(reply.text)) return true;
    return (reply.code === 500 || reply.code === 503) && reading.finding !== 'smtp_blocked';
  }

  /** Word for word what MAIL was answered. */
  #repeatsSenderReply(reply: SmtpReply): boolean {
    const sender = this.#isSuspect ? this.#senderReply : null;
    if (sender === null || sender.text !== reply.text || sender.enhanced !== reply.enhanced) return false;
    return isPositive(reply);
  }

  #isOfRecipient(rejection: SmtpReply): boolean {
    const { finding } = this.#classify('rcpt', rejection, this.recipients.open[0]).reading;
    return finding !== 'reconnect' && finding !== 'starttls_required' && SMTP_FINDINGS[finding].aboutMailbox;
  }

  #classify(stage: SmtpStage, reply: SmtpReply, about: RecipientCheck | undefined): ClassifiedReply {
    return { stage, reply, reading: this.#setup.read(stage, reply, about?.question.path ?? null) };
  }

  /**
   * A rejection that is not about the mailbox: STARTTLS if it requires that, else the end. `by`: see Recipients.fail.
   */
  #refuse(classified: ClassifiedReply, next: NextStep, by: RecipientCheck | null = null) {
    const demanded = classified.reading.finding === 'starttls_required' && classified.stage !== 'starttls';
    const able = this.#mayStartTls && !this.recipients.isProbing;
    if (demanded && able) return this.#startTls('demand');
    const [finding, { rule }] = [findingOfRefusal(classified), classified.reading];
    this.recipients.fail({ stage: classified.stage, finding, rule, next, classified }, by);
    this.#quit();
  }

  #onTimeout() {
    if (this.phase === 'idle') return this.#quit();
    if (this.phase === 'quit') return this.#close();
    if (this.phase === 'tls') return this.#endTls('timeout');
    if (this.#held !== null) return this.#release(this.#held.verb, this.#held.reply);
    // MAIL was answered, and what came with it is lost.
    const next = this.#stage() === 'rcpt' ? this.#orUnpipelined('next_host') : 'next_address';
    this.#end('smtp_timeout', TIMED_OUT, next);
  }

  /**
   * The handshake failed. Some servers end it where TLS 1.3 is offered, and take TLS 1.2. For one that is silent, there
   * is time for that only where clear text is of no use.
   */
  #endTls(why: 'failed' | 'no_tls' | 'timeout') {
    const isNeeded = this.#tlsFor !== 'offer';
    const isLimited = this.#setup.known.tls === 'up_to_1_2';
    const retries = !isLimited && why !== 'no_tls' && (why === 'failed' || isNeeded);
    if (retries || isLimited) this.#actions.push({ do: 'learn', what: { tls: retries ? 'up_to_1_2' : 'any' } });
    if (this.#tlsFor === 'smtputf8' && !retries) {
      this.#fail('smtp_unverifiable', 'dialogue.no_smtputf8', 'stop', 'mail');
      return this.#close();
    }
    const next = retries ? 'tls_1_2' : isNeeded ? 'next_host' : 'in_clear';
    if (why === 'timeout') this.#end('smtp_timeout', TIMED_OUT, next);
    else this.#end('smtp_temporary_failure', 'dialogue.tls_failed', next);
  }

  #onClosed() {
    if (this.phase === 'tls') return this.#endTls('failed');
    if (this.#held !== null) this.#release(this.#held.verb, this.#held.reply);
    const { finding, rule, next } = dropOutcome(this.phase, this.#stale);
    this.#fail(finding, rule, this.#stale ? next : this.#orUnpipelined(next));
    this.#close();
  }

  #abandon(question: RecipientQuestion, why: 'cancelled' | 'timeout') {
    const inquiry = this.recipients.open.find((one) => one.question === question);
    if (inquiry === undefined) return this.#releaseAnswers();
    const isLast = this.recipients.open.length === 1;
    if (isLast) return why === 'timeout' ? this.#onTimeout() : this.#end('smtp_timeout', CANCELLED, 'stop', 'wait');
    this.#outstanding.drop(inquiry);
    const rule = why === 'timeout' ? TIMED_OUT : CANCELLED;
    const failure = { stage: this.#stage(), finding: 'smtp_timeout', rule, next: 'stop', classified: null } as const;
    this.recipients.answer(inquiry, inquiry.fail(failure));
  }

  /** Sends QUIT if allowed; `leave`: do not wait for its reply. `by`: see Recipients.fail. */
  #end(finding: SmtpFinding, rule: string, next: NextStep, after: 'wait' | 'leave' = 'leave', by = this.#awaited()) {
    // Nothing may be sent before the banner, or in clear text during a TLS handshake.
    const farewell = this.#bannerRead && this.phase !== 'tls' && this.phase !== 'quit';
    this.#fail(finding, rule, next, by === null ? undefined : by.isProbing ? 'probe' : by.question.stage, by);
    if (farewell) this.#quit();
    if (!farewell || after === 'leave') this.#close();
  }

  /** Ends the checks without a reply. `by`: see Recipients.fail. */
  #fail(finding: SmtpFinding, rule: string, next: NextStep, stage = this.#stage(), by = this.#awaited()) {
    this.recipients.fail({ stage, finding, rule, next, classified: null }, by);
  }

  #awaited(): RecipientCheck | null {
    return this.#outstanding.first?.of ?? null;
  }

  #quit() {
    this.#outstanding.plan([]);
    this.#draining = false;
    this.#send([QUIT]);
  }

  #close() {
    this.phase = 'closed';
    this.#actions.push({ do: 'close' });
  }

  #stage(): SmtpStage {
    if (this.phase === 'connect') return 'connect';
    if (this.phase === 'tls') return 'starttls';
    const first = this.#outstanding.first;
    return first?.verb === 'rcpt' && first.of !== null ? first.of.question.stage : stageOf(first?.verb);
  }
}

/**
 * The finding of a reply that rejected the session and not the recipient. A reply before RCPT is never about the
 * mailbox, whatever its text, even if a rule says so.
 */
function findingOfRefusal({ reply, reading: { finding } }: ClassifiedReply): SmtpFinding {
  if (finding === 'reconnect' || finding === 'starttls_required') return 'smtp_temporary_failure';
  if (!SMTP_FINDINGS[finding].aboutMailbox) return finding;
  return reply.code >= 500 ? 'smtp_blocked' : 'smtp_temporary_failure';
}

/** Outcome when the server closes the connection. `stale`: an idle session was closed before it was reused. */
function dropOutcome(phase: DialoguePhase, stale: boolean): { finding: SmtpFinding; rule: string; next: NextStep } {
  if (phase === 'connect') {
    return { finding: 'smtp_unreachable', rule: 'dialogue.unreachable', next: 'next_address' };
  }
  const next: NextStep = stale ? 'new_session' : 'next_address';
  return { finding: 'smtp_temporary_failure', rule: 'dialogue.dropped', next };
}

/** Postfix says "Improper use of SMTP command pipelining", Exim "SMTP synchronization error". */
const OF_PIPELINING = /pipelin|synchroni[sz]ation/i;

/** RFC 3463 §3.2: of a recipient that is valid, a server says 2.1.5. */
const isOfSender = ({ enhanced, text }: SmtpReply): boolean => enhanced === '2.1.0' || /\bsender\b/i.test(text);

const isPositive = ({ code }: SmtpReply): boolean => code >= 200 && code <= 299;
const isNegative = ({ code }: SmtpReply): boolean => code >= 400 && code <= 599;

/**
 * What follows from a reply about a recipient. `probe`: the random path is next, `probe_again`: in a new transaction.
 * `refuse`: the reply was not about the mailbox. `leave`: the server closes the session.
 */
type RecipientStep =
  | { readonly do: 'nothing' | 'leave' }
  | { readonly do: 'probe' | 'probe_again'; readonly path: string }
  | { readonly do: 'refuse'; readonly next: NextStep };
const NO_STEP: RecipientStep = { do: 'nothing' };

function namedIn(text: string): (path: string) => boolean {
  const lower = text.toLowerCase();
  return (path) => lower.includes(`<${path.toLowerCase()}>`);
}

/** The recipients of one session: what is asked about them, and how many the server takes. */
export class Recipients {
  /** They count RCPT commands sent so far, and how many of them the server judged, and rejected. */
  sent = 0;
  judged = 0;
  refusals = 0;
  /** Recipients in one transaction that the server takes. */
  perTransaction = Number.POSITIVE_INFINITY;
  #judgedHere = 0;
  /** Those without an answer. */
  #open: readonly RecipientCheck[] = [];
  /** Those of this round, with and without an answer. */
  #asked: readonly RecipientQuestion[] = [];
  readonly #host: string;
  readonly #onAnswer: (question: RecipientQuestion, outcome: DialogueOutcome) => void;

  constructor(host: string, onAnswer: (question: RecipientQuestion, outcome: DialogueOutcome) => void) {
    this.#host = host;
    this.#onAnswer = onAnswer;
  }

  get open(): readonly RecipientCheck[] {
    return this.#open;
  }

  get isProbing(): boolean {
    return this.#open.some((inquiry) => inquiry.isProbing);
  }

  ask(questions: readonly RecipientQuestion[]): void {
    if (this.#open.length > 0) throw new TypeError('the earlier questions are not answered yet');
    this.#asked = questions;
    this.#open = questions.map((question) => new RecipientCheck(question));
  }

  /** Returns those of the next transaction. */
  forTransaction(): readonly RecipientCheck[] {
    this.#judgedHere = 0;
    return this.#open.slice(0, this.perTransaction);
  }

  answer(inquiry: RecipientCheck, outcome: DialogueOutcome | null): void {
    if (outcome === null || !this.#open.includes(inquiry)) return;
    this.#open = this.#open.filter((one) => one !== inquiry);
    this.#onAnswer(inquiry.question, outcome);
  }

  /**
   * Whether a reply names, in brackets, another recipient than the one that it would be about: the server has replied
   * once too often before, and each reply is taken for that of the next command.
   */
  isAboutAnother({ path }: RecipientCheck, { text }: SmtpReply): boolean {
    if (!text.includes('<')) return false;
    const isNamed = namedIn(text);
    return !isNamed(path) && this.#asked.some((question) => question.path !== path && isNamed(question.path));
  }

  /** Whether a reply names, in brackets, one of the recipients, and so is not about the sender. */
  names({ text }: SmtpReply): boolean {
    if (!text.includes('<')) return false;
    const isNamed = namedIn(text);
    return this.#asked.some(({ path, sender }) => path !== sender && isNamed(path));
  }

  /** Replies were taken for those of other commands: nobody's recipient counts as accepted. */
  discardAcceptances(): void {
    for (const inquiry of this.#open) inquiry.discardAcceptance();
  }

  onRecipient(inquiry: RecipientCheck, rcpt: ClassifiedReply): RecipientStep {
    const { finding } = rcpt.reading;
    const isClosing = rcpt.reply.code === 421;
    // The server counts an abandoned one as well.
    if (!this.#open.includes(inquiry)) return this.#count(finding);
    if (finding === 'starttls_required') return { do: 'refuse', next: 'next_host' };
    if (finding === 'reconnect') {
      // The other transactions take as many as this one did.
      if (!isClosing && this.#judgedHere > 0) {
        this.perTransaction = Math.min(this.perTransaction, this.#judgedHere);
        return NO_STEP;
      }
      return { do: 'refuse', next: this.judged > 0 ? 'new_session' : 'next_host' };
    }
    // What a server says at the end of a session with others may be about them.
    if (isClosing && finding !== 'greylisted')
      return { do: 'refuse', next: this.judged > 0 ? 'new_session' : 'next_host' };
    this.#count(finding);
    const path = finding === 'accepted' ? inquiry.accept(rcpt, this.#host) : null;
    if (path !== null) return { do: 'probe', path };
    this.answer(inquiry, { kind: 'answered', rcpt, finding, probe: null });
    return NO_STEP;
  }

  onProbe(inquiry: RecipientCheck, classified: ClassifiedReply): RecipientStep {
    const { finding } = classified.reading;
    if (!this.#open.includes(inquiry)) return this.#count(finding);
    const isClosing = classified.reply.code === 421;
    // One recipient per transaction is common; a second rejection means one per session.
    const again = finding === 'reconnect' && !isClosing ? inquiry.repeatProbe() : null;
    if (again !== null) return { do: 'probe_again', path: again };
    if (finding !== 'reconnect') this.#count(finding);
    const shown = finding === 'starttls_required' ? 'smtp_temporary_failure' : finding;
    this.answer(inquiry, inquiry.answerProbe(shown, classified));
    return isClosing ? { do: 'leave' } : NO_STEP;
  }

  #count(finding: ReplyReading['finding']): RecipientStep {
    this.judged++;
    this.#judgedHere++;
    if (finding !== 'accepted') this.refusals++;
    return NO_STEP;
  }

  /**
   * Ends all checks. `by`: the recipient whose reply it was, or was awaited, to which alone the failure applies; null:
   * it applies to all. Whoever only needs another session is postponed, but for one: it tells whether that helps.
   */
  fail(failure: SessionFailure, by: RecipientCheck | null): void {
    const cause = by !== null && this.#open.includes(by) ? by : null;
    const isOfSession = failure.next === 'new_session' || failure.next === 'without_pipelining';
    const isForAll = failure.rule === CANCELLED || (cause === null && !isOfSession);
    const [first] = this.#open;
    for (const inquiry of this.#open) {
      const applies = isForAll || inquiry === (cause ?? first);
      this.answer(inquiry, applies ? inquiry.fail(failure) : inquiry.postpone(failure.stage));
    }
  }

  /** When the session ends, those without an answer go to another one. */
  postpone(stage: SmtpStage): void {
    for (const inquiry of this.#open) this.answer(inquiry, inquiry.postpone(stage));
  }
}

/**
 * How many more recipients a session takes that has had these. Nothing ends it in the middle of a transaction, so as
 * many as will not be too many if the server rejects as many of them as before; at first, if it rejects all.
 */
export const roomForRecipients = (
  limits: SmtpLimits,
  { sent, judged, refusals }: Pick<Recipients, 'sent' | 'judged' | 'refusals'>,
) => {
  const { recipientsPerSession, recipientsPerTransaction, refusalsPerSession } = limits;
  const tolerated = ((refusalsPerSession - refusals) * (judged + 1)) / (refusals + 1);
  return Math.max(0, Math.min(recipientsPerSession - sent, Math.floor(tolerated), recipientsPerTransaction));
};

const RSET: SmtpCommand = { verb: 'rset', line: 'RSET', of: null };
const QUIT: SmtpCommand = { verb: 'quit', line: 'QUIT', of: null };
const STARTTLS: SmtpCommand = { verb: 'starttls', line: 'STARTTLS', of: null };

const recipientCommand = (verb: 'rcpt' | 'probe', of: RecipientCheck, path: string): SmtpCommand => ({
  verb,
  of,
  line: `RCPT TO:<${path}>`,
});

/** One transaction for recipients of the same sender; `reset` if the session had a transaction before. */
function transactionCommands(
  { sender, path }: RecipientQuestion,
  recipients: readonly SmtpCommand[],
  reset: boolean,
): SmtpCommand[] {
  const parameter = needsSmtputf8(path) ? ' SMTPUTF8' : '';
  const mail: SmtpCommand = { verb: 'mail', line: `MAIL FROM:<${sender}>${parameter}`, of: null };
  return reset ? [RSET, mail, ...recipients] : [mail, ...recipients];
}

/** Which command a reply belongs to: replies come in the order of the commands (RFC 2920 §3.1). */
class OutstandingCommands {
  #sent: SmtpCommand[] = [];
  /** How many of them were sent before the current read: it can answer no others. */
  #owed = 0;
  /** These commands of the current group wait for an earlier reply. */
  #planned: readonly SmtpCommand[] = [];

  get empty(): boolean {
    return this.#sent.length === 0;
  }

  get first(): SmtpCommand | undefined {
    return this.#sent[0];
  }

  /** Marks all outstanding commands as sent before the data read next. */
  beginRead(): void {
    this.#owed = this.#sent.length;
  }

  push(command: SmtpCommand): void {
    this.#sent.push(command);
  }

  /** The command that the next reply belongs to; undefined for an unsolicited reply. */
  take(): SmtpCommand | undefined {
    return this.#owed-- > 0 ? this.#sent.shift() : undefined;
  }

  plan(commands: readonly SmtpCommand[]): void {
    this.#planned = commands;
  }

  /** To be sent after what is planned. */
  add(commands: readonly SmtpCommand[]): void {
    this.#planned = [...this.#planned, ...commands];
  }

  /** Its commands that were not sent yet are not needed any more. */
  drop(of: RecipientCheck): void {
    this.#planned = this.#planned.filter((command) => command.of !== of);
  }

  /** What may be written now: the whole group if the server supports PIPELINING (RFC 2920), else one command. */
  next(pipelining: boolean): readonly SmtpCommand[] {
    const now = pipelining ? this.#planned : this.#planned.slice(0, 1);
    this.#planned = this.#planned.slice(now.length);
    return now;
  }

  clear(): void {
    this.#sent = [];
    this.#planned = [];
  }
}

/** Returns the evidence's stage for a command. */
function stageOf(verb: CommandVerb | undefined): SmtpStage {
  if (verb === 'helo') return 'ehlo';
  return verb === undefined || verb === 'quit' ? 'rset' : verb;
}

/** Names the rule of a canceled check. */
const CANCELLED = 'dialogue.cancelled';
/** The SOCKS server of the egress has failed. */
export const PROXY_FAILED = 'egress.proxy_failed';
const TIMED_OUT = 'dialogue.timeout';

interface SessionFailure {
  readonly stage: SmtpStage;
  readonly finding: SmtpFinding;
  readonly rule: string | null;
  readonly next: NextStep;
  /** The reply that ended it; null for a timeout and the like. */
  readonly classified: ClassifiedReply | null;
}

const OUT_OF_STEP: SessionFailure = {
  stage: 'rcpt',
  finding: 'smtp_temporary_failure',
  rule: 'dialogue.out_of_step',
  next: 'without_pipelining',
  classified: null,
};

/** Runs the check in progress: the recipient first, then possibly the random one. */
class RecipientCheck {
  readonly question: RecipientQuestion;
  /** The reply that accepted the recipient, and the random path, while that one is being tried. */
  #probe: { readonly rcpt: ClassifiedReply; readonly path: string } | null = null;
  #isRepeated = false;

  constructor(question: RecipientQuestion) {
    this.question = question;
  }

  /** The session ended because of another recipient: this one, or its probe, has to be tried in another session. */
  postpone(stage: SmtpStage): DialogueOutcome {
    return (
      this.answerProbe('reconnect', null) ?? {
        kind: 'failed',
        stage,
        finding: 'smtp_temporary_failure',
        rule: 'dialogue.ended_early',
        next: 'rejoin',
        classified: null,
        cancelled: false,
      }
    );
  }

  /** What is being tried: the random path, if there is one, or the recipient. */
  get path(): string {
    return this.#probe?.path ?? this.question.path;
  }

  get isProbing(): boolean {
    return this.#probe !== null;
  }

  /** The recipient was accepted. Returns the random path to try next; null ends the check. */
  accept(rcpt: ClassifiedReply, host: string): string | null {
    const path = this.question.probe(host);
    if (path !== null) this.#probe = { rcpt, path };
    return path;
  }

  /** The reply may have been another's. */
  discardAcceptance(): void {
    this.#probe = null;
    this.#isRepeated = false;
  }

  /** Returns the random path once more, for a new transaction; null the second time. */
  repeatProbe(): string | null {
    if (this.#isRepeated) return null;
    this.#isRepeated = true;
    return this.#probe?.path ?? null;
  }

  /** The outcome of a failure: an accepted recipient stays accepted, and only its probe has failed. */
  fail(failure: SessionFailure): DialogueOutcome {
    return (
      this.answerProbe(failure.finding, failure.classified) ?? {
        kind: 'failed',
        ...failure,
        cancelled: failure.rule === CANCELLED,
      }
    );
  }

  /** Null while there is no probe. */
  answerProbe(finding: SmtpFinding | 'reconnect', classified: ClassifiedReply | null): DialogueOutcome | null {
    return (
      this.#probe && { kind: 'answered', rcpt: this.#probe.rcpt, finding: 'accepted', probe: { finding, classified } }
    );
  }
}
