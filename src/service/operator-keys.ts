/** Keys of the operator API: made by operators, and checked with each request. */
import { toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { OPERATOR_SCOPES, type OperatorScope } from '../kernel/facts/scopes.ts';
import { hashApiKey, newOperatorKey, OPERATOR_KEY_PREFIX } from '../kernel/ids.ts';
import { ipMatcher } from '../kernel/ip.ts';
import type { Actor, IdempotencyRef, OperatorKey, Store, StoredReply } from '../store/store.ts';
import { canonicalAllowlist } from './keys.ts';
import { parseKeyName } from './names.ts';

export type { OperatorKey };

interface NewOperatorKey {
  readonly name: string;
  readonly allowIps: readonly string[];
  readonly scopes: readonly OperatorScope[];
  /** The time is by the store's clock, in ms. */
  readonly expiresAt: number;
}
/** `value` is the key itself, which cannot be read again. */
interface CreatedOperatorKey {
  readonly key: OperatorKey;
  readonly value: string;
}

type OperatorKeyStore = Pick<Store, 'operatorKeys' | 'idempotency'>;

/** All methods throw ApiError. */
export function createOperatorKeyService(store: OperatorKeyStore) {
  const { operatorKeys: keys, idempotency } = store;
  return {
    list: () => keys.list(),
    create: (input: NewOperatorKey, by: Actor) => createOperatorKey(store, input, by),

    async revoke(id: string, by: Actor) {
      const key = await keys.revoke(id, by);
      if (key === null) throw new ApiError('not_found', 'There is no such operator key.');
      return key;
    },

    /**
     * The key with this value, where it may be used now, from here and for this. Throws `invalid_api_key`,
     * `revoked_api_key`, `expired_api_key`, `ip_not_allowed`, `scope_missing`, in this order.
     */
    async admit(value: string, { ip, scope }: { readonly ip: string; readonly scope: OperatorScope }) {
      const found = await keys.find(hashApiKey(value));
      if (found === null) throw new ApiError('invalid_api_key');
      const { key, now } = found;
      if (key.revokedAt !== null) throw new ApiError('revoked_api_key');
      if (key.expiresAt <= now) {
        const expired_at = toIso(key.expiresAt);
        throw new ApiError('expired_api_key', `The operator key expired at ${expired_at}.`, { expired_at });
      }
      if (!ipMatcher(key.allowIps)(ip)) throw new ApiError('ip_not_allowed');
      if (!key.scopes.includes(scope)) {
        const message = `The operator key lacks the scope "${scope}", which this request needs.`;
        throw new ApiError('scope_missing', message, { scope });
      }
      await keys.recordUse(key.id, ip);
      return key;
    },

    /** The stored reply to an earlier request with this Idempotency-Key; null: it is reserved for this one. */
    reserve: (key: OperatorKey, ref: IdempotencyRef) => idempotency.reserve(key.id, ref),
    /** Stores the reply, or forgets the reservation where another attempt may end otherwise. */
    keep: (key: OperatorKey, ref: IdempotencyRef, reply: StoredReply) =>
      isFinal(reply.status) ? idempotency.finish(key.id, ref, reply) : idempotency.forget(key.id, ref),
  };
}

/** A conflict may be over when the request is repeated, and so may what is denied or fails. */
const isFinal = (status: number): boolean => status < 500 && ![401, 402, 403, 409, 429].includes(status);

/** Blocks that every address is in: as good as no allowlist. */
const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0/0', '::/0']);

/** Throws ApiError. */
export async function createOperatorKey(
  store: Pick<Store, 'operatorKeys'>,
  { name, allowIps, scopes, expiresAt }: NewOperatorKey,
  by: Actor,
): Promise<CreatedOperatorKey> {
  const allowed = canonicalAllowlist(allowIps);
  if (allowed.length === 0 || allowed.some((block) => EVERYWHERE.has(block))) {
    const message = 'An operator key needs the IP addresses and CIDRs that may use it, and not all there are.';
    throw new ApiError('invalid_parameter', message, { field: 'allow_ips' });
  }
  const value = newOperatorKey();
  const input = {
    name: parseKeyName(name),
    allowIps: allowed,
    expiresAt,
    scopes: OPERATOR_SCOPES.filter((scope) => scopes.includes(scope)),
    hash: hashApiKey(value),
    lastFour: value.slice(-4),
  };
  return { key: await store.operatorKeys.create(input, by), value };
}

/** Shows all of a key that is ever shown again. */
export const shownOperatorKey = ({ lastFour }: OperatorKey): string => `${OPERATOR_KEY_PREFIX}…${lastFour}`;
