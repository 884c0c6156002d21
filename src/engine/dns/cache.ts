/** Answers by name and type, until their TTL expires. Failures are never cached. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { DnsAnswer, RecordType } from './records.ts';

interface Kept {
  readonly answer: DnsAnswer;
  /** Clock.elapsed() ms. */
  readonly until: number;
}

interface Cache {
  get(name: string, type: RecordType): DnsAnswer | undefined;
  set(name: string, type: RecordType, answer: DnsAnswer): void;
  /** Number of names. */
  readonly size: number;
  clear(): void;
}

/**
 * An LRU of at most `names` names. One entry holds all types of a name, each with its own expiry: a lookup, of which
 * every verification does several, needs no concatenated key.
 */
export function createCache(names: number, clock: Clock): Cache {
  // Created with the first answer: it allocates its whole capacity, which would slow every start.
  let lru: LRUCache<string, Map<RecordType, Kept>> | null = null;
  return {
    get(name, type) {
      const kept = lru?.get(name)?.get(type);
      return kept && clock.elapsed() < kept.until ? kept.answer : undefined;
    },
    set(name, type, answer) {
      if (!('ttl' in answer)) return;
      const until = clock.elapsed() + answer.ttl * 1000;
      lru ??= new LRUCache({ max: names });
      const types = lru.get(name);
      if (types) types.set(type, { answer, until });
      else lru.set(name, new Map([[type, { answer, until }]]));
    },
    get size() {
      return lru?.size ?? 0;
    },
    clear: () => lru?.clear(),
  };
}
