/**
 * The SMTP dialogue as a pure state machine: events in, actions out. It knows no socket, no clock and no randomness;
 * the session (session.ts) carries its actions out and feeds it what happened.
 *
 * One session serves several questions, one after the other: RSET, MAIL and RCPT for each (RFC 5321 §4.1.1.5).
 * The machine never sends DATA, and nothing before the whole banner was read.
 */
import type { SmtpFinding, SmtpStage } from '../evidence.ts';
import type { Capabilities } from './commands.ts';
import { commandLine, NO_CAPABILITIES, needsSmtputf8, parseCapabilities, SAYS_HELO } from './commands.ts';
import type { Action, DialogueEvent, DialogueSetup, Phase } from './events.ts';
import type { Question } from './outcome.ts';
import { dropAt, findingOfRefusal, type Heard, isNegative, isPositive, type Next, type Outcome } from './outcome.ts';
import { type Command, Outstanding, QUIT, STARTTLS, stageOf, transaction, type Verb } from './outstanding.ts';
import type { Reply } from './reply.ts';

export class Dialogue {
  phase: Phase = 'connect';
  secure = false;
  capabilities: Capabilities = NO_CAPABILITIES;
  /** RCPT commands sent so far, and those of them that were refused. */
  recipients = 0;
  refusals = 0;
  readonly #setup: DialogueSetup;
  #actions: Action[] = [];
  #question: Question | null = null;
  readonly #outstanding = new Outstanding();
  /** STARTTLS waits until the rest of its group is answered; those replies say nothing any more. */
  #draining = false;
  #bannerRead = false;
  /** A transaction was begun in this TLS layer, so the next one needs RSET. */
  #used = false;
  /** A question was answered in this session before, and nothing was heard since the present one was put. */
  #stale = false;
  #ehloRefusal: Heard | null = null;
  /** The accepting reply to the real address, while its probe is under way. */
  #accepted: Heard | null = null;
  #probePath = '';
  #probeRepeated = false;

  constructor(setup: DialogueSetup) {
    this.#setup = setup;
  }

