/** Counts replies that no rule matched, as input for new rules. */
import type { Reply } from './reply.ts';

export interface UnmatchedReply {
  readonly fingerprint: string;
  readonly code: number;
  readonly enhanced: string | null;
  /** Text of the first one seen, without addresses, names and ids; truncated. */
  readonly text: string;
  readonly count: number;
}

export interface Unmatched {
  /** `text`: as returned by the classifier's `plain`. True for the first of its kind. */
  note(fingerprint: string, reply: Pick<Reply, 'code' | 'enhanced' | 'text'>): boolean;
  /** Most frequent first. */
  list(): UnmatchedReply[];
  readonly total: number;
}

const MOST_KINDS = 500;
const MOST_TEXT = 300;

/** In memory and bounded: when the table is full, new kinds count in the total only. */
export function createUnmatched(): Unmatched {
  const kinds = new Map<string, UnmatchedReply>();
  let total = 0;
  return {
    note(fingerprint, { code, enhanced, text }) {
      total += 1;
      const known = kinds.get(fingerprint);
      if (known) kinds.set(fingerprint, { ...known, count: known.count + 1 });
      if (known || kinds.size >= MOST_KINDS) return false;
      kinds.set(fingerprint, { fingerprint, code, enhanced, text: text.slice(0, MOST_TEXT), count: 1 });
      return true;
    },
    list: () => [...kinds.values()].sort((a, b) => b.count - a.count),
    get total() {
      return total;
    },
  };
}
