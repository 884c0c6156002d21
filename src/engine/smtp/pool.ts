/**
 * Sessions shared by the recipients of one set of mail hosts. A question goes to a session that has just become free,
 * or waits for a permit to dial (throttle.ts), whichever comes first; a session without a next question sends QUIT.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { DialogueSetup } from './events.ts';
import type { SmtpLimits } from './limits.ts';
import type { Outcome, Question } from './outcome.ts';
import { type Asked, Session } from './session.ts';
import type { Throttle } from './throttle.ts';
import type { Transcript } from './transcript.ts';

interface PoolOptions {
  readonly clock: Clock;
  readonly limits: SmtpLimits;
  readonly throttle: Throttle;
  readonly helo: string;
  readonly port: number;
  readonly mayDial: (address: string) => boolean;
}

interface PoolRequest {
  /** The set of mail hosts: requests with the same set may share a session. */
  readonly hosts: string;
  readonly operator: string;
  /** Dialled when no session is available. */
  readonly host: string;
  readonly address: string;
  readonly family: 4 | 6;
  readonly tls: DialogueSetup['tls'];
  readonly read: DialogueSetup['read'];
  readonly question: Question;
  readonly transcript: Transcript;
  /** `Clock.elapsed()` ms: for the answer, and for connection and banner. */
  readonly deadline: number;
  readonly greetBy: number;
  readonly signal: AbortSignal | undefined;
  /** Requires a new session. */
  readonly fresh: boolean;
}

export interface Served {
  readonly outcome: Outcome;
  readonly host: string;
  readonly address: string;
  readonly egress: string | null;
  readonly secure: boolean;
}
export type Service =
  | Served
  | { readonly refused: 'blocked' | 'late' | 'cancelled'; readonly retryAfter: number | null };

interface Waiter {
  readonly request: PoolRequest;
  readonly settle: (service: Service) => void;
  leave: () => void;
}
interface Owned {
  readonly request: PoolRequest;
  readonly egress: string | null;
  readonly release: () => void;
}

const LEARNED_OPERATORS = 2_000;
const LEARNED_MS = 3_600_000;

export class Pool {
  readonly #options: PoolOptions;
  readonly #sessions = new Map<Session, Owned>();
  /** Open sessions by set of hosts, and by operator those of them that are idle. */
  readonly #open = new Map<string, number>();
  readonly #idle = new Map<string, Set<Session>>();
  #idleCount = 0;
  #closed = false;
  readonly #waiting = new Map<string, Set<Waiter>>();
  /** Recipients per session that an operator allows, learned from "too many recipients". */
  readonly #recipients: LRUCache<string, number>;

  constructor(options: PoolOptions) {
    this.#options = options;
    const perf = { now: () => options.clock.elapsed() };
    this.#recipients = new LRUCache({ max: LEARNED_OPERATORS, ttl: LEARNED_MS, perf });
  }

  /** Whether the operator is known to allow one recipient per session. */
  takesOneRecipient(operator: string): boolean {
    return this.#recipients.get(operator) === 1;
  }

