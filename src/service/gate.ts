import type { AdmissionRequest, Caller, IdempotencyRef, Store, StoredReply } from '../store/store.ts';

export { canonicalIp, ipMatcher } from '../engine/address/ip.ts';
export type { Admission, Caller, IdempotencyRef, RateWindow, StoredReply } from '../store/store.ts';

/** A request as the gate sees it, whatever it asks for. */
export type Knock = Omit<AdmissionRequest, 'verify'>;

/** Who may come in: keys, allowlists, rate windows, and the replies kept for an Idempotency-Key. */
export interface Gate {
  admit(knock: Knock): ReturnType<Store['charging']['admit']>;
  /** Stores the reply under its key, or forgets the key where the same request may fare better later. */
  keep(caller: Caller, ref: IdempotencyRef, reply: StoredReply): Promise<void>;
}

/** Replies of 401, 402, 403, 429 and 5xx are not stored. */
const storable = (status: number): boolean => status < 500 && ![401, 402, 403, 429].includes(status);

export const createGate = (store: Pick<Store, 'charging' | 'idempotency'>): Gate => ({
  admit: (knock) => store.charging.admit({ ...knock, verify: null }),
  keep: (caller, ref, reply) =>
    storable(reply.status) ? store.idempotency.finish(caller, ref, reply) : store.idempotency.forget(caller, ref),
});
