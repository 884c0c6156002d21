import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';

const DAY_MS = 86_400_000;

/** One round of what has to be done now and then. Answers how many holds of ended processes were given back. */
export async function upkeep(store: Store, clock: Clock, retentionDays: number): Promise<{ released: number }> {
  const released = await store.upkeep.releaseDead();
  await store.upkeep.purge(clock.now() - retentionDays * DAY_MS);
  return { released };
}
