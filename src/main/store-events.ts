import type { Logger } from '../kernel/log.ts';
import type { StoreEvent } from '../store/store.ts';

const MESSAGES = {
  rate_window_restarted: "an account's rate window lay in the future, as the clock was set back; it began again",
  attempt_window_restarted: 'a limit on sign-in attempts lay in the future, as the clock was set back; it began again',
  thread_lost: 'a thread of the store ended; it is started again, and what it was doing was refused',
} as const satisfies Record<StoreEvent['kind'], string>;

export const logStoreEvents =
  (logger: Logger) =>
  ({ kind, ...about }: StoreEvent): void =>
    logger.warn(about, MESSAGES[kind]);
