/**
 * Numbers the distinct addresses of a list, from 1, in the order in which they first occur. Of each it keeps 96 bits of
 * SHA-256 in a table of open addressing, because a million texts would take ten times the memory; two addresses with the
 * same bits cannot be found in less than 2^48 tries, and would only share a result in their sender's own list.
 */
import { hash } from 'node:crypto';
import { duplicateKey } from '../../files/address-cell.ts';

const WORDS = 3;
const FIRST_SLOTS = 4096;

export class DistinctAddresses {
  #slots = FIRST_SLOTS;
  #keys = new Uint32Array(FIRST_SLOTS * WORDS);
  /** 0: free. */
  #numbers = new Uint32Array(FIRST_SLOTS);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number of the address, which is new if it equals `count` now and did not before. */
  number(address: string): number {
    const digest = hash('sha256', duplicateKey(address), 'buffer');
    const key: Key = [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8)];
    const slot = this.#find(key);
    const known = this.#numbers[slot] ?? 0;
    if (known > 0) return known;
    this.#count += 1;
    this.#put(slot, key, this.#count);
    if (this.#count * 2 > this.#slots) this.#grow();
    return this.#count;
  }

  /** Where the key is, or belongs. */
  #find([a, b, c]: Key): number {
    const last = this.#slots - 1;
    for (let slot = a & last; ; slot = (slot + 1) & last) {
      if (this.#numbers[slot] === 0) return slot;
      const at = slot * WORDS;
      if (this.#keys[at] === a && this.#keys[at + 1] === b && this.#keys[at + 2] === c) return slot;
    }
  }

  #put(slot: number, key: Key, number: number): void {
    this.#keys.set(key, slot * WORDS);
    this.#numbers[slot] = number;
  }

  #grow(): void {
    const [keys, numbers] = [this.#keys, this.#numbers];
    this.#slots *= 2;
    this.#keys = new Uint32Array(this.#slots * WORDS);
    this.#numbers = new Uint32Array(this.#slots);
    for (const [slot, number] of numbers.entries()) {
      if (number === 0) continue;
      const at = slot * WORDS;
      const key: Key = [keys[at] ?? 0, keys[at + 1] ?? 0, keys[at + 2] ?? 0];
      this.#put(this.#find(key), key, number);
    }
  }
}

type Key = readonly [number, number, number];
