import type { Page } from './accounts.ts';

/** Replies of mail servers of one kind, since the last time they were added. */
export interface UncertainReplyCount {
  readonly operator: string;
  readonly fingerprint: string;
  readonly code: number;
  readonly enhanced: string | null;
  /** Text without addresses, names, numbers and ids. */
  readonly template: string;
  /** How the last one was read. */
  readonly rule: string;
  readonly finding: string;
  readonly count: number;
}

export interface UncertainReplyRow extends UncertainReplyCount {
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** Replies that were read with low confidence, by operator and template. */
export interface UncertainReplies {
  /**
   * Adds to the stored counts. Of one operator, the UNCERTAIN_REPLIES_PER_OPERATOR most frequent kinds are kept; of
   * all, UNCERTAIN_REPLIES_MAX.
   */
  add(replies: readonly UncertainReplyCount[]): Promise<void>;
  /** The most frequent first. `unmatched`: only those that no rule matched. */
  list(query: { readonly unmatched: boolean; readonly limit: number }): Promise<Page<UncertainReplyRow>>;
}
