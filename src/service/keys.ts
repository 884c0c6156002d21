import { canonicalCidr } from '../engine/address/ip.ts';
import { Refusal } from '../kernel/errors.ts';
import { hashApiKey, newApiKey } from '../kernel/ids.ts';
import type { AccountId, Key, Keys } from '../store/store.ts';

export const NAME_MAX = 200;
const ALLOW_IPS_MAX = 200;

/** Makes a key. `value` is the only time the key itself is seen; the store keeps its hash. Throws Refusal. */
export async function createKey(
  keys: Keys,
  account: AccountId,
  input: { name: string; allowIps: readonly string[] },
): Promise<{ key: Key; value: string }> {
  const name = usableName(input.name);
  const allowIps = canonicalAllowlist(input.allowIps);
  const value = newApiKey();
  const key = await keys.create(account, { name, hash: hashApiKey(value), lastFour: value.slice(-4), allowIps });
  return { key, value };
}

/** A name of 1 to 200 characters, trimmed, without control characters. Throws Refusal. */
export function usableName(text: string): string {
  const name = text.trim();
  if (name.length > 0 && name.length <= NAME_MAX && !/\p{Cc}/u.test(name)) return name;
  throw new Refusal('invalid_parameter', `name must have 1 to ${NAME_MAX} characters and no control characters.`, {
    field: 'name',
  });
}

/** IPs and CIDRs in canonical form, each once. Throws Refusal. */
export function canonicalAllowlist(texts: readonly string[]): string[] {
  if (texts.length > ALLOW_IPS_MAX) {
    throw new Refusal('invalid_parameter', `A key takes at most ${ALLOW_IPS_MAX} allowed IPs and CIDRs.`, {
      field: 'allow_ip',
    });
  }
  const canonical = texts.map((text) => {
    const cidr = canonicalCidr(text.trim());
    if (cidr !== null) return cidr;
    throw new Refusal(
      'invalid_parameter',
      `${JSON.stringify(text)} is not an IP address or CIDR, such as 192.0.2.0/24.`,
      {
        field: 'allow_ip',
      },
    );
  });
  return [...new Set(canonical)];
}
