import type { LoggedRejection, LoggedVerification, RejectionPosition } from '../store/store.ts';

/** Where a page of the log begins; null: with the newest. */
export interface LogCursor {
  /** Among verifications. */
  readonly seq: number | null;
  readonly rejected: RejectionPosition | null;
}

/** The end of a kind: nothing is older. */
const SEQ_END = 0;
const REJECTED_END: RejectionPosition = { at: 0, id: 0 };
export const isEnd = ({ seq, rejected }: LogCursor) => ({ seq: seq === SEQ_END, rejected: rejected?.id === 0 });

/** What was found of one kind, newest first; `searchedTo`: nothing newer was left out. */
interface Found<T, P> {
  readonly items: readonly T[];
  readonly next: P | null;
  readonly searchedTo: number | null;
}
type FoundVerifications = Found<LoggedVerification, number>;
type FoundRejections = Found<LoggedRejection, RejectionPosition>;

export const NO_VERIFICATIONS: FoundVerifications = { items: [], next: null, searchedTo: null };
export const NO_REJECTIONS: FoundRejections = { items: [], next: null, searchedTo: null };

interface LogPage {
  readonly verifications: readonly LoggedVerification[];
  readonly rejections: readonly LoggedRejection[];
  readonly next: LogCursor | null;
  /** How far back the page looked; null: to the end. */
  readonly searchedTo: number | null;
}

/** Where the next page goes on, after the first `used` items. */
function restOf<T, P>(
  { items, next }: Found<T, P>,
  used: number,
  before: P | null,
  end: P,
  at: (item: T) => P,
): P | null {
  const last = items[used - 1];
  if (used === items.length) return next ?? end;
  return last === undefined ? before : at(last);
}

/** The newest of both kinds. A row is left for the next page where the other kind may still have newer ones. */
export function mergedPage(
  found: FoundVerifications,
  rejected: FoundRejections,
  before: LogCursor,
  limit: number,
): LogPage {
  let [v, r] = [0, 0];
  const timeOf = (at: number | undefined, { next, searchedTo }: Found<unknown, unknown>) =>
    // Once its items are used up, a kind goes on where its search ended.
    at ?? (next === null ? -Infinity : (searchedTo ?? -Infinity));
  while (v + r < limit) {
    const [a, b] = [found.items[v], rejected.items[r]];
    const [aTime, bTime] = [timeOf(a?.createdAt, found), timeOf(b?.at, rejected)];
    if (a !== undefined && aTime >= bTime) v += 1;
    else if (b !== undefined && bTime >= aTime) r += 1;
    else break;
  }
  const seq = restOf(found, v, before.seq, SEQ_END, (item) => item.seq);
  const position = restOf(rejected, r, before.rejected, REJECTED_END, ({ at, id }) => ({ at, id }));
  const next = { seq, rejected: position };
  const { seq: ended, rejected: endedToo } = isEnd(next);
  const isLast = ended && endedToo;
  const times = [timeOf(found.items[v]?.createdAt, found), timeOf(rejected.items[r]?.at, rejected)];
  return {
    verifications: found.items.slice(0, v),
    rejections: rejected.items.slice(0, r),
    next: isLast ? null : next,
    searchedTo: isLast ? null : Math.max(...times),
  };
}

/**
 * The same where rejected requests were found by their ID: there are no others, so that they stand on the first page,
 * however old they are. More than fit are merged as usual.
 */
export function pageById(
  found: FoundVerifications,
  rejected: FoundRejections,
  before: LogCursor,
  limit: number,
): LogPage {
  const { items, next } = rejected;
  if (next !== null || items.length >= limit) return mergedPage(found, rejected, before, limit);
  return { ...mergedPage(found, NO_REJECTIONS, before, limit - items.length), rejections: items };
}
