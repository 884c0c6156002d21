/**
 * The SMTP dialogue as a pure state machine: events in, actions out. No socket, no clock, no randomness; the session
 * (session.ts) performs the actions and feeds in the events.
 *
 * One session runs several checks, one after the other: RSET, MAIL and RCPT for each (RFC 5321 §4.1.1.5).
 * The machine never sends DATA, and nothing before the whole banner was read.
 */
import type { SmtpFinding, SmtpStage } from '../evidence.ts';
import type { Capabilities } from './commands.ts';
import { commandLine, NO_CAPABILITIES, needsSmtputf8, parseCapabilities, SAYS_HELO } from './commands.ts';
import type { Action, DialogueEvent, DialogueSetup } from './events.ts';
import { CANCELLED, Inquiry } from './inquiry.ts';
import type { Heard, Next, Outcome, Phase, Question } from './outcome.ts';
import { dropAt, findingOfRefusal, isNegative, isPositive } from './outcome.ts';
import { type Command, Outstanding, QUIT, STARTTLS, stageOf, transaction, type Verb } from './outstanding.ts';
import type { Reply } from './reply.ts';

export class Dialogue {
  phase: Phase = 'connect';
  secure = false;
  capabilities: Capabilities = NO_CAPABILITIES;
  /** RCPT commands sent so far, and how many were rejected. */
  recipients = 0;
  refusals = 0;
  readonly #setup: DialogueSetup;
  #actions: Action[] = [];
  #inquiry: Inquiry | null = null;
  readonly #outstanding = new Outstanding();
  /** STARTTLS waits until the rest of its group is answered; those replies are ignored. */
  #draining = false;
  #bannerRead = false;
  /** A transaction was begun in this TLS layer, so the next one needs RSET. */
  #used = false;
  /** An earlier check completed in this session, and no reply to the current one has arrived. */
  #stale = false;
  #ehloRefusal: Heard | null = null;

  constructor(setup: DialogueSetup) {
    this.#setup = setup;
  }

  /** Returns the actions for an event. Never throws, whatever the server does. */
  handle(event: DialogueEvent): readonly Action[] {
    this.#actions = [];
    this.#outstanding.beginRead();
    if (event.is === 'ask') this.#onAsk(event.question);
    else if (this.phase !== 'closed') this.#dispatch(event);
    return this.#actions;
  }

