import { canonicalCidr } from '../engine/address/ip.ts';
import type { Clock } from '../kernel/clock.ts';
import { Refusal } from '../kernel/errors.ts';
import { hashApiKey, newApiKey } from '../kernel/ids.ts';
import type { AccountId, Actor, Key, Keys } from '../store/store.ts';
import { usableName } from './names.ts';

export type { Key };

const ALLOW_IPS_MAX = 200;
/** Nobody used it for this long: one to think about. */
const IDLE_MS = 90 * 86_400_000;

/** A key whose value is shown this once. */
export interface MadeKey {
  readonly key: Key;
  readonly value: string;
}

/** The keys of an account, for the people in it. Everything that is refused throws Refusal. */
export interface KeyService {
  /** Newest first, revoked ones last. */
  list(account: AccountId): Promise<Key[]>;
  create(account: AccountId, input: { name: string; allowIps: readonly string[] }, by: Actor): Promise<MadeKey>;
  change(
    account: AccountId,
    id: string,
    change: { name?: string | undefined; allowIps?: readonly string[] | undefined },
    by: Actor,
  ): Promise<Key>;
  /** `name`: the key's own, typed by whoever means this key and no other. */
  revoke(account: AccountId, id: string, name: string, by: Actor): Promise<Key>;
  /** A new key with the same settings; the old one is refused once the grace is over. */
  roll(account: AccountId, id: string, graceMs: number, by: Actor): Promise<MadeKey>;
}

export type KeyState = 'active' | 'expiring' | 'revoked';
export const stateOf = ({ revokedAt }: Key, now: number): KeyState =>
  revokedAt === null ? 'active' : revokedAt > now ? 'expiring' : 'revoked';

export type KeyNotice = 'never_used' | 'idle' | 'open_to_all';
/** What is worth a second look; nothing of a revoked key. */
export function noticesOf(key: Key, now: number): KeyNotice[] {
  if (stateOf(key, now) === 'revoked') return [];
  const notices: KeyNotice[] = [];
  if (key.lastUsedAt === null) notices.push('never_used');
  else if (key.lastUsedAt < now - IDLE_MS) notices.push('idle');
  if (key.allowIps.length === 0 || key.allowIps.some((block) => block.endsWith('/0'))) notices.push('open_to_all');
  return notices;
}

export function createKeyService(keys: Keys, clock: Clock): KeyService {
  async function keyOf(account: AccountId, id: string): Promise<Key> {
    const key = await keys.get(id);
    if (key?.accountId === account) return key;
    throw noKey();
  }

  return {
    async list(account) {
      const now = clock.now();
      const isRevoked = (key: Key) => (stateOf(key, now) === 'revoked' ? 1 : 0);
      return (await keys.list(account)).sort((a, b) => isRevoked(a) - isRevoked(b) || b.createdAt - a.createdAt);
    },

    create: (account, input, by) => createKey(keys, account, input, by),

    async change(account, id, { name, allowIps }, by) {
      const change = {
        ...(name === undefined ? {} : { name: usableName(name) }),
        ...(allowIps === undefined ? {} : { allowIps: canonicalAllowlist(allowIps) }),
      };
      const before = await keyOf(account, id);
      if (stateOf(before, clock.now()) === 'revoked')
        throw new Refusal('key_revoked', 'A revoked key stays as it was.');
      const key = await keys.update(account, id, change, by);
      if (key === null) throw noKey();
      return key;
    },

    async revoke(account, id, name, by) {
      const key = await keyOf(account, id);
      if (name !== key.name)
        throw new Refusal('confirmation_mismatch', 'That is not the name of the key. Nothing was revoked.', {
          field: 'name',
        });
      return (await keys.revoke(key.id, by)) ?? key;
    },

    async roll(account, id, graceMs, by) {
      const { name } = await keyOf(account, id);
      const value = newApiKey();
      const rolled = await keys.roll(account, id, { ...stored(value), graceMs }, by);
      if (rolled !== null) return { key: rolled.fresh, value };
      throw new Refusal('key_revoked', `${JSON.stringify(name)} is revoked, or about to be: make a new key instead.`);
    },
  };
}

const noKey = () => new Refusal('not_found', 'There is no such key in this account.');

/** All that is kept of a key's value. */
const stored = (value: string) => ({ hash: hashApiKey(value), lastFour: value.slice(-4) });

/** Makes a key. `value` is the only time the key itself is seen; the store keeps its hash. Throws Refusal. */
export async function createKey(
  keys: Keys,
  account: AccountId,
  input: { name: string; allowIps: readonly string[] },
  by?: Actor,
): Promise<MadeKey> {
  const name = usableName(input.name);
  const allowIps = canonicalAllowlist(input.allowIps);
  const value = newApiKey();
  const key = await keys.create(account, { name, ...stored(value), allowIps }, by);
  return { key, value };
}

/** IPs and CIDRs in canonical form, each once. Throws Refusal. */
export function canonicalAllowlist(texts: readonly string[]): string[] {
  if (texts.length > ALLOW_IPS_MAX) {
    throw new Refusal('invalid_parameter', `A key takes at most ${ALLOW_IPS_MAX} allowed IPs and CIDRs.`, {
      field: 'allow_ips',
    });
  }
  const canonical = texts.map((text) => {
    const cidr = canonicalCidr(text.trim());
    if (cidr !== null) return cidr;
    throw new Refusal(
      'invalid_parameter',
      `${JSON.stringify(text)} is not an IP address or CIDR, such as 192.0.2.0/24.`,
      { field: 'allow_ips' },
    );
  });
  return [...new Set(canonical)];
}
