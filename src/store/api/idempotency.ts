import type { AccountId } from './accounts.ts';
import type { Caller } from './keys.ts';

export interface IdempotencyRef {
  /** `POST /v1/verify`. */
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the request body, hex. */
  readonly fingerprint: string;
}
export interface StoredReply {
  readonly status: number;
  readonly body: string;
  /** `Location` and the like; small. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The reply to keep for an Idempotency-Key that admission reserved. A store writes it in the transaction of the change
 * that it reports, so that after a crash a repeated request finds either both or neither.
 */
export interface ReplyToStore<Outcome> {
  readonly ref: IdempotencyRef;
  /** Pure: a transaction may run more than once. Refusals that are outcomes of the change are stored likewise. */
  readonly replyTo: (outcome: Outcome) => StoredReply;
}

/** Replies of other routes than verify. Errors are stored for the key that admission reserved; they go with no change. */
export interface Idempotency {
  /**
   * The stored reply, for a key that nothing was reserved for: a body that is read as it arrives has its hash at its
   * end. Throws ApiError `idempotency_key_reused`.
   */
  find(account: AccountId, ref: IdempotencyRef): Promise<StoredReply | null>;
  finish(caller: Caller, ref: IdempotencyRef, reply: StoredReply): Promise<void>;
  /** Forgets a reservation (the reply was one that is not stored). */
  forget(caller: Caller, ref: IdempotencyRef): Promise<void>;
}
