/** Counts replies that were read with low confidence, as input for new rules. */
import type { RuleFinding } from './classify/rules.ts';

/** Replies of one kind: those that differ only in names, addresses, numbers and ids. */
interface UncertainReplyKind {
  /** Name of the provider; OTHER_OPERATORS: all others, whose names are neither few nor ours to keep. */
  readonly operator: string;
  /** A fingerprint is 12 hex digits made from code, enhanced code and template. */
  readonly fingerprint: string;
  readonly code: number;
  readonly enhanced: string | null;
  /** The text is without names, addresses, numbers and IDs (classify/echoes.ts). */
  readonly template: string;
  /** What decided, or `unmatched.…`, and what it means. */
  readonly rule: string;
  readonly finding: RuleFinding;
  readonly count: number;
}

/** Kinds kept in memory until they are taken; beyond that, replies only count in the totals. */
const KINDS_MAX = 200;
/** One operator has at most so many, so that none displaces the others. */
const KINDS_PER_OPERATOR_MAX = 40;

export function countUncertainReplies() {
  let kinds = new Map<string, UncertainReplyKind>();
  let ofOperator = new Map<string, number>();
  const totals = new Map<string, number>();

  function add(reply: UncertainReplyKind): void {
    const key = `${reply.operator}\n${reply.fingerprint}`;
    const known = kinds.get(key);
    if (known === undefined) {
      const many = ofOperator.get(reply.operator) ?? 0;
      if (kinds.size >= KINDS_MAX || many >= KINDS_PER_OPERATOR_MAX) return;
      ofOperator.set(reply.operator, many + 1);
    }
    kinds.set(key, { ...reply, count: reply.count + (known?.count ?? 0) });
  }

  return {
    note(reply: Omit<UncertainReplyKind, 'count'>) {
      totals.set(reply.rule, (totals.get(reply.rule) ?? 0) + 1);
      add({ ...reply, count: 1 });
    },
    /** What was noted since the last call, or put back. */
    take() {
      const taken = [...kinds.values()];
      [kinds, ofOperator] = [new Map(), new Map()];
      return taken;
    },
    /** What was taken and could not be stored. */
    putBack: (replies: readonly UncertainReplyKind[]) => replies.forEach(add),
    /** Counts all of this process, by rule. */
    totals,
  };
}

export type UncertainReplyCounter = ReturnType<typeof countUncertainReplies>;
