/**
 * Sessions shared by the recipients of one set of mail hosts. A question goes to a session that has just become free,
 * or waits for a permit to dial (throttle.ts), whichever comes first; a session without a next question sends QUIT.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { DialogueSetup } from './events.ts';
import type { Lease } from './lease.ts';
import type { SmtpLimits } from './limits.ts';
import type { Outcome, Question } from './outcome.ts';
import type { Destination } from './routes.ts';
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

/** The destination is dialled when no session is available. */
interface PoolRequest extends Destination {
  /** The set of mail hosts: requests with the same set may share a session. */
  readonly hosts: string;
  /** Tenants share sessions and limits fairly. */
  readonly tenant: string;
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
  | {
      /** `address_blocked`: another address of the operator may be free. */
      readonly refused: 'blocked' | 'address_blocked' | 'late' | 'cancelled';
      readonly retryAfter: number | null;
    };

interface Waiter {
  readonly request: PoolRequest;
  readonly settle: (service: Service) => void;
  leave: () => void;
}
interface Owned {
  readonly request: PoolRequest;
  readonly lease: Lease;
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
  /** By set of hosts, and by tenant in rotation. */
  readonly #waiting = new Map<string, Map<string, Set<Waiter>>>();
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
    const { operator, host, address, tenant, deadline } = request;
    let granted = false;
    const withdraw = this.#options.throttle.acquire({
      ...{ operator, host, address, tenant, deadline },
      mayShare: !request.fresh && (this.#open.get(request.hosts) ?? 0) > 0,
      onPermit: (permit) => {
        granted = true;
        this.#dequeue(waiter);
        if (permit.kind === 'go' && this.#closed) {
          permit.lease.release();
          waiter.settle({ refused: 'cancelled', retryAfter: null });
        } else if (permit.kind === 'go') this.#dial(waiter, permit.lease);
        else {
          const refused = permit.kind === 'blocked' && permit.by === 'address' ? 'address_blocked' : permit.kind;
          waiter.settle({ refused, retryAfter: permit.retryAfter });
        }
      },
    });
    if (granted) return;
    if (!request.fresh) this.#enqueue(waiter);
    waiter.leave = () => {
      withdraw();
      this.#dequeue(waiter);
    };
    this.#makeRoom(request);
  }

  #dial(waiter: Waiter, lease: Lease): void {
    const { request } = waiter;
    const { host, address, tls, read } = request;
    const { clock, limits, helo, port, mayDial } = this.#options;
    const { egress } = lease;
    const onGone = (gone: Session) => this.#forget(gone);
    const session = new Session({ host, address, port, egress, limits, clock, mayDial, onGone, helo, tls, read });
    this.#sessions.set(session, { request, lease });
    this.#open.set(request.hosts, (this.#open.get(request.hosts) ?? 0) + 1);
    this.#assign(session, waiter, (asked) => session.open(asked));
  }

  #assign(session: Session, waiter: Waiter, put: (asked: Asked) => void): void {
    const { question, deadline, greetBy, transcript, tenant } = waiter.request;
    this.#sessions.get(session)?.lease.passTo(tenant);
    waiter.leave = () => session.finish();
    put({ question, deadline, greetBy, transcript, done: (outcome) => this.#done(session, waiter, outcome) });
  }

  #done(session: Session, waiter: Waiter, outcome: Outcome): void {
    const { host, address, egress } = session.setup;
    const served: Served = { outcome, host, address, egress, secure: session.secure };
    const owned = this.#sessions.get(session);
    if (owned !== undefined) {
      this.#learn(session, owned, outcome);
      this.#rotate(waiter.request);
      this.#next(session, owned, outcome);
    }
    waiter.settle(served);
  }

  /**
   * The next question for a session that has just answered one; without one it sends QUIT or stays idle for a moment.
   */
  #next(session: Session, { request, lease }: Owned, outcome: Outcome) {
    if (session.phase !== 'idle') return;
    const { operator, hosts } = request;
    const blocked = outcome.kind === 'failed' || outcome.finding === 'smtp_blocked';
    const most = this.#recipients.get(operator) ?? Number.POSITIVE_INFINITY;
    if (blocked || !session.reusable || session.recipients >= most) return session.finish();
    const next = this.#nextWaiter(hosts, lease);
    if (lease.isWantedMoreThanBy(next?.request.tenant ?? null)) return session.finish();
    if (next !== undefined) {
      next.leave();
      return this.#assign(session, next, (asked) => session.ask(asked));
    }
    // A second recipient comes from a list, which will bring more; after a single question the session ends.
    if (session.served < 2 || this.#idleCount >= this.#options.limits.idleSessions) return session.finish();
    this.#idle.set(operator, (this.#idle.get(operator) ?? new Set()).add(session));
    this.#idleCount++;
  }

  /** The first one of the tenant which has the fewest other dialogues with the address; then in rotation. */
  #nextWaiter(hosts: string, lease: Lease): Waiter | undefined {
    const waiting = this.#waiting.get(hosts);
    if (waiting === undefined) return undefined;
    let next: Waiter | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [tenant, [first]] of waiting) {
      const others = lease.othersOf(tenant);
      if (others < fewest) [next, fewest] = [first, others];
    }
    return next;
  }

  /** A tenant that was served goes to the end of the rotation. */
  #rotate({ hosts, tenant }: PoolRequest): void {
    const waiting = this.#waiting.get(hosts);
    const line = waiting?.get(tenant);
    if (line === undefined) return;
    waiting?.delete(tenant);
    waiting?.set(tenant, line);
  }

  #learn(session: Session, { request: { operator }, lease }: Owned, outcome: Outcome): void {
    const heard = outcome.kind === 'answered' ? (outcome.probe?.heard ?? outcome.rcpt) : outcome.heard;
    if (outcome.kind === 'answered' && outcome.finding !== 'smtp_blocked') lease.answered();
    if (heard === null) return;
    const { reply, reading } = heard;
    // A greylisting 4.7.1 is about this pair of addresses and says nothing about speed.
    if (reading.finding !== 'greylisted' && (reply.code === 421 || reply.enhanced?.startsWith('4.7.'))) {
      lease.slowDown();
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

  /** Ends an idle session of the operator or with the address, to free its place. */
  #makeRoom({ operator, address }: PoolRequest): void {
    for (const [owner, sessions] of this.#idle) {
      for (const session of sessions) {
        if (owner !== operator && session.setup.address !== address) continue;
        this.#unidle(session, owner);
        session.finish();
        return;
      }
    }
  }

  #unidle(session: Session, operator: string): void {
    const set = this.#idle.get(operator);
    if (!set?.delete(session)) return;
    this.#idleCount--;
    if (set.size === 0) this.#idle.delete(operator);
  }

  #enqueue(waiter: Waiter): void {
    const { hosts, tenant } = waiter.request;
    const waiting = this.#waiting.get(hosts) ?? new Map<string, Set<Waiter>>();
    this.#waiting.set(hosts, waiting.set(tenant, (waiting.get(tenant) ?? new Set()).add(waiter)));
  }

  #dequeue(waiter: Waiter): void {
    const { hosts, tenant } = waiter.request;
    const waiting = this.#waiting.get(hosts);
    const line = waiting?.get(tenant);
    if (!line?.delete(waiter) || line.size > 0) return;
    waiting?.delete(tenant);
    if (waiting?.size === 0) this.#waiting.delete(hosts);
  }

  #forget(session: Session): void {
    const owned = this.#sessions.get(session);
    if (owned === undefined) return;
    this.#sessions.delete(session);
    this.#unidle(session, owned.request.operator);
    const left = (this.#open.get(owned.request.hosts) ?? 1) - 1;
    if (left > 0) this.#open.set(owned.request.hosts, left);
    else this.#open.delete(owned.request.hosts);
    owned.lease.release();
  }
}