  /** One event in, the actions it asks for out. Never throws for anything a server does. */
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
        if (this.phase !== 'quit') this.#end('smtp_timeout', 'dialogue.cancelled', 'stop', 'wait');
    }
  }

  #onAsk(question: Question) {
    if (this.#question !== null) throw new TypeError('one question at a time');
    this.#question = question;
    this.#stale = this.#used;
    if (this.phase === 'quit' || this.phase === 'closed') {
      return this.#fail(this.#stage(), 'smtp_temporary_failure', 'dialogue.closed', 'new_session');
    }
    if (this.phase === 'idle') this.#beginTransaction();
  }

  #beginTransaction() {
    const question = this.#question;
    if (question === null) {
      this.phase = 'idle';
      return;
    }
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
    // What arrives between the reply to STARTTLS and the end of the handshake was sent in clear: not believed.
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

  /** A reply to nothing. 421 announces the end (RFC 5321 §3.8); after any other, replies no longer match commands. */
  #onUnasked(reply: Reply) {
    if (reply.code === 421) return this.#end('smtp_temporary_failure', 'dialogue.dropped', 'next_host', 'wait');
    this.#end('smtp_temporary_failure', 'dialogue.out_of_step', 'next_address');
  }

  #onAnswerTo(verb: Verb, reply: Reply) {
    if (verb === 'banner') this.#bannerRead = true;
    if (verb === 'rcpt') return this.#onRecipient(reply);
    if (verb === 'probe') return this.#onProbe(reply);
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
    // Offered but not to be had, and not demanded so far: go on in clear.
    if (verb === 'starttls' && !this.#used && reply.code !== 421) return this.#beginTransaction();
    if (verb === 'rset') return this.#refuse(heard, 'new_session');
    const ehlo = this.#ehloRefusal;
    if (verb === 'helo' && ehlo?.reading.finding === 'smtp_blocked') return this.#refuse(ehlo, 'next_host');
    this.#refuse(heard, 'next_host');
  }

  #onRecipient(reply: Reply) {
    const question = this.#question!;
    const rcpt = this.#hear(question.stage, reply);
    const { finding } = rcpt.reading;
    if (finding === 'starttls_required') return this.#refuse(rcpt, 'next_host');
    if (finding === 'reconnect') return this.#refuse(rcpt, this.recipients > 1 ? 'new_session' : 'stop');
    if (reply.code === 421 && finding !== 'greylisted') return this.#refuse(rcpt, 'next_host');
    const path = finding === 'accepted' ? question.probe() : null;
    if (finding !== 'accepted') this.refusals++;
    if (path === null) return this.#answer({ kind: 'answered', rcpt, finding, probe: null });
    this.#accepted = rcpt;
    this.#probePath = path;
    this.#probeRepeated = false;
    this.#send([{ verb: 'probe', line: `RCPT TO:<${path}>` }]);
  }

  #onProbe(reply: Reply) {
    const heard = this.#hear('probe', reply);
    const { finding } = heard.reading;
    if (finding === 'reconnect' && reply.code !== 421 && !this.#probeRepeated) {
      // One recipient per transaction is common; one per session shows by the second refusal.
      this.#probeRepeated = true;
      return this.#transact(this.#question!, 'probe', this.#probePath);
    }
    if (finding !== 'accepted') this.refusals++;
    this.#settleProbe(finding === 'starttls_required' ? 'smtp_temporary_failure' : finding, heard);
    if (reply.code === 421) this.#quit();
  }

  #hear(stage: SmtpStage, reply: Reply): Heard {
    return { stage, reply, reading: this.#setup.read(stage, reply, this.#question?.path ?? null) };
  }

  /** A refusal that is no answer about the mailbox: TLS first if that is what it asks for, else the end. */
  #refuse(heard: Heard, next: Next) {
    const demanded = heard.reading.finding === 'starttls_required' && heard.stage !== 'starttls';
    const able = this.#bannerRead && !this.secure && this.#setup.tls !== 'never' && this.#accepted === null;
    if (demanded && able) return this.#startTls();
    const finding = findingOfRefusal(heard);
    if (this.#accepted !== null) this.#settleProbe(finding, heard);
    else this.#answer({ kind: 'failed', stage: heard.stage, finding, rule: heard.reading.rule, heard, next });
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

  /** QUIT where that is allowed; `leave`: the server is beyond conversation, its reply is not waited for. */
  #end(finding: SmtpFinding, rule: string, next: Next, after: 'wait' | 'leave' = 'leave') {
    // Nobody speaks before the banner, nor in clear into a handshake.
    const farewell = this.#bannerRead && this.phase !== 'tls' && this.phase !== 'quit';
    this.#fail(this.#stage(), finding, rule, next);
    if (farewell) this.#quit();
    if (!farewell || after === 'leave') this.#close();
  }

  /** Ends the present question, if there is one, with a failure; an accepted recipient stays accepted. */
  #fail(stage: SmtpStage, finding: SmtpFinding, rule: string, next: Next) {
    if (this.#accepted !== null) this.#settleProbe(finding, null);
    else this.#answer({ kind: 'failed', stage, finding, rule, heard: null, next });
  }

  #settleProbe(finding: SmtpFinding | 'reconnect', heard: Heard | null) {
    this.#answer({ kind: 'answered', rcpt: this.#accepted!, finding: 'accepted', probe: { finding, heard } });
  }

  /** Idle until the next question, unless the caller of this ends the session. */
  #answer(outcome: Outcome) {
    if (this.#question === null) return;
    if (this.phase === 'command') this.phase = 'idle';
    this.#question = null;
    this.#accepted = null;
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
    return verb === 'rcpt' && this.#question !== null ? this.#question.stage : stageOf(verb);
  }
}
