/** Answers by name and type, until their time is over. Failures are never kept. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { DnsAnswer, RecordType } from './records.ts';

interface Kept {
  readonly answer: DnsAnswer;
  /** Clock.elapsed() ms. */
  readonly until: number;
}

export interface Cache {
  get(name: string, type: RecordType): DnsAnswer | undefined;
  set(name: string, type: RecordType, answer: DnsAnswer): void;
  /** Names held. */
  readonly size: number;
  clear(): void;
}

/**
 * Holds at most `names` names, the longest unused leave first. One entry holds all types of a name and each its own
 * time: no key has to be put together to look one up, which the fast path of a verification does several times.
 */
export function createCache(names: number, clock: Clock): Cache {
  // Made for the first answer: it takes its room at once, which every start would wait for.
  let shelf: LRUCache<string, Map<RecordType, Kept>> | null = null;
  return {
    get(name, type) {
      const kept = shelf?.get(name)?.get(type);
      return kept && clock.elapsed() < kept.until ? kept.answer : undefined;
    },
    set(name, type, answer) {
      if (!('ttl' in answer)) return;
      const until = clock.elapsed() + answer.ttl * 1000;
      shelf ??= new LRUCache({ max: names });
      const types = shelf.get(name);
      if (types) types.set(type, { answer, until });
      else shelf.set(name, new Map([[type, { answer, until }]]));
    },
    get size() {
      return shelf?.size ?? 0;
    },
    clear: () => shelf?.clear(),
  };
}
