/** One of the transactions side by side, and what waits for it. */
import type { Waiting } from './waiting.ts';

export interface Lane {
  queue: Waiting[];
  running: Promise<void> | null;
}

/** The lane of an owner's requests: FNV-1a of the owner. */
export function laneOf(owner: string, lanes: number): number {
  if (lanes === 1) return 0;
  let hash = 0x811c9dc5;
  for (let i = 0; i < owner.length; i += 1) hash = Math.imul(hash ^ owner.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % lanes;
}

export function first<K, V>(map: ReadonlyMap<K, V>): [K, V] {
  for (const entry of map) return entry;
  throw new Error('The map is empty.');
}
