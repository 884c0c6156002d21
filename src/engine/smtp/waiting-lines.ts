import { LinkedList, type Place } from '../../kernel/linked-list.ts';
import { needsSmtputf8 } from './commands.ts';
import type { DialogueSetup } from './events.ts';
import type { Lease } from './lease.ts';
import { SMTP_LIMITS } from './limits.ts';
import type { Outcome, Question } from './outcome.ts';
import type { Destination } from './routes.ts';
import { isBackground } from './tenants.ts';
import type { Transcript } from './transcript.ts';

/** The destination is dialled when no session is available. */
export interface PoolRequest extends Destination {
  /** The set of mail hosts, and the egress: requests with the same ones may share a session. */
  readonly hosts: string;
  /** Tenants share sessions and limits fairly. */
  readonly tenant: string;
  readonly tls: DialogueSetup['tls'];
  readonly read: DialogueSetup['read'];
  readonly question: Question;
  readonly transcript: Transcript;
  /** `Clock.elapsed()` ms: for the turn of this request, the answer, and connection and banner. */
  readonly startBy: number;
  readonly deadline: number;
  readonly greetBy: number;
  readonly signals: readonly AbortSignal[];
  /** Aborted: the request is canceled unless a session has it. */
  readonly lastCall: AbortSignal | undefined;
  /** Requires a new session. */
  readonly fresh: boolean;
}

export interface Served {
  readonly outcome: Outcome;
  readonly host: string;
  readonly address: string;
  readonly egress: string;
  readonly secure: boolean;
}
export type Service =
  | Served
  | {
      /** `address_blocked`: another address of the operator may be free. */
      readonly refused: 'blocked' | 'address_blocked' | 'late' | 'cancelled';
      readonly retryAfter: number | null;
    };

/** A question that waits for a session. */
export interface Waiter {
  readonly request: PoolRequest;
  readonly settle: (service: Service) => void;
  /** Instead of `settle`, where a handler threw. */
  readonly fail: (fault: unknown) => void;
  leave: () => void;
  /** Among those that wait; null: it never did. */
  place: Place<Waiter> | null;
  /** A session has it. */
  isAsked: boolean;
  /** How often a session ended because of another recipient. */
  rejoined: number;
}

/** Waiters looked at for one transaction: those before may not fit. */
const LOOKED_AT = 100;

/** Questions waiting for a session, by set of hosts, and by tenant in rotation. */
export class WaitingLines {
  readonly #lines = new Map<string, Map<string, LinkedList<Waiter>>>();

  add(waiter: Waiter): void {
    const { hosts, tenant } = waiter.request;
    const waiting = this.#lines.get(hosts) ?? new Map<string, LinkedList<Waiter>>();
    if (waiting.size === 0) this.#lines.set(hosts, waiting);
    const line = waiting.get(tenant) ?? new LinkedList<Waiter>();
    if (line.size === 0) waiting.set(tenant, line);
    waiter.place = line.add(waiter);
  }

  remove(waiter: Waiter): void {
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
  next(hosts: string, lease: Lease): Waiter | undefined {
    const waiting = this.#lines.get(hosts);
    if (waiting === undefined) return undefined;
    let next: Waiter | undefined;
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
   * At most `most` others of its tenant that wait for the same hosts and can be in the same transaction. Whoever has no
   * time to wait for a slow reply about another recipient, until `patience` (`Clock.elapsed()` ms), goes alone.
   */
  companyOf({ request }: Waiter, most: number, patience: number): Waiter[] {
    const { hosts, tenant, question, deadline } = request;
    const company: Waiter[] = [];
    if (question.stage !== 'rcpt' || most < 1 || deadline <= patience) return company;
    let looked = 0;
    for (const { value: waiter } of this.#lines.get(hosts)?.get(tenant) ?? []) {
      if (company.length >= most || looked++ >= LOOKED_AT) break;
      const other = waiter.request;
      if (other === request || other.deadline <= patience || !isAlike(other.question, question)) continue;
      company.push(waiter);
    }
    return company;
  }
}

const isAlike = (a: Question, b: Question): boolean =>
  a.sender === b.sender && needsSmtputf8(a.path) === needsSmtputf8(b.path);
