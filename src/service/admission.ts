import type { AccountId, AdmissionRequest, Caller, IdempotencyRef, Store, StoredReply } from '../store/store.ts';

export type { Admission, Caller, IdempotencyRef, RateWindow, StoredReply } from '../store/store.ts';

/** An admission request that is not for a verification. */
type RequestAdmission = Omit<AdmissionRequest, 'verify'>;

/** Replies of 401, 402, 403, 429 and 5xx are not stored. */
const isStorableStatus = (status: number): boolean => status < 500 && ![401, 402, 403, 429].includes(status);

/** It covers API keys, IP allowlists, rate limits and stored replies of an Idempotency-Key. */
export const createAdmissionService = (store: Pick<Store, 'charging' | 'idempotency'>) => ({
  admit: (request: RequestAdmission) => store.charging.admit({ ...request, verify: null }),
  /**
   * The stored reply for the key of a body that is read as it arrives. Throws ApiError `idempotency_key_reused`.
   */
  find: (account: AccountId, ref: IdempotencyRef) => store.idempotency.find(account, ref),
  /** Stores the reply to a request that changed nothing, or forgets its key if a retry may succeed. */
  async keep(caller: Caller, ref: IdempotencyRef, reply: StoredReply) {
    // The key belongs to another request that is in progress.
    if (reply.status === 409) return;
    await (isStorableStatus(reply.status)
      ? store.idempotency.finish(caller.accountId, ref, reply)
      : store.idempotency.forget(caller.accountId, ref));
  },
});

export type AdmissionService = ReturnType<typeof createAdmissionService>;
