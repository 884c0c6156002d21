/**
 * Sessions shared by the recipients of one set of mail hosts. A question goes to a session that has just become free,
 * or waits for a permit to dial (throttle.ts), whichever comes first; whoever else of its tenant waits for the same
 * hosts goes along, in one transaction. A session without a next question sends QUIT.
 */
import { LRUCache } from 'lru-cache';
import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import { contain } from '../../kernel/contain.ts';
import { LinkedList, type Place } from '../../kernel/linked-list.ts';
import { onAbort } from '../../kernel/on-abort.ts';
import type { Lease } from './lease.ts';
import type { SmtpLimits } from './limits.ts';
import type { Outcome } from './outcome.ts';
import { roomOf } from './recipients.ts';
import { type Asked, Session } from './session.ts';
import { accountOf } from './tenants.ts';
import type { Permit, Throttle } from './throttle.ts';
import { type PoolRequest, type Service, type Waiter, WaitingLines } from './waiting-lines.ts';

interface PoolOptions {
  readonly clock: Clock;
  readonly limits: SmtpLimits;
  readonly throttle: Throttle;
  readonly helo: string;
  readonly port: number;
  readonly mayDial: (address: string) => boolean;
}

interface Owned {
  readonly session: Session;
  readonly request: PoolRequest;
  readonly lease: Lease;
  /** Among all. */
  readonly place: Place<Session>;
  /** Among the idle ones; null: it never was. */
  idlePlace: Place<Owned> | null;
  /** The server failed, or rejects us: no further questions. */
  isSpent: boolean;
}

/** After so many sessions that ended because of another recipient, a question gets one of its own. */
const MOST_REJOINED = 2;
const LEARNED_OPERATORS = 2_000;
const LEARNED_MS = HOUR_MS;

const NOTHING_TO_LEAVE = () => {};

const learnedKey = ({ operator, tenant }: Pick<PoolRequest, 'operator' | 'tenant'>): string =>
  `${accountOf(tenant)}\n${operator}`;

