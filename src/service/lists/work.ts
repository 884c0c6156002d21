import type { Clock } from '../../kernel/clock.ts';
import { LIST_LEASE_SECONDS } from '../../kernel/facts/lifetimes.ts';
import { LIST_ADDRESSES_IN_HAND, LIST_ADDRESSES_IN_HAND_EACH, LISTS_AT_ONCE } from '../../kernel/list-work.ts';
import type { Lists, RunningList, VerificationRecord } from '../../store/store.ts';
import type { ListOperators } from './operators.ts';
import { ListRun } from './run-list.ts';
import type { ListVerifier } from './verify-list.ts';

interface Parts {
  readonly clock: Clock;
  readonly lists: Lists;
  readonly verifier: ListVerifier;
  readonly operators: ListOperators;
  /** A result was recorded. */
  readonly onResult: (list: RunningList, record: VerificationRecord) => void;
  readonly failed: (error: unknown) => void;
}

export interface ListWorkService {
  /** Begins to work on lists that are running; to be called every second. */
  round(): Promise<void>;
  /** Gives back what is under way. */
  stop(): Promise<void>;
}

/** For which mail servers may still answer what they were asked when a list is paused. */
const ANSWERS_MS = 1_000;
/** A list gives way to one that waits after this long. */
const SPELL_MS = 10_000;

/** Works on lists of addresses in this process. */
export function createListWork({ clock, lists, verifier, operators, onResult, failed }: Parts): ListWorkService {
  /** Of this process, from its first list on. */
  let lease: string | null = null;
  const runs = new Map<string, { readonly run: ListRun; readonly began: number }>();
  let renewedAt = Number.NEGATIVE_INFINITY;
  let stopping = false;

  async function renew(): Promise<void> {
    const now = clock.elapsed();
    if (now - renewedAt < (LIST_LEASE_SECONDS * 1000) / 3) return;
    renewedAt = now;
    if (runs.size > 0 && lease !== null) await lists.renew(lease, LIST_LEASE_SECONDS * 1000);
  }

  function begin(list: RunningList, lease: string, most: number): void {
    const run = new ListRun({ clock, lists, verifier, operators, lease, onResult, failed }, list, most);
    runs.set(list.id, { run, began: clock.elapsed() });
    void run.ended.catch(failed).finally(() => runs.delete(list.id));
  }

  return {
    async round() {
      await renew();
      await operators.round();
      const running = await lists.running();
      const ids = new Set(running.map(({ id }) => id));
      // Paused, ended, or of a suspended account: thousands of its addresses may still wait for mail servers.
      for (const [id, { run }] of runs) if (!ids.has(id)) void run.stop(ANSWERS_MS).catch(failed);
      const waiting = inRotation(running).filter(({ id }) => !runs.has(id));
      if (waiting.length > 0) lease ??= await lists.newLease();
      if (stopping || lease === null) return;
      const most = Math.floor(LIST_ADDRESSES_IN_HAND / Math.min(LISTS_AT_ONCE, runs.size + waiting.length));
      const free = LISTS_AT_ONCE - runs.size;
      for (const list of waiting.slice(0, free)) begin(list, lease, Math.min(most, LIST_ADDRESSES_IN_HAND_EACH));
      if (waiting.length <= free) return;
      for (const { run, began } of runs.values()) if (clock.elapsed() - began > SPELL_MS) run.finish();
    },
    async stop() {
      stopping = true;
      await Promise.all(Array.from(runs.values(), ({ run }) => run.stop()));
      await operators.stop();
    },
  };
}

/** The first list of each account, then the second ones, and so on. */
function inRotation(lists: readonly RunningList[]): RunningList[] {
  const seen = new Map<string, number>();
  const ranked = lists.map((list) => {
    const rank = seen.get(list.account) ?? 0;
    seen.set(list.account, rank + 1);
    return { list, rank };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ list }) => list);
}
