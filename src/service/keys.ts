import { canonicalCidr } from '../engine/address/ip.ts';
import { Refusal } from '../kernel/errors.ts';
import { hashApiKey, newApiKey } from '../kernel/ids.ts';
import type { AccountId, Key, Keys } from '../store/store.ts';
import { usableName } from './names.ts';

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
