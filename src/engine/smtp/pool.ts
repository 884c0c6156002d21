/**
 * Sessions shared by the recipients of one set of mail hosts. A question goes to a session that has just become free,
 * or waits for a permit to dial (throttle.ts), whichever comes first; whoever else of its tenant waits for the same
 * hosts joins it in one transaction. A session without a next question sends QUIT.
 */
import { LRUCache } from 'lru-cache';
import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import { contain } from '../../kernel/contain.ts';
import { LinkedList, type Place } from '../../kernel/linked-list.ts';
import { onAbort } from '../../kernel/on-abort.ts';
import {
  type DialogueOutcome,
  type DialogueSetup,
  needsSmtputf8,
  type RecipientQuestion,
  roomForRecipients,
} from './dialogue.ts';
import type { LearnedHosts } from './learned-hosts.ts';
import { accountOfTenant, isBackground } from './limiter.ts';
import { SMTP_LIMITS, type SmtpLimits } from './limits.ts';
import { type SessionCheck, SmtpSession, type Transcript } from './session.ts';
import type { Destination, DialogueLease, Permit, Throttle } from './throttle.ts';
import type { TunnelFailure } from './tunnel.ts';

/** The destination is dialled when no session is available. */
interface PoolRequest extends Destination {
  /** The set of mail hosts, and the egress: requests with the same ones may share a session. */
  readonly hosts: string;
  /** Tenants take their share of sessions and limits. */
  readonly tenant: string;
  readonly tls: DialogueSetup['tls'];
  readonly read: DialogueSetup['read'];
  readonly question: RecipientQuestion;
  readonly transcript: Transcript;
  /** Times are in `Clock.elapsed()` ms: for the turn of this request, the answer, and connection and banner. */
  readonly startByMs: number;
  readonly deadlineMs: number;
  readonly greetByMs: number;
  readonly signals: readonly AbortSignal[];
  /** Aborted: the request is canceled unless a session has it. */
  readonly lastCall: AbortSignal | undefined;
  /** Requires a new session. */
  readonly fresh: boolean;
}

export interface ServedRequest {
  readonly outcome: DialogueOutcome;
  readonly host: string;
  readonly address: string;
  readonly egress: string;
  readonly secure: boolean;
}
export type RequestResult =
  | ServedRequest
  | {
      /** `address_blocked`: another address of the operator may be free. `resting`: its egress fails. */
      readonly refused: 'blocked' | 'address_blocked' | 'late' | 'cancelled' | 'resting';
      readonly retryAfterSeconds: number | null;
    };

interface PoolOptions {
  readonly clock: Clock;
  readonly limits: SmtpLimits;
  readonly throttle: Throttle;
  readonly learned: LearnedHosts;
  readonly port: number;
  readonly mayDial: (address: string) => boolean;
}

interface PooledSession {
  readonly session: SmtpSession;
  readonly request: PoolRequest;
  readonly lease: DialogueLease;
  /** The session has this place among all sessions. */
  readonly place: Place<SmtpSession>;
  /** Its place among idle sessions; null: it never was idle. */
  idlePlace: Place<PooledSession> | null;
  /** The server has failed, or rejects us: there are no further questions. */
  isSpent: boolean;
}

/** After so many sessions that ended because of another recipient, a question gets one of its own. */
const MOST_REJOINED = 2;
const LEARNED_OPERATORS = 2_000;
const LEARNED_MS = HOUR_MS;

const NOTHING_TO_LEAVE = () => {};

const learnedKey = ({ operator, tenant }: Pick<PoolRequest, 'operator' | 'tenant'>): string =>
  `${accountOfTenant(tenant)}\n${operator}`;