  #dispatch(event: Exclude<DialogueEvent, { is: 'ask' }>) {
    switch (event.is) {
      case 'connected':
        if (this.phase !== 'connect') return;
        this.phase = 'banner';
        this.#outstanding.push('banner');
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
      case 'finish':
        if (this.phase !== 'quit') this.#end('smtp_timeout', CANCELLED, 'stop', 'wait');
    }
  }

  #onAsk(question: Question) {
    if (this.#inquiry !== null) throw new TypeError('one question at a time');
    this.#inquiry = new Inquiry(question);
    this.#stale = this.#used;
    if (this.phase === 'quit' || this.phase === 'closed') {
      return this.#fail(this.#stage(), 'smtp_temporary_failure', 'dialogue.closed', 'new_session');
    }
    if (this.phase === 'idle') this.#beginTransaction();
  }

  #beginTransaction() {
    if (this.#inquiry === null) {
      this.phase = 'idle';
      return;
    }
    const { question } = this.#inquiry;
    if (needsSmtputf8(question.path) && !this.capabilities.smtputf8) {
      return this.#fail('mail', 'smtp_unverifiable', 'dialogue.no_smtputf8', 'stop');
    }
    this.#transact(question, 'rcpt', question.path);
  }

  #transact(question: Question, verb: 'rcpt' | 'probe', path: string) {
    this.#outstanding.plan(transaction(question, verb, path, this.#used));
    this.#used = true;
    this.#sendPlanned();
  }

  #sendPlanned() {
    const now = this.#outstanding.next(this.capabilities.pipelining);
    if (now.length > 0) this.#send(now);
  }

  #send(commands: readonly Command[]) {
    for (const { verb } of commands) {
      this.#outstanding.push(verb);
      if (verb === 'rcpt' || verb === 'probe') this.recipients++;
    }
    this.phase = commands.includes(QUIT) ? 'quit' : 'command';
    this.#actions.push({ do: 'send', lines: commands.map(({ line }) => commandLine(line)) });
  }

  #greet(verb: 'ehlo' | 'helo') {
    this.#send([{ verb, line: `${verb.toUpperCase()} ${this.#setup.helo}` }]);
  }

  #startTls() {
    this.#outstanding.plan([]);
    this.#draining = !this.#outstanding.empty;
    if (!this.#draining) this.#send([STARTTLS]);
  }

  #onReply(reply: Reply) {
    // What arrives between the reply to STARTTLS and the end of the handshake was sent in clear text: discarded.
    if (this.phase === 'closed' || this.phase === 'tls' || this.phase === 'connect') return;
    const verb = this.#outstanding.take();
    if (this.phase === 'quit') {
      if (this.#outstanding.empty) this.#close();
      return;
    }
    if (verb === undefined || verb === 'quit') return this.#onUnasked(reply);
    this.#stale = false;
    if (this.#draining) {
      if (this.#outstanding.empty) this.#startTls();
      return;
    }
    // 3xx: only DATA and AUTH have such replies.
    if (!isPositive(reply) && !isNegative(reply)) {
      return this.#end('smtp_temporary_failure', 'dialogue.unexpected_reply', 'next_host');
    }
    this.#onAnswerTo(verb, reply);
    if (this.#outstanding.empty) this.#sendPlanned();
  }

  /** An unsolicited reply. 421 announces the end (RFC 5321 §3.8); after any other, replies no longer match commands. */
  #onUnasked(reply: Reply) {
    if (reply.code === 421) return this.#end('smtp_temporary_failure', 'dialogue.dropped', 'next_host', 'wait');
    this.#end('smtp_temporary_failure', 'dialogue.out_of_step', 'next_address');
  }

  #onAnswerTo(verb: Verb, reply: Reply) {
    if (verb === 'banner') this.#bannerRead = true;
    if (verb === 'rcpt' || verb === 'probe') {
      if (this.#inquiry === null) return;
      return verb === 'rcpt' ? this.#onRecipient(this.#inquiry, reply) : this.#onProbe(this.#inquiry, reply);
    }
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
    const heard = this.#hear(stageOf(verb), reply);
    if (verb === 'ehlo' && SAYS_HELO.has(reply.code)) {
      this.#ehloRefusal = heard;
      return this.#greet('helo');
    }
    // Offered but failed, and not required so far: continue in clear text.
    if (verb === 'starttls' && !this.#used && reply.code !== 421) return this.#beginTransaction();
    if (verb === 'rset') return this.#refuse(heard, 'new_session');
    const ehlo = this.#ehloRefusal;
    if (verb === 'helo' && ehlo?.reading.finding === 'smtp_blocked') return this.#refuse(ehlo, 'next_host');
    this.#refuse(heard, 'next_host');
  }

  #onRecipient(inquiry: Inquiry, reply: Reply) {
    const rcpt = this.#hear(inquiry.question.stage, reply);
    const { finding } = rcpt.reading;
    if (finding === 'starttls_required') return this.#refuse(rcpt, 'next_host');
    if (finding === 'reconnect') return this.#refuse(rcpt, this.recipients > 1 ? 'new_session' : 'stop');
    if (reply.code === 421 && finding !== 'greylisted') return this.#refuse(rcpt, 'next_host');
    if (finding !== 'accepted') this.refusals++;
    const path = finding === 'accepted' ? inquiry.accept(rcpt) : null;
    if (path === null) return this.#answer({ kind: 'answered', rcpt, finding, probe: null });
    this.#send([{ verb: 'probe', line: `RCPT TO:<${path}>` }]);
  }

  #onProbe(inquiry: Inquiry, reply: Reply) {
    const heard = this.#hear('probe', reply);
    const { finding } = heard.reading;
    // One recipient per transaction is common; a second rejection means one per session.
    const again = finding === 'reconnect' && reply.code !== 421 ? inquiry.repeatProbe() : null;
    if (again !== null) return this.#transact(inquiry.question, 'probe', again);
    if (finding !== 'accepted') this.refusals++;
    this.#answer(inquiry.answerProbe(finding === 'starttls_required' ? 'smtp_temporary_failure' : finding, heard));
    if (reply.code === 421) this.#quit();
  }

  #hear(stage: SmtpStage, reply: Reply): Heard {
    return { stage, reply, reading: this.#setup.read(stage, reply, this.#inquiry?.question.path ?? null) };
  }

  /** A rejection that is not about the mailbox: STARTTLS if it requires that, else the end. */
  #refuse(heard: Heard, next: Next) {
    const demanded = heard.reading.finding === 'starttls_required' && heard.stage !== 'starttls';
    const able = this.#bannerRead && !this.secure && this.#setup.tls !== 'never' && !this.#inquiry?.isProbing;
    if (demanded && able) return this.#startTls();
    const [finding, { rule }] = [findingOfRefusal(heard), heard.reading];
    this.#answer(this.#inquiry?.fail({ stage: heard.stage, finding, rule, next, heard }));
    this.#quit();
  }

  #onTimeout() {
    if (this.phase === 'idle') return this.#quit();
    if (this.phase === 'quit') return this.#close();
    const next: Next = this.phase === 'tls' ? 'in_clear' : this.#stage() === 'rcpt' ? 'next_host' : 'next_address';
    this.#end('smtp_timeout', 'dialogue.timeout', next);
  }

  #onClosed() {
    const { finding, rule, next } = dropAt(this.phase, this.#stale);
    this.#fail(this.#stage(), finding, rule, next);
    this.#close();
  }

  /** Sends QUIT if allowed; `leave`: do not wait for its reply. */
  #end(finding: SmtpFinding, rule: string, next: Next, after: 'wait' | 'leave' = 'leave') {
    // Nothing may be sent before the banner, or in clear text during a TLS handshake.
    const farewell = this.#bannerRead && this.phase !== 'tls' && this.phase !== 'quit';
    this.#fail(this.#stage(), finding, rule, next);
    if (farewell) this.#quit();
    if (!farewell || after === 'leave') this.#close();
  }

  /** Ends the current check, if any, without a reply. */
  #fail(stage: SmtpStage, finding: SmtpFinding, rule: string, next: Next) {
    this.#answer(this.#inquiry?.fail({ stage, finding, rule, next, heard: null }));
  }

  /** Idle until the next check, unless the caller ends the session. */
  #answer(outcome: Outcome | null | undefined) {
    if (!outcome || this.#inquiry === null) return;
    if (this.phase === 'command') this.phase = 'idle';
    this.#inquiry = null;
    this.#actions.push({ do: 'answer', outcome });
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
    const verb = this.#outstanding.first;
    return verb === 'rcpt' && this.#inquiry !== null ? this.#inquiry.question.stage : stageOf(verb);
  }
}