  get sessions(): { open: number; idle: number } {
    return { open: this.#sessions.size, idle: this.#idleCount };
  }

  ask(request: PoolRequest): Promise<Service> {
    return new Promise((resolve) => {
      const { signal } = request;
      if (signal?.aborted || this.#closed) return resolve({ refused: 'cancelled', retryAfter: null });
      const onAbort = () => {
        waiter.leave();
        resolve({ refused: 'cancelled', retryAfter: null });
      };
      const waiter: Waiter = {
        request,
        leave: () => {},
        settle: (service) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(service);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#serve(waiter);
    });
  }

  /** Ends every session with QUIT; busy ones are cancelled, and no new one is opened. */
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions.keys()) session.finish();
  }

  #serve(waiter: Waiter) {
    const { request } = waiter;
    const idle = request.fresh ? undefined : this.#takeIdle(request);
    if (idle !== undefined) return this.#assign(idle, waiter, (asked) => idle.ask(asked));
    this.#makeRoom(request.operator);
    let granted = false;
    const withdraw = this.#options.throttle.acquire({
      operator: request.operator,
      host: request.host,
      family: request.family,
      deadline: request.deadline,
      mayShare: !request.fresh && (this.#open.get(request.hosts) ?? 0) > 0,
      onPermit: (permit) => {
        granted = true;
        this.#dequeue(waiter);
        if (permit.kind === 'go' && this.#closed) {
          permit.release();
          waiter.settle({ refused: 'cancelled', retryAfter: null });
        } else if (permit.kind === 'go') this.#dial(waiter, permit.egress, permit.release);
        else waiter.settle({ refused: permit.kind, retryAfter: permit.retryAfter });
      },
    });
    if (granted) return;
    if (!request.fresh) this.#waitersFor(request.hosts).add(waiter);
    waiter.leave = () => {
      withdraw();
      this.#dequeue(waiter);
    };
  }

  #dial(waiter: Waiter, egress: string | null, release: () => void): void {
    const { request } = waiter;
    const { host, address, tls, read } = request;
    const { clock, limits, helo, port, mayDial } = this.#options;
    const onGone = (gone: Session) => this.#forget(gone);
    const session = new Session({ host, address, port, egress, limits, clock, mayDial, onGone, helo, tls, read });
    this.#sessions.set(session, { request, egress, release });
    this.#open.set(request.hosts, (this.#open.get(request.hosts) ?? 0) + 1);
    this.#assign(session, waiter, (asked) => session.open(asked));
  }

  #assign(session: Session, waiter: Waiter, put: (asked: Asked) => void): void {
    const { question, deadline, greetBy, transcript } = waiter.request;
    waiter.leave = () => session.finish();
    put({ question, deadline, greetBy, transcript, done: (outcome) => this.#done(session, waiter, outcome) });
  }

  #done(session: Session, waiter: Waiter, outcome: Outcome): void {
    const { host, address, egress } = session.setup;
    const served: Served = { outcome, host, address, egress, secure: session.secure };
    this.#learn(session, waiter.request.operator, outcome, egress);
    this.#next(session, outcome);
    waiter.settle(served);
  }

  /**
   * The next question for a session that has just answered one; without one it sends QUIT or stays idle for a moment.
   */
  #next(session: Session, outcome: Outcome) {
    if (session.phase !== 'idle') return;
    const owned = this.#sessions.get(session);
    const blocked = outcome.kind === 'failed' || outcome.finding === 'smtp_blocked';
    const most = this.#recipients.get(owned?.request.operator ?? '') ?? Number.POSITIVE_INFINITY;
    if (owned === undefined || blocked || !session.reusable || session.recipients >= most) return session.finish();
    const next = this.#waiting.get(owned.request.hosts)?.values().next().value;
    if (next !== undefined) {
      next.leave();
      return this.#assign(session, next, (asked) => session.ask(asked));
    }
    // A second recipient comes from a list, which will bring more; after a single question the session ends.
    if (session.served < 2 || this.#idleCount >= this.#options.limits.idleSessions) return session.finish();
    const { operator } = owned.request;
    this.#idle.set(operator, (this.#idle.get(operator) ?? new Set()).add(session));
    this.#idleCount++;
  }

  #learn(session: Session, operator: string, outcome: Outcome, egress: string | null): void {
    const { throttle } = this.#options;
    const heard = outcome.kind === 'answered' ? (outcome.probe?.heard ?? outcome.rcpt) : outcome.heard;
    if (outcome.kind === 'answered' && outcome.finding !== 'smtp_blocked') throttle.answered(operator, egress);
    if (heard === null) return;
    const { reply, reading } = heard;
    // A greylisting 4.7.1 is about this pair of addresses and says nothing about speed.
    if (reading.finding !== 'greylisted' && (reply.code === 421 || reply.enhanced?.startsWith('4.7.'))) {
      throttle.slowDown(operator, egress);
    }
    if (reading.finding !== 'reconnect') return;
    this.#recipients.set(operator, outcome.kind === 'answered' ? 1 : Math.max(1, session.recipients - 1));
  }

  #takeIdle(request: PoolRequest): Session | undefined {
    for (const session of this.#idle.get(request.operator) ?? []) {
      if (this.#sessions.get(session)?.request.hosts !== request.hosts) continue;
      this.#unidle(session, request.operator);
      if (session.reusable) return session;
      session.finish();
    }
    return undefined;
  }

  /** Ends an idle session of the operator, to free its slot. */
  #makeRoom(operator: string): void {
    const [idle] = this.#idle.get(operator) ?? [];
    if (idle === undefined) return;
    this.#unidle(idle, operator);
    idle.finish();
  }

  #unidle(session: Session, operator: string): void {
    const set = this.#idle.get(operator);
    if (!set?.delete(session)) return;
    this.#idleCount--;
    if (set.size === 0) this.#idle.delete(operator);
  }

  #waitersFor(hosts: string): Set<Waiter> {
    const waiters = this.#waiting.get(hosts) ?? new Set();
    this.#waiting.set(hosts, waiters);
    return waiters;
  }

  #dequeue(waiter: Waiter): void {
    const { hosts } = waiter.request;
    const waiters = this.#waiting.get(hosts);
    if (waiters?.delete(waiter) && waiters.size === 0) this.#waiting.delete(hosts);
  }

  #forget(session: Session): void {
    const owned = this.#sessions.get(session);
    if (owned === undefined) return;
    this.#sessions.delete(session);
    this.#unidle(session, owned.request.operator);
    const left = (this.#open.get(owned.request.hosts) ?? 1) - 1;
    if (left > 0) this.#open.set(owned.request.hosts, left);
    else this.#open.delete(owned.request.hosts);
    owned.release();
  }
}