export class SessionPool {
  readonly #options: PoolOptions;
  readonly #sessions = new LinkedList<SmtpSession>();
  /** Open sessions by set of hosts, and by operator those of them that are idle. */
  readonly #open = new Map<string, number>();
  readonly #idle = new Map<string, LinkedList<PooledSession>>();
  #idleCount = 0;
  #closed = false;
  readonly #waiting = new WaitingRequests();
  /**
   * Recipients per session and per transaction that an operator allows an account, learned from "too many recipients":
   * each account learns for itself, as it may have a server of its own under the operator's name.
   */
  readonly #recipients: LRUCache<string, number>;
  readonly #perTransaction: LRUCache<string, number>;

  constructor(options: PoolOptions) {
    this.#options = options;
    const perf = { now: () => options.clock.elapsed() };
    this.#recipients = new LRUCache({ max: LEARNED_OPERATORS, ttl: LEARNED_MS, perf });
    this.#perTransaction = new LRUCache({ max: LEARNED_OPERATORS, ttl: LEARNED_MS, perf });
  }

  /** Whether the operator is known to allow one recipient per session. */
  takesOneRecipient(asked: Pick<PoolRequest, 'operator' | 'tenant'>): boolean {
    return this.#recipients.get(learnedKey(asked)) === 1;
  }