export class Pool {
  readonly #options: PoolOptions;
  readonly #sessions = new LinkedList<Session>();
  /** Open sessions by set of hosts, and by operator those of them that are idle. */
  readonly #open = new Map<string, number>();
  readonly #idle = new Map<string, LinkedList<Owned>>();
  #idleCount = 0;
  #closed = false;
  readonly #waiting = new WaitingLines();
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
  ask(request: PoolRequest): Promise<Service> {
    return new Promise((resolve, reject) => {
      const { signals, lastCall } = request;
      const isAborted = lastCall?.aborted === true || signals.some(({ aborted }) => aborted);
      if (isAborted || this.#closed) return resolve({ refused: 'cancelled', retryAfter: null });
      const cancel = () => {
        waiter.leave();
        waiter.settle({ refused: 'cancelled', retryAfter: null });
      };
      const ignoreAbort: (() => void)[] = [];
      const settle = (service: Service) => {
        for (const ignore of ignoreAbort) ignore();
        resolve(service);
      };
      const fail = (fault: unknown) => {
        for (const ignore of ignoreAbort) ignore();
        reject(fault);
      };
      const waiter: Waiter = {
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

  #serve(waiter: Waiter) {
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
    // Not assigned directly: V8 allocates such a function among old objects, where it retains all that it refers to.
    waiter.leave = leave;
    this.#makeRoom(request);
  }

  #onPermit(waiter: Waiter, permit: Permit): void {
    this.#waiting.remove(waiter);
    if (permit.kind === 'go' && this.#closed) {
      permit.lease.release();
      waiter.settle({ refused: 'cancelled', retryAfter: null });
    } else if (permit.kind === 'go') {
      try {
        this.#dial(waiter, permit.lease);
      } catch (fault) {
        permit.lease.release();
        throw fault;
      }
    } else {
      const refused = permit.kind === 'blocked' && permit.by === 'address' ? 'address_blocked' : permit.kind;
      waiter.settle({ refused, retryAfter: permit.retryAfter });
    }
  }

  #dial(waiter: Waiter, lease: Lease): void {
    const { request } = waiter;
    const { host, address, tls, read } = request;
    const { clock, limits, helo, port, mayDial } = this.#options;
    const { bind: egress } = lease;
    const on = { idle: () => this.#next(owned), gone: () => this.#forget(owned) };
    const session = new Session({ host, address, port, egress, limits, clock, mayDial, on, helo, tls, read });
    const place = this.#sessions.add(session);
    const owned: Owned = { session, request, lease, place, idlePlace: null, isSpent: false };
    this.#open.set(request.hosts, (this.#open.get(request.hosts) ?? 0) + 1);
    const room = request.fresh ? 1 : Math.min(roomOf(limits, { sent: 0, judged: 0, refusals: 0 }), this.#most(request));
    this.#assign(owned, waiter, room, 'open');
  }

  /** With whoever can go along, `most` together. */
  #assign(owned: Owned, first: Waiter, most: number, how: 'open' | 'ask'): void {
    let waiters = [first];
    try {
      waiters = this.#withCompany(first, most);
      this.#begin(owned, waiters, how);
    } catch (fault) {
      for (const { fail } of waiters) fail(fault);
      owned.session.fail(fault);
    }
  }

  #begin(owned: Owned, waiters: readonly Waiter[], how: 'open' | 'ask'): void {
    const { session, lease } = owned;
    const all = waiters.map((waiter): Asked => {
      const { question, deadline, greetBy, transcript } = waiter.request;
      const done = contain(waiter.fail, (outcome: Outcome) => this.#done(owned, waiter, outcome));
      const asked = { question, deadline, greetBy, transcript, done, failed: waiter.fail };
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
  #withCompany(first: Waiter, most: number): Waiter[] {
    const room = Math.min(most, this.#perTransaction.get(learnedKey(first.request)) ?? most);
    if (room < 2) return [first];
    const patience = this.#options.clock.elapsed() + this.#options.limits.commandMs;
    const others = this.#waiting.companyOf(first, room - 1, patience);
    for (const waiter of others) waiter.leave();
    return [first, ...others];
  }

  /** Recipients in one session that an operator takes. */
  #most(asked: PoolRequest): number {
    return this.#recipients.get(learnedKey(asked)) ?? Number.POSITIVE_INFINITY;
  }

  #done(owned: Owned, waiter: Waiter, outcome: Outcome): void {
    const { session } = owned;
    const { host, address, egress } = owned.request;
    if (outcome.kind === 'failed' || outcome.finding === 'smtp_blocked') owned.isSpent = true;
    this.#learn(owned, waiter.request, outcome);
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
  #next(owned: Owned) {
    const { session, lease } = owned;
    const { operator, hosts } = owned.request;
    const room = Math.min(session.room, this.#most(owned.request) - session.takes.judged);
    if (owned.isSpent || room < 1) return session.finish();
    const next = this.#waiting.next(hosts, lease);
    if (lease.isWantedMoreThanBy(next?.request.tenant ?? null)) return session.finish();
    if (next !== undefined) {
      next.leave();
      return this.#assign(owned, next, room, 'ask');
    }
    // A second recipient comes from a list, which will bring more; after a single question the session ends.
    if (session.served < 2 || this.#idleCount >= this.#options.limits.idleSessions) return session.finish();
    const idle = this.#idle.get(operator) ?? new LinkedList<Owned>();
    if (idle.size === 0) this.#idle.set(operator, idle);
    owned.idlePlace = idle.add(owned);
    this.#idleCount++;
  }

  #learn({ session, lease }: Owned, asked: PoolRequest, outcome: Outcome): void {
    const key = learnedKey(asked);
    const heard = outcome.kind === 'answered' ? (outcome.probe?.heard ?? outcome.rcpt) : outcome.heard;
    if (outcome.kind === 'answered' && outcome.finding !== 'smtp_blocked') lease.answered();
    const { perTransaction, judged } = session.takes;
    if (perTransaction !== Number.POSITIVE_INFINITY) this.#perTransaction.set(key, perTransaction);
    if (heard === null) return;
    const { reply, reading } = heard;
    // A greylisting 4.7.1 is about this pair of addresses and says nothing about speed.
    if (reading.finding !== 'greylisted' && (reply.code === 421 || reply.enhanced?.startsWith('4.7.'))) {
      lease.slowDown();
    }
    // A server that takes no other transaction takes no more recipients either.
    const isUsedUp = outcome.kind === 'failed' && outcome.next === 'new_session';
    if (reading.finding !== 'reconnect' && !isUsedUp) return;
    this.#recipients.set(key, outcome.kind === 'answered' ? 1 : Math.max(1, judged));
  }

  #takeIdle(request: PoolRequest): Owned | undefined {
    const idle = this.#idle.get(request.operator);
    if (idle === undefined) return undefined;
    for (const { value: owned } of idle) {
      if (owned.request.hosts !== request.hosts) continue;
      this.#unidle(owned);
      if (owned.session.room > 0) return owned;
      owned.session.finish();
    }
    return undefined;
  }

  /** Ends an idle session of the operator or with the address, to free its place. */
  #makeRoom({ operator, address }: PoolRequest): void {
    for (const [owner, idle] of this.#idle) {
      for (const { value: owned } of idle) {
        if (owner !== operator && owned.request.address !== address) continue;
        this.#unidle(owned);
        owned.session.finish();
        return;
      }
    }
  }

  #unidle({ idlePlace, request: { operator } }: Owned): void {
    const idle = this.#idle.get(operator);
    if (idle === undefined || idlePlace === null || !idle.remove(idlePlace)) return;
    this.#idleCount--;
    if (idle.size === 0) this.#idle.delete(operator);
  }

  #forget(owned: Owned): void {
    this.#sessions.remove(owned.place);
    this.#unidle(owned);
    const left = (this.#open.get(owned.request.hosts) ?? 1) - 1;
    if (left > 0) this.#open.set(owned.request.hosts, left);
    else this.#open.delete(owned.request.hosts);
    owned.lease.release();
  }
}
