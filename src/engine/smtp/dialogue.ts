/**
 * The SMTP dialogue as a pure state machine: events in, actions out. No socket, no clock, no randomness; the session
 * (session.ts) performs the actions and feeds in the events.
 *
 * One session runs several transactions, one after the other: RSET, MAIL, and RCPT for each recipient (RFC 5321
 * §4.1.1.5). What a reply says of one recipient holds for no other. Never sends DATA, nor anything before the banner.
 */
import type { SmtpFinding, SmtpStage } from '../evidence.ts';
import type { Capabilities } from './commands.ts';
import { commandLine, NO_CAPABILITIES, needsSmtputf8, parseCapabilities, SAYS_HELO } from './commands.ts';
import type { Action, DialogueEvent, DialogueSetup } from './events.ts';
import { CANCELLED, type Inquiry, TIMED_OUT } from './inquiry.ts';
import type { Heard, Next, Phase, Question } from './outcome.ts';
import { dropAt, findingOfRefusal, isNegative, isPositive } from './outcome.ts';
import {
  type Command,
  Outstanding,
  QUIT,
  recipient,
  STARTTLS,
  stageOf,
  transaction,
  type Verb,
} from './outstanding.ts';
import { Recipients } from './recipients.ts';
import type { Reply } from './reply.ts';

export class Dialogue {
  phase: Phase = 'connect';
  secure = false;
  capabilities: Capabilities = NO_CAPABILITIES;
  readonly recipients = new Recipients((question, outcome) => this.#actions.push({ do: 'answer', question, outcome }));
  readonly #setup: DialogueSetup;
  #actions: Action[] = [];
  readonly #outstanding = new Outstanding();
  /** STARTTLS waits until the rest of its group is answered; those replies are ignored. */
  #draining = false;
  #bannerRead = false;
  /** A transaction was begun in this TLS layer, so the next one needs RSET. */
  #used = false;
  /** An earlier check completed in this session, and no reply to the current ones has arrived. */
  #stale = false;
  #ehloRefusal: Heard | null = null;

  constructor(setup: DialogueSetup) {
    this.#setup = setup;
  }

  /** Returns the actions for an event. Never throws, whatever the server does. */
  handle(event: DialogueEvent): readonly Action[] {
    this.#actions = [];
    this.#outstanding.beginRead();
    if (event.is === 'ask') this.#onAsk(event.questions);
    else if (this.phase !== 'closed') this.#dispatch(event);
    return this.#actions;
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
        return this.#end('smtp_temporary_failure', 'dialogue.tls_failed', 'in_clear');
      case 'timeout':
        return this.#onTimeout();
      case 'violation':
        return this.#end('smtp_temporary_failure', 'dialogue.violation', 'next_address');
      case 'closed':
        return this.#onClosed();
      case 'abandon':
        return this.#abandon(event.question, event.why);
      case 'finish':
        if (this.phase !== 'quit') this.#end('smtp_timeout', CANCELLED, 'stop', 'wait');
    }
  }