  get sessions(): { open: number; idle: number } {
    return { open: this.#sessions.size, idle: this.#idleCount };
  }

  /** Rejects with a fault of ours; servers cause none. */
  ask(request: PoolRequest): Promise<RequestResult> {
    return new Promise((resolve, reject) => {
      const { signals, lastCall } = request;
      const isAborted = lastCall?.aborted === true || signals.some(({ aborted }) => aborted);
      if (isAborted || this.#closed) return resolve({ refused: 'cancelled', retryAfterSeconds: null });
      const cancel = () => {
        waiter.leave();
        waiter.settle({ refused: 'cancelled', retryAfterSeconds: null });
      };
      const ignoreAbort: (() => void)[] = [];
      const settle = (service: RequestResult) => {
        for (const ignore of ignoreAbort) ignore();
        resolve(service);
      };
      const fail = (fault: unknown) => {
        for (const ignore of ignoreAbort) ignore();
        reject(fault);
      };
      const waiter: WaitingRequest = {
        request,
        settle,
        fail,
        leave: NOTHING_TO_LEAVE,
        place: null,
        isAsked: false,
        rejoined: 0,
      };
      for (const signal of signals) ignoreAbort.push(onAbort(signal, contain(fail, cancel)));
      if (lastCall !== undefined)
        ignoreAbort.push(
          onAbort(
            lastCall,
            contain(fail, () => waiter.isAsked || cancel()),
          ),
        );
      contain(fail, () => this.#serve(waiter))();
    });
  }

  /** Ends every session with QUIT; busy ones are canceled, and no new one is opened. */
  close(): void {
    this.#closed = true;
    for (const { value: session } of [...this.#sessions]) session.finish();
  }

  #serve(waiter: WaitingRequest) {
    const { request } = waiter;
    const idle = request.fresh ? undefined : this.#takeIdle(request);
    if (idle !== undefined) return this.#assign(idle, waiter, 1, 'ask');
    const mayShare = !request.fresh && (this.#open.get(request.hosts) ?? 0) > 0;
    const onPermit = contain(waiter.fail, (permit: Permit) => this.#onPermit(waiter, permit));
    const withdraw = this.#options.throttle.acquire(request, mayShare, onPermit, waiter.fail);
    if (withdraw === null) return;
    if (!request.fresh) this.#waiting.add(waiter);
    const leave = () => {
      withdraw();
      this.#waiting.remove(waiter);
    };
    // Not assigned directly, so that the function is young (docs/architecture.md#what-v8-does).
    waiter.leave = leave;
    this.#makeRoom(request);
  }

  #onPermit(waiter: WaitingRequest, permit: Permit): void {
    this.#waiting.remove(waiter);
    if (permit.kind === 'go' && this.#closed) {
      permit.lease.release();
      waiter.settle({ refused: 'cancelled', retryAfterSeconds: null });
    } else if (permit.kind === 'go') {
      try {
        this.#dial(waiter, permit.lease);
      } catch (fault) {
        permit.lease.release();
        throw fault;
      }
    } else {
      const refused = permit.kind === 'blocked' && permit.by === 'address' ? 'address_blocked' : permit.kind;
      waiter.settle({ refused, retryAfterSeconds: permit.retryAfterSeconds });
    }
  }

  #dial(waiter: WaitingRequest, lease: DialogueLease): void {
    const { request } = waiter;
    const { host, address, tls, read } = request;
    const { clock, limits, port, mayDial, learned } = this.#options;
    const { egress } = lease;
    const { helo } = egress;
    const on = {
      idle: () => this.#next(pooled),
      tunnelled: (failure: TunnelFailure | null) => this.#options.throttle.onTunnel(egress.name, address, failure),
      closed: () => this.#forget(pooled),
    };
    const dialled = { host, address, port, egress, learned, limits, clock, mayDial, on };
    const session = new SmtpSession({ ...dialled, helo, tls, read });
    const place = this.#sessions.add(session);
    const pooled: PooledSession = { session, request, lease, place, idlePlace: null, isSpent: false };
    this.#open.set(request.hosts, (this.#open.get(request.hosts) ?? 0) + 1);
    const room = request.fresh
      ? 1
      : Math.min(roomForRecipients(limits, { sent: 0, judged: 0, refusals: 0 }), this.#most(request));
    this.#assign(pooled, waiter, room, 'open');
  }

  /** Assigns `first` and others that can be in the same transaction, `maxRequests` together. */
  #assign(pooled: PooledSession, first: WaitingRequest, maxRequests: number, how: 'open' | 'ask'): void {
    let waiters = [first];
    try {
      waiters = this.#batchFor(first, maxRequests);
      this.#begin(pooled, waiters, how);
    } catch (fault) {
      for (const { fail } of waiters) fail(fault);
      pooled.session.fail(fault);
    }
  }

  #begin(pooled: PooledSession, waiters: readonly WaitingRequest[], how: 'open' | 'ask'): void {
    const { session, lease } = pooled;
    const all = waiters.map((waiter): SessionCheck => {
      const { question, deadlineMs, greetByMs, transcript } = waiter.request;
      const done = contain(waiter.fail, (outcome: DialogueOutcome) => this.#done(pooled, waiter, outcome));
      const asked = { question, deadlineMs, greetByMs, transcript, done, failed: waiter.fail };
      const leave = () => session.cancel(asked);
      waiter.leave = leave;
      waiter.isAsked = true;
      return asked;
    });
    const [first] = waiters;
    if (first !== undefined) lease.passTo(first.request.tenant);
    session[how](all);
  }

  /** With whoever can be in the same transaction. */
  #batchFor(first: WaitingRequest, maxRequests: number): WaitingRequest[] {
    const room = Math.min(maxRequests, this.#perTransaction.get(learnedKey(first.request)) ?? maxRequests);
    if (room < 2) return [first];
    const busyUntilMs = this.#options.clock.elapsed() + this.#options.limits.commandMs;
    const others = this.#waiting.batchWith(first, room - 1, busyUntilMs);
    for (const waiter of others) waiter.leave();
    return [first, ...others];
  }

  /** Recipients in one session that an operator takes. */
  #most(asked: PoolRequest): number {
    return this.#recipients.get(learnedKey(asked)) ?? Number.POSITIVE_INFINITY;
  }

  #done(pooled: PooledSession, waiter: WaitingRequest, outcome: DialogueOutcome): void {
    const { session } = pooled;
    const { host, address, egress } = pooled.request;
    if (outcome.kind === 'failed' || outcome.finding === 'smtp_blocked') pooled.isSpent = true;
    this.#learn(pooled, waiter.request, outcome);
    this.#waiting.rotate(waiter.request);
    const isPostponed = outcome.kind === 'failed' && outcome.next === 'rejoin';
    const mayRejoin = !this.#closed && waiter.request.lastCall?.aborted !== true;
    if (isPostponed && mayRejoin && waiter.rejoined++ < MOST_REJOINED) {
      waiter.isAsked = false;
      this.#serve(waiter);
    } else waiter.settle({ outcome, host, address, egress, secure: session.secure });
  }

  /**
   * The next questions for a session that has answered all; without any it sends QUIT or stays idle for a moment.
   */
  #next(pooled: PooledSession) {
    const { session, lease } = pooled;
    const { operator, hosts } = pooled.request;
    const room = Math.min(session.room, this.#most(pooled.request) - session.takes.judged);
    if (pooled.isSpent || room < 1) return session.finish();
    const next = this.#waiting.next(hosts, lease);
    if (lease.isWantedMoreThanBy(next?.request.tenant ?? null)) return session.finish();
    if (next !== undefined) {
      next.leave();
      return this.#assign(pooled, next, room, 'ask');
    }
    // A second recipient comes from a list, which will bring more; after a single question the session ends.
    if (session.served < 2 || this.#idleCount >= this.#options.limits.idleSessions) return session.finish();
    const idle = this.#idle.get(operator) ?? new LinkedList<PooledSession>();
    if (idle.size === 0) this.#idle.set(operator, idle);
    pooled.idlePlace = idle.add(pooled);
    this.#idleCount++;
  }

  #learn({ session, lease }: PooledSession, asked: PoolRequest, outcome: DialogueOutcome): void {
    const key = learnedKey(asked);
    const classified = outcome.kind === 'answered' ? (outcome.probe?.classified ?? outcome.rcpt) : outcome.classified;
    if (outcome.kind === 'answered' && outcome.finding !== 'smtp_blocked') lease.answered();
    const { perTransaction, judged } = session.takes;
    if (perTransaction !== Number.POSITIVE_INFINITY) this.#perTransaction.set(key, perTransaction);
    if (classified === null) return;
    const { stage, reply, reading } = classified;
    // A greylisting 4.7.1 is about this pair of addresses and says nothing about speed.
    if (reading.finding !== 'greylisted' && (reply.code === 421 || reply.enhanced?.startsWith('4.7.'))) {
      lease.slowDown({ isOfDomain: reply.code !== 421 && (stage === 'rcpt' || stage === 'probe') });
    }
    // A server that takes no other transaction takes no more recipients either.
    const isUsedUp = outcome.kind === 'failed' && outcome.next === 'new_session';
    if (reading.finding !== 'reconnect' && !isUsedUp) return;
    this.#recipients.set(key, outcome.kind === 'answered' ? 1 : Math.max(1, judged));
  }

  #takeIdle(request: PoolRequest): PooledSession | undefined {
    const idle = this.#idle.get(request.operator);
    if (idle === undefined) return undefined;
    for (const { value: pooled } of idle) {
      if (pooled.request.hosts !== request.hosts) continue;
      this.#unidle(pooled);
      if (pooled.session.room > 0) return pooled;
      pooled.session.finish();
    }
    return undefined;
  }

  /** Ends an idle session of the operator or with the address, to free its place. */
  #makeRoom({ operator, address }: PoolRequest): void {
    for (const [owner, idle] of this.#idle) {
      for (const { value: pooled } of idle) {
        if (owner !== operator && pooled.request.address !== address) continue;
        this.#unidle(pooled);
        pooled.session.finish();
        return;
      }
    }
  }

