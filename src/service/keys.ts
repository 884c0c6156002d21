import { type Clock, DAY_MS, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import {
  ALLOW_IPS,
  KEY_CLIENTS_SHOWN,
  KEY_IDLE_DAYS,
  KEY_SETTLING_DAYS,
  KEY_USAGE_DAYS,
  RECENT_DAYS,
} from '../kernel/facts/limits.ts';
import { KEY_NOTICES, type KeyNotice } from '../kernel/facts/notices.ts';
import type { UsageSource } from '../kernel/facts/outcomes.ts';
import type { KeyCondition } from '../kernel/facts/scopes.ts';
import { grouped } from '../kernel/format.ts';
import { hashApiKey, type KeyMode, newApiKey } from '../kernel/ids.ts';
import { canonicalCidr } from '../kernel/ip.ts';
import { budgetResetsAt, budgetUsed } from '../store/charge/budget.ts';
import type { AccountId, Actor, Key, KeyLimits, OwnedReply, Store } from '../store/store.ts';
import { parseKeyName } from './names.ts';

export type { Key };

/** `value` is the API key itself, which cannot be read again. */
export interface CreatedKey {
  readonly key: Key;
  readonly value: string;
}

/** Settings of a new key; what is absent does not limit it. */
export type NewKey = { readonly name: string; readonly allowIps: readonly string[] } & KeyLimits;

export function stateOf({ revokedAt, expiresAt }: Key, now: number): KeyCondition {
  if (revokedAt !== null && revokedAt <= now) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  return revokedAt === null ? 'active' : 'expiring';
}
const IS_USABLE: Readonly<Record<KeyCondition, boolean>> = {
  active: true,
  expiring: true,
  expired: false,
  revoked: false,
};
export const isUsable = (key: Key, now: number): boolean => IS_USABLE[stateOf(key, now)];

/** What a key with a budget has used of it, held credits included, and when the month ends; null without a budget. */
export function budgetOf({ budget }: Key, now: number): { credits: number; used: number; resetsAt: number } | null {
  if (budget === null) return null;
  const counters = { budgetMonth: budget.month, budgetSpent: budget.spent, budgetHeld: budget.held };
  return { credits: budget.credits, used: budgetUsed(counters, now), resetsAt: budgetResetsAt(counters, now) };
}

export const isOpenToAll = ({ allowIps }: Key): boolean =>
  allowIps.length === 0 || allowIps.some((block) => block.endsWith('/0'));

/** Null: the notice does not apply. Otherwise what it is about, which is not the same if it applies once more. */
const NOTICE_CAUSES: Readonly<Record<KeyNotice, (key: Key, now: number) => string | null>> = {
  never_used: ({ id, lastUsedAt, createdAt }, now) => (lastUsedAt === null && isSettled(createdAt, now) ? id : null),
  idle: ({ id, lastUsedAt }, now) =>
    lastUsedAt !== null && lastUsedAt < now - KEY_IDLE_DAYS * DAY_MS ? `${id} ${lastUsedAt}` : null,
  open_to_all: (key, now) => (isOpenToAll(key) && isSettled(key.createdAt, now) ? key.id : null),
  budget_spent(key, now) {
    const budget = budgetOf(key, now);
    return budget !== null && budget.used >= budget.credits ? `${key.id} ${budget.resetsAt}` : null;
  },
};
const isSettled = (createdAt: number, now: number): boolean => createdAt <= now - KEY_SETTLING_DAYS * DAY_MS;

/** What deserves attention; nothing for a key that is refused. */
export function noticesOf(key: Key, now: number): { notice: KeyNotice; cause: string }[] {
  const state = stateOf(key, now);
  if (state === 'revoked' || state === 'expired') return [];
  return KEY_NOTICES.flatMap((notice) => {
    const about = NOTICE_CAUSES[notice](key, now);
    return about === null ? [] : [{ notice, cause: `${notice} ${about}` }];
  });
}

type AccountKeyStore = Pick<Store, 'accounts' | 'keys'>;
type KeyPageStore = AccountKeyStore & Pick<Store, 'usage' | 'verifications' | 'rejectedRequests'>;

/** The API keys of an account, for its members. All methods throw ApiError. */
export function createKeyService(store: KeyPageStore, clock: Clock) {
  const { keys } = store;
  async function keyOf(account: AccountId, id: string): Promise<Key> {
    const key = await keys.get(id);
    if (key?.accountId === account) return key;
    throw noKey();
  }

  return {
    /** The newest comes first, and those that are revoked last. */
    async list(account: AccountId) {
      const now = clock.now();
      const isRevoked = (key: Key) => (stateOf(key, now) === 'revoked' ? 1 : 0);
      return (await keys.list(account)).sort((a, b) => isRevoked(a) - isRevoked(b) || b.createdAt - a.createdAt);
    },

    /** Returns it with the addresses that used it lately. */
    async get(account: AccountId, id: string) {
      const key = await keyOf(account, id);
      return {
        key,
        clients: await store.verifications.clients(account, id, clock.now() - RECENT_DAYS * DAY_MS, KEY_CLIENTS_SHOWN),
      };
    },

    /** Counts by day (UTC), over the last KEY_USAGE_DAYS. */
    async usage(account: AccountId, source: UsageSource | null) {
      const end = (Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS;
      const start = end - KEY_USAGE_DAYS * DAY_MS;
      const none = () => Array.from({ length: KEY_USAGE_DAYS }, () => 0);
      const rejected =
        source === 'list' ? new Map<string, number>() : await store.rejectedRequests.countByKey(account, start);
      const counts = new Map<string, number[]>([...rejected.keys()].map((id) => [id, none()]));
      for (const { keyId, at, requests } of await store.usage.keyDays(account, start, end, source)) {
        const mine = counts.get(keyId) ?? none();
        mine[(at - start) / DAY_MS] = requests;
        counts.set(keyId, mine);
      }
      return {
        days: Array.from({ length: KEY_USAGE_DAYS }, (_, i) => toIso(start + i * DAY_MS)),
        keys: [...counts].map(([key_id, requests]) => ({ key_id, requests, rejected: rejected.get(key_id) ?? 0 })),
      };
    },

    create: (account: AccountId, input: NewKey, by: Actor) => createKey(store, account, input, by),

    async change(
      account: AccountId,
      id: string,
      {
        name,
        allowIps,
        ...limits
      }: { name?: string | undefined; allowIps?: readonly string[] | undefined } & KeyLimits,
      by: Actor,
    ) {
      const change = {
        ...limits,
        ...(name === undefined ? {} : { name: parseKeyName(name) }),
        ...(allowIps === undefined ? {} : { allowIps: canonicalAllowlist(allowIps) }),
      };
      const before = await keyOf(account, id);
      if (stateOf(before, clock.now()) === 'revoked')
        throw new ApiError('key_revoked', 'A revoked key cannot be changed.');
      const key = await keys.update(account, id, change, by);
      if (key === null) throw noKey();
      return key;
    },

    /** `name`: the key's name, typed to confirm. */
    async revoke(account: AccountId, id: string, name: string, by: Actor) {
      const key = await keyOf(account, id);
      if (name !== key.name)
        throw new ApiError('confirmation_mismatch', 'The name does not match the key. Nothing was revoked.', {
          field: 'name',
        });
      return (await keys.revoke(key.id, by)) ?? key;
    },

    /** Creates a key with the same settings; the old one expires after the grace period. */
    async roll(account: AccountId, id: string, graceMs: number, by: Actor) {
      const key = await keyOf(account, id);
      const { name } = key;
      if (stateOf(key, clock.now()) === 'expired') throw new ApiError('key_expired');
      const value = newApiKey(modeOf(key));
      const rolled = await keys.roll(account, id, { ...storedForm(value), graceMs }, by);
      if (rolled !== null) return { key: rolled.fresh, value };
      throw new ApiError('key_revoked', `${JSON.stringify(name)} is revoked or expiring. Create a new key instead.`);
    },
  };
}

const noKey = () => new ApiError('not_found', 'There is no such key in this account.');

/** What the store keeps of an API key. */
const storedForm = (value: string) => ({ hash: hashApiKey(value), lastFour: value.slice(-4) });

/** A key that is known already, without limits. */
export const addKey = (store: Pick<Store, 'keys'>, account: AccountId, name: string, value: string): Promise<Key> =>
  store.keys.create(account, { name, ...storedForm(value), allowIps: [] });

/** Returns the mode of a key, or of the keys of an account. */
export const modeOf = ({ testOf }: { readonly testOf: AccountId | null }): KeyMode =>
  testOf === null ? 'live' : 'test';

/**
 * Creates a key, of test mode for a test account. The store keeps only a hash, so `value` cannot be read again. Throws
 * ApiError.
 */
export async function createKey(
  store: AccountKeyStore,
  account: AccountId,
  input: NewKey,
  by?: Actor,
  stored: OwnedReply<Key> | null = null,
): Promise<CreatedKey> {
  const name = parseKeyName(input.name);
  const allowIps = canonicalAllowlist(input.allowIps);
  const owner = await store.accounts.get(account);
  if (owner === null) throw new ApiError('not_found', 'There is no such account.');
  const value = newApiKey(modeOf(owner));
  const key = await store.keys.create(account, { ...input, name, ...storedForm(value), allowIps }, by, stored);
  return { key, value };
}

/** IP addresses and CIDR blocks in canonical form, without duplicates. Throws ApiError. */
export function canonicalAllowlist(texts: readonly string[]): string[] {
  if (texts.length > ALLOW_IPS.max) {
    throw new ApiError('invalid_parameter', `A key takes at most ${grouped(ALLOW_IPS.max)} allowed IPs and CIDRs.`, {
      field: 'allow_ips',
    });
  }
  const canonical = texts.map((text) => {
    const cidr = canonicalCidr(text.trim());
    if (cidr !== null) return cidr;
    throw new ApiError(
      'invalid_parameter',
      `${JSON.stringify(text)} is not an IP address or CIDR, such as 192.0.2.0/24.`,
      { field: 'allow_ips' },
    );
  });
  return [...new Set(canonical)];
}
