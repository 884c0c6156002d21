/**
 * Bloom filters of the addresses of accounts: 8 KB for the 4,096 rows of a block of the log. Of an address that a block
 * does not have, its filter says so in 998 of 1,000 cases.
 */
const FILTER_BYTES = 8 * 1024;
const FILTER_MASK = 8 * FILTER_BYTES - 1;
const PROBES = 4;
/** Characters that count; longer addresses differ in them, or are looked up once too often. */
const HASHED_LENGTH = 200;

/** Two hashes of an account's address, of which the places of its bits are made. */
export function hashOf(account: string, address: string): readonly [number, number] {
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  const text = `${account}\n${address.slice(0, HASHED_LENGTH)}`;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 15);
  }
  return [a ^ (a >>> 16), (b ^ (b >>> 13)) | 1];
}

const bitAt = ([a, b]: readonly [number, number], probe: number): number => (a + Math.imul(b, probe)) & FILTER_MASK;

export function mayHave(filter: Uint8Array, hash: readonly [number, number]): boolean {
  for (let probe = 0; probe < PROBES; probe += 1) {
    const bit = bitAt(hash, probe);
    if (((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Defines the aggregate function `mailvet_address_filter` of SQLite, over accounts and indexed addresses. */
export const ADDRESS_FILTER = {
  start: () => new Uint8Array(FILTER_BYTES),
  step(filter: Uint8Array, account: unknown, address: unknown) {
    const hash = hashOf(String(account), String(address));
    for (let probe = 0; probe < PROBES; probe += 1) {
      const bit = bitAt(hash, probe);
      filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
    return filter;
  },
};