  #unidle({ idlePlace, request: { operator } }: PooledSession): void {
    const idle = this.#idle.get(operator);
    if (idle === undefined || idlePlace === null || !idle.remove(idlePlace)) return;
    this.#idleCount--;
    if (idle.size === 0) this.#idle.delete(operator);
  }

  #forget(pooled: PooledSession): void {
    this.#sessions.remove(pooled.place);
    this.#unidle(pooled);
    const left = (this.#open.get(pooled.request.hosts) ?? 1) - 1;
    if (left > 0) this.#open.set(pooled.request.hosts, left);
    else this.#open.delete(pooled.request.hosts);
    pooled.lease.release();
  }
}

/** A question that waits for a session. */
interface WaitingRequest {
  readonly request: PoolRequest;
  readonly settle: (service: RequestResult) => void;
  /** Instead of `settle`, where a handler threw. */
  readonly fail: (fault: unknown) => void;
  leave: () => void;
  /** Its place among those that wait; null: it never waited. */
  place: Place<WaitingRequest> | null;
  /** A session has it. */
  isAsked: boolean;
  /** How often a session ended because of another recipient. */
  rejoined: number;
}

/** Waiters looked at for one transaction: those before may not fit. */
const EXAMINED_MAX = 100;

/** Questions wait here for a session, by set of hosts, and by tenant in rotation. */
class WaitingRequests {
  readonly #lines = new Map<string, Map<string, LinkedList<WaitingRequest>>>();

