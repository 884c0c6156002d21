import type { Clock } from '../../kernel/clock.ts';
import { LIST_LEASE_SECONDS } from '../../kernel/facts/lifetimes.ts';
import type { OperatorLeases } from '../../store/store.ts';

/** Mail operators of other nodes that are remembered, and the longest name of one. */
const LIST_OPERATORS_OF_OTHERS = 1_000;

/**
 * The mail operators whose mailboxes this process checks for lists. Several nodes on one store take different
 * operators: recipients of one operator share sessions, and nobody sees connections of all nodes at once.
 */
export interface ListOperators {
  /** Whether this process checks the operator's mailboxes; if so, `leave` follows. Never rejects. */
  enter(operator: string): Promise<boolean>;
  leave(operator: string): void;
  /** Operators that other nodes have, as far as known. */
  others(): readonly string[];
  /** Renews leases, and ends those that are not used any more; to be called every second. */
  round(): Promise<void>;
  /** Ends all leases. */
  stop(): Promise<void>;
}

interface ListOperatorsParts {
  readonly clock: Clock;
  readonly leases: OperatorLeases;
  /** Names the node of this process. */
  readonly node: string;
  readonly failed: (error: unknown) => void;
}

interface HeldOperator {
  /** Counts mailbox checks under way. */
  checks: number;
  /** The lease ends at this time of `Clock.elapsed()`. */
  untilMs: number;
  usedAt: number;
}

const LEASE_MS = LIST_LEASE_SECONDS * 1000;
const RENEW_MS = LEASE_MS / 3;
const LEASE_LOOK_MS = 2_000;
/** An operator is kept for so long after its last check: longer than its sessions stay idle. */
const OPERATOR_KEPT_MS = 5_000;

export function createListOperators({ clock, leases, node, failed }: ListOperatorsParts): ListOperators {
  const held = new Map<string, HeldOperator>();
  const others = new Set<string>();
  let wanted = new Map<string, PromiseWithResolvers<boolean>>();
  let taking: Promise<void> | null = null;
  /** One statement at a time, so that a lease which has just been taken is not ended by an earlier decision. */
  let statements: Promise<unknown> = Promise.resolve();
  let [renewedAt, lookedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  function oneAtATime<T>(statement: () => Promise<T>): Promise<T> {
    const result = statements.then(statement);
    statements = result.catch(() => undefined);
    return result;
  }

  /** Takes what is wanted; whoever comes meanwhile is in the next statement. */
  async function takeWanted(): Promise<void> {
    while (wanted.size > 0) {
      const asked = wanted;
      wanted = new Map();
      const taken = await oneAtATime(() => take([...asked.keys()]));
      for (const [operator, { resolve }] of asked) resolve(taken.has(operator));
    }
  }

  async function take(operators: readonly string[]): Promise<ReadonlySet<string>> {
    const began = clock.elapsed();
    try {
      const taken = new Set(await leases.take(node, operators, LEASE_MS));
      for (const operator of operators) {
        const known = held.get(operator);
        if (taken.has(operator)) {
          // Not from now: the store's lease must not end first.
          const untilMs = began + LEASE_MS;
          if (known !== undefined) known.untilMs = untilMs;
          else held.set(operator, { checks: 0, untilMs, usedAt: began });
          others.delete(operator);
        } else {
          if (known !== undefined) known.untilMs = began;
          if (others.size < LIST_OPERATORS_OF_OTHERS) others.add(operator);
        }
      }
      return taken;
    } catch (error) {
      failed(error);
      return new Set();
    }
  }

  /** Counts a check if the lease holds. */
  function begin(operator: string): boolean {
    const lease = held.get(operator);
    if (lease === undefined || lease.untilMs <= clock.elapsed()) return false;
    lease.checks++;
    return true;
  }

  async function endUnused(now: number): Promise<void> {
    const unused: string[] = [];
    for (const [operator, { checks, usedAt }] of held)
      if (checks === 0 && now - usedAt >= OPERATOR_KEPT_MS) unused.push(operator);
    for (const operator of unused) held.delete(operator);
    if (unused.length > 0) await leases.release(node, unused);
  }

  return {
    async enter(operator) {
      if (begin(operator)) return true;
      if (others.has(operator)) return false;
      const waiting = wanted.get(operator) ?? Promise.withResolvers<boolean>();
      wanted.set(operator, waiting);
      taking ??= takeWanted().finally(() => {
        taking = null;
      });
      return (await waiting.promise) && begin(operator);
    },
    leave(operator) {
      const lease = held.get(operator);
      if (lease === undefined) return;
      lease.checks--;
      lease.usedAt = clock.elapsed();
    },
    others: () => [...others],
    async round() {
      const now = clock.elapsed();
      if (now - lookedAt < LEASE_LOOK_MS) return;
      lookedAt = now;
      await oneAtATime(() => endUnused(now));
      if (now - renewedAt >= RENEW_MS && held.size > 0) {
        renewedAt = now;
        await oneAtATime(() => take([...held.keys()]));
      }
      if (others.size === 0) return;
      const still = new Set(await leases.ofOthers(node, [...others]));
      for (const operator of others) if (!still.has(operator)) others.delete(operator);
    },
    async stop() {
      await taking;
      const all = [...held.keys()];
      held.clear();
      if (all.length > 0) await oneAtATime(() => leases.release(node, all)).catch(failed);
    },
  };
}

/** Where one process does all the work, it has every operator. */
export const ALL_OPERATORS: ListOperators = {
  enter: () => Promise.resolve(true),
  leave: () => {},
  others: () => [],
  round: () => Promise.resolve(),
  stop: () => Promise.resolve(),
};
