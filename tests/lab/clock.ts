/** A clock that a test can put forward. */
import { type Clock, systemClock } from '../../src/kernel/clock.ts';

export function clockAhead(): { readonly clock: Clock; pass(ms: number): void } {
  let ahead = 0;
  return {
    clock: { now: () => systemClock.now() + ahead, elapsed: () => systemClock.elapsed() + ahead },
    pass(ms) {
      ahead += ms;
    },
  };
}