  add(waiter: WaitingRequest): void {
    const { hosts, tenant } = waiter.request;
    const waiting = this.#lines.get(hosts) ?? new Map<string, LinkedList<WaitingRequest>>();
    if (waiting.size === 0) this.#lines.set(hosts, waiting);
    const line = waiting.get(tenant) ?? new LinkedList<WaitingRequest>();
    if (line.size === 0) waiting.set(tenant, line);
    waiter.place = line.add(waiter);
  }

  remove(waiter: WaitingRequest): void {
    const { hosts, tenant } = waiter.request;
    const waiting = this.#lines.get(hosts);
    const line = waiting?.get(tenant);
    if (waiter.place === null || !line?.remove(waiter.place) || line.size > 0) return;
    waiting?.delete(tenant);
    if (waiting?.size === 0) this.#lines.delete(hosts);
  }

  /**
   * The first one of the tenant which has the fewest other dialogues with the address; then in rotation. Background
   * work comes last.
   */
  next(hosts: string, lease: DialogueLease): WaitingRequest | undefined {
    const waiting = this.#lines.get(hosts);
    if (waiting === undefined) return undefined;
    let next: WaitingRequest | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    const behindAll = SMTP_LIMITS.dialogues;
    for (const [tenant, { first }] of waiting) {
      const others = isBackground(tenant) ? behindAll + lease.othersOf(tenant) : lease.othersOf(tenant);
      if (others < fewest) [next, fewest] = [first?.value, others];
    }
    return next;
  }

  /** A tenant that was served goes to the end of the rotation. */
  rotate({ hosts, tenant }: PoolRequest): void {
    const waiting = this.#lines.get(hosts);
    const line = waiting?.get(tenant);
    if (waiting === undefined || line === undefined || waiting.size === 1) return;
    waiting.delete(tenant);
    waiting.set(tenant, line);
  }

  /**
   * Returns at most `maxRequests` others of its tenant that wait for the same hosts and can be in the same transaction.
   * Whoever has no time to wait for a slow reply about another recipient, until `busyUntilMs` (`Clock.elapsed()`), goes
   * alone.
   */
  batchWith({ request }: WaitingRequest, maxRequests: number, busyUntilMs: number): WaitingRequest[] {
    const { hosts, tenant, question, deadlineMs } = request;
    const batch: WaitingRequest[] = [];
    if (question.stage !== 'rcpt' || maxRequests < 1 || deadlineMs <= busyUntilMs) return batch;
    let looked = 0;
    for (const { value: waiter } of this.#lines.get(hosts)?.get(tenant) ?? []) {
      if (batch.length >= maxRequests || looked++ >= EXAMINED_MAX) break;
      const other = waiter.request;
      if (other === request || other.deadlineMs <= busyUntilMs || !fitsTransaction(other.question, question)) continue;
      batch.push(waiter);
    }
    return batch;
  }
}

const fitsTransaction = (a: RecipientQuestion, b: RecipientQuestion): boolean =>
  a.sender === b.sender && needsSmtputf8(a.path) === needsSmtputf8(b.path);
