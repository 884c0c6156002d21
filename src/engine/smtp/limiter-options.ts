/** What a limiter is made of, and what metrics show of it. */
import type { Clock } from '../../kernel/clock.ts';
import type { Share } from './shared-pace.ts';

export interface LimiterSetup {
  readonly clock: Clock;
  /** Dialogues open at once. */
  readonly most: number;
  /** Dialogues begun per second; 0 = no bound. */
  readonly rate: number;
  /** 0 = the breaker never opens. */
  readonly breakerSeconds: number;
  /**
   * One dialogue more than `most` may be open, for the queue whose turn it is. Without that, a queue which waits for
   * two limiters could miss the moments at which each has room, forever.
   */
  readonly isSoft?: boolean;
  /** This process's part of it all; null: all. */
  readonly share: Share | null;
}

/** For metrics. */
export interface LimiterUse {
  /** Dialogues. */
  readonly open: number;
  /** Dialogues begun so far. */
  readonly begun: number;
  /** Requests. */
  readonly waiting: number;
  readonly breaker: 'closed' | 'open' | 'half_open';
  /** The rate relative to what it is without complaints. */
  readonly pace: number;
}