  #onAsk(questions: readonly Question[]) {
    this.recipients.ask(questions);
    this.#stale = this.#used;
    if (this.phase === 'quit' || this.phase === 'closed') {
      return this.#fail('smtp_temporary_failure', 'dialogue.closed', 'new_session');
    }
    if (this.phase === 'idle') this.#beginTransaction();
  }

  /** For the recipients that have no answer yet, as many as the server takes at once. */
  #beginTransaction() {
    const group = this.recipients.forTransaction();
    const [first] = group;
    const unsendable = first && needsSmtputf8(first.question.path) && !this.capabilities.smtputf8;
    if (unsendable) this.#fail('smtp_unverifiable', 'dialogue.no_smtputf8', 'stop', 'mail');
    if (first === undefined || unsendable) {
      this.phase = 'idle';
      return;
    }
    this.#transact(
      first.question,
      group.map((inquiry) => recipient('rcpt', inquiry, inquiry.question.path)),
    );
    this.#sendPlanned();
  }

  #transact(question: Question, recipients: readonly Command[]) {
    this.#outstanding.add(transaction(question, recipients, this.#used));
    this.#used = true;
  }

  #sendPlanned() {
    const now = this.#outstanding.next(this.capabilities.pipelining);
    if (now.length > 0) this.#send(now);
  }

  #send(commands: readonly Command[]) {
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

  #startTls() {
    this.#outstanding.plan([]);
    this.#draining = !this.#outstanding.empty;
    if (!this.#draining) this.#send([STARTTLS]);
  }

  #onReply(reply: Reply) {
    // What arrives between the reply to STARTTLS and the end of the handshake was sent in clear text: discarded.
    if (this.phase === 'closed' || this.phase === 'tls' || this.phase === 'connect') return;
    const command = this.#outstanding.take();
    if (this.phase === 'quit') {
      if (this.#outstanding.empty) this.#close();
      return;
    }
    if (command === undefined || command.verb === 'quit') return this.#onUnasked(reply);
    this.#stale = false;
    if (this.#draining) {
      if (this.#outstanding.empty) this.#startTls();
      return;
    }
    // 3xx: only DATA and AUTH have such replies.
    if (!isPositive(reply) && !isNegative(reply)) {
      return this.#end('smtp_temporary_failure', 'dialogue.unexpected_reply', 'next_host', 'leave', command.of);
    }
    if (command.of === null) this.#onAnswerTo(command.verb, reply);
    else this.#onAnswerAbout(command.of, command.verb, reply);
    if (this.phase !== 'command' || !this.#outstanding.empty) return;
    this.#sendPlanned();
    if (this.#outstanding.empty) this.#beginTransaction();
  }

  /** An unsolicited reply. 421 announces the end (RFC 5321 §3.8); after any other, replies no longer match commands. */
  #onUnasked(reply: Reply) {
    if (reply.code === 421) return this.#end('smtp_temporary_failure', 'dialogue.dropped', 'next_host', 'wait');
    this.#end('smtp_temporary_failure', 'dialogue.out_of_step', 'next_address', 'leave', null);
  }

  #onAnswerTo(verb: Verb, reply: Reply) {
    if (verb === 'banner') this.#bannerRead = true;
    if (isNegative(reply)) return this.#onRefusal(verb, reply);
    if (verb === 'banner') return this.#greet('ehlo');
    if (verb === 'starttls') {
      this.phase = 'tls';
      this.#outstanding.clear();
      this.#actions.push({ do: 'starttls' });
    } else if (verb === 'ehlo' || verb === 'helo') {
      this.capabilities = verb === 'ehlo' ? parseCapabilities(reply.lines) : NO_CAPABILITIES;
      if (this.#setup.tls === 'opportunistic' && this.capabilities.startTls && !this.secure) this.#startTls();
      else this.#beginTransaction();
    }
  }

  #onRefusal(verb: Verb, reply: Reply) {
    const heard = this.#hear(stageOf(verb), reply, this.recipients.open[0]);
    if (verb === 'ehlo' && SAYS_HELO.has(reply.code)) {
      this.#ehloRefusal = heard;
      return this.#greet('helo');
    }
    // Offered but failed, and not required so far: continue in clear text.
    if (verb === 'starttls' && !this.#used && reply.code !== 421) return this.#beginTransaction();
    // What a server defers after earlier recipients, it may take in a session without them.
    const isWorn = verb === 'rset' || (verb === 'mail' && this.recipients.judged > 0 && reply.code < 500);
    const ehlo = this.#ehloRefusal;
    if (verb === 'helo' && ehlo?.reading.finding === 'smtp_blocked') return this.#refuse(ehlo, 'next_host');
    this.#refuse(heard, isWorn ? 'new_session' : 'next_host');
  }

  #onAnswerAbout(inquiry: Inquiry, verb: Verb, reply: Reply) {
    if (this.recipients.isAboutAnother(inquiry, reply)) return this.#onUnasked(reply);
    const isProbe = verb === 'probe';
    const heard = this.#hear(isProbe ? 'probe' : inquiry.question.stage, reply, inquiry);
    const step = isProbe ? this.recipients.onProbe(inquiry, heard) : this.recipients.onRecipient(inquiry, heard);
    switch (step.do) {
      case 'probe':
        return this.#outstanding.add([recipient('probe', inquiry, step.path)]);
      case 'probe_again':
        return this.#transact(inquiry.question, [recipient('probe', inquiry, step.path)]);
      case 'refuse':
        return this.#refuse(heard, step.next, inquiry);
      case 'leave':
        this.recipients.postpone(this.#stage());
        return this.#quit();
      case 'nothing':
    }
  }

  #hear(stage: SmtpStage, reply: Reply, about: Inquiry | undefined): Heard {
    return { stage, reply, reading: this.#setup.read(stage, reply, about?.question.path ?? null) };
  }

  /**
   * A rejection that is not about the mailbox: STARTTLS if it requires that, else the end. `by`: see Recipients.fail.
   */
  #refuse(heard: Heard, next: Next, by: Inquiry | null = null) {
    const demanded = heard.reading.finding === 'starttls_required' && heard.stage !== 'starttls';
    const able = this.#bannerRead && !this.secure && this.#setup.tls !== 'never' && !this.recipients.isProbing;
    if (demanded && able) return this.#startTls();
    const [finding, { rule }] = [findingOfRefusal(heard), heard.reading];
    this.recipients.fail({ stage: heard.stage, finding, rule, next, heard }, by);
    this.#quit();
  }

  #onTimeout() {
    if (this.phase === 'idle') return this.#quit();
    if (this.phase === 'quit') return this.#close();
    const next: Next = this.phase === 'tls' ? 'in_clear' : this.#stage() === 'rcpt' ? 'next_host' : 'next_address';
    this.#end('smtp_timeout', TIMED_OUT, next);
  }

  #onClosed() {
    const { finding, rule, next } = dropAt(this.phase, this.#stale);
    this.#fail(finding, rule, next);
    this.#close();
  }

  #abandon(question: Question, why: 'cancelled' | 'timeout') {
    const inquiry = this.recipients.open.find((one) => one.question === question);
    if (inquiry === undefined) return;
    const isLast = this.recipients.open.length === 1;
    if (isLast) return why === 'timeout' ? this.#onTimeout() : this.#end('smtp_timeout', CANCELLED, 'stop', 'wait');
    this.#outstanding.drop(inquiry);
    const rule = why === 'timeout' ? TIMED_OUT : CANCELLED;
    const failure = { stage: this.#stage(), finding: 'smtp_timeout', rule, next: 'stop', heard: null } as const;
    this.recipients.answer(inquiry, inquiry.fail(failure));
  }

  /** Sends QUIT if allowed; `leave`: do not wait for its reply. `by`: see Recipients.fail. */
  #end(finding: SmtpFinding, rule: string, next: Next, after: 'wait' | 'leave' = 'leave', by = this.#awaited()) {
    // Nothing may be sent before the banner, or in clear text during a TLS handshake.
    const farewell = this.#bannerRead && this.phase !== 'tls' && this.phase !== 'quit';
    this.#fail(finding, rule, next, by === null ? undefined : by.isProbing ? 'probe' : by.question.stage, by);
    if (farewell) this.#quit();
    if (!farewell || after === 'leave') this.#close();
  }

  /** Ends the checks without a reply. `by`: see Recipients.fail. */
  #fail(finding: SmtpFinding, rule: string, next: Next, stage = this.#stage(), by = this.#awaited()) {
    this.recipients.fail({ stage, finding, rule, next, heard: null }, by);
  }

  #awaited(): Inquiry | null {
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
