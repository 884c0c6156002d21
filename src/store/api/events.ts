import type { AccountId } from './accounts.ts';

/** What the store did that an operator should hear of. */
export type StoreEvent =
  /** The account's rate window was `aheadMs` ahead, as the clock had been, and began again. */
  | { readonly kind: 'rate_window_restarted'; readonly account: AccountId; readonly aheadMs: number }
  /** The same for a limit on attempts to sign in. */
  | { readonly kind: 'attempt_window_restarted' }
  /** A thread of a SQLite store ended. The next call starts it again. */
  | { readonly kind: 'thread_lost'; readonly cause: string };
