/** Answers by name and type, until their TTL expires. Failures are never cached. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { DnsAnswer, RecordType } from './records.ts';

interface Kept {
  answer: DnsAnswer;
  /** Clock.elapsed() ms. */
  until: number;
  readonly type: RecordType;
  /** Of another type. */
  readonly next: Kept | null;
}

interface Cache {
  get(name: string, type: RecordType): DnsAnswer | undefined;
  set(name: string, type: RecordType, answer: DnsAnswer): void;
  /** Number of names. */
  readonly size: number;
  clear(): void;
}

function find(first: Kept | null | undefined, type: RecordType): Kept | null {
  for (let kept = first ?? null; kept !== null; kept = kept.next) if (kept.type === type) return kept;
  return null;
}

/**
 * An LRU of at most `names` names. One entry holds all types of a name, each with its own expiry: a lookup, of which
 * every verification does several, needs no concatenated key. The types, of which most names have one or two, are a
 * linked list: a Map for each name would be most of the memory.
 */
export function createCache(names: number, clock: Clock): Cache {
  // Created with the first answer: it allocates its whole capacity, which would slow every start.
  let lru: LRUCache<string, Kept> | null = null;
  return {
    get(name, type) {
      const kept = find(lru?.get(name), type);
      return kept && clock.elapsed() < kept.until ? kept.answer : undefined;
    },
    set(name, type, answer) {
      if (!('ttl' in answer)) return;
      const until = clock.elapsed() + answer.ttl * 1000;
      lru ??= new LRUCache({ max: names });
      const first = lru.get(name) ?? null;
      const known = find(first, type);
      if (known) [known.answer, known.until] = [answer, until];
      else lru.set(name, { answer, until, type, next: first });
    },
    get size() {
      return lru?.size ?? 0;
    },
    clear: () => lru?.clear(),
  };
}
