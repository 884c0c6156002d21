import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LoggedRejection, LoggedVerification, RejectionPosition } from '../store/store.ts';
import { isEnd, type LogCursor, mergedPage, NO_REJECTIONS, NO_VERIFICATIONS } from './log.ts';

const verification = (seq: number, createdAt: number): LoggedVerification => ({
  id: `ver_${seq}`,
  email: 'a@b.example',
  requested: 'mx',
  validationType: 'mx',
  status: 'good',
  deliverability: 'unknown',
  reason: null,
  credits: 1,
  clientIp: null,
  durationMs: 1,
  body: '{}',
  createdAt,
  keyId: 'key_1',
  list: null,
  via: null,
  decision: null,
  seq,
});
const rejection = (id: number, at: number): LoggedRejection => ({
  id,
  at,
  count: 1,
  requestId: 'r',
  keyId: 'key_1',
  clientIp: null,
  route: 'POST /v1/verify',
  status: 400,
  code: null,
  via: null,
  answer: null,
});

/** Matches among rows that are searched `reach` at a time. */
function search<T, P>(
  rows: readonly (readonly [T, boolean])[],
  older: (row: T) => boolean,
  how: {
    limit: number;
    reach: number;
    place: (row: T) => P;
    time: (row: T) => number;
  },
) {
  const rest = rows.filter(([row]) => older(row));
  const reached = rest.slice(0, how.reach);
  const matches = reached.filter(([, matched]) => matched).map(([row]) => row);
  const items = matches.slice(0, how.limit);
  const edge = matches.length > how.limit ? items.at(-1) : rest.length > how.reach ? reached.at(-1)?.[0] : undefined;
  return {
    items,
    next: edge === undefined ? null : how.place(edge),
    searchedTo: edge === undefined ? null : how.time(edge),
  };
}

const times = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.boolean()), { maxLength: 30 });

it('pages have each row of both kinds once, newest first, however few a search reaches', () => {
  fc.assert(
    fc.property(times, times, fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 9 }), (a, b, limit, reach) => {
      const sorted = (some: typeof a) => [...some].sort(([x], [y]) => x - y);
      const verifications = sorted(a)
        .map(([at, matched], i) => [verification(i + 1, at), matched] as const)
        .reverse();
      const rejections = sorted(b)
        .map(([at, matched], i) => [rejection(i + 1, at), matched] as const)
        .reverse();
      const seen: { id: string; at: number }[] = [];
      let before: LogCursor | null = { seq: null, rejected: null };
      for (let pages = 0; before !== null; pages++) {
        expect(pages).toBeLessThan(200);
        const { seq, rejected }: LogCursor = before;
        const found = isEnd(before).seq
          ? NO_VERIFICATIONS
          : search(verifications, (row) => seq === null || row.seq < seq, {
              limit,
              reach,
              place: (row) => row.seq,
              time: (row) => row.createdAt,
            });
        const refused = isEnd(before).rejected
          ? NO_REJECTIONS
          : search(rejections, (row) => rejected === null || row.id < rejected.id, {
              limit,
              reach,
              place: ({ at, id }): RejectionPosition => ({ at, id }),
              time: (row) => row.at,
            });
        const page = mergedPage(found, refused, before, limit);
        expect(page.verifications.length + page.rejections.length).toBeLessThanOrEqual(limit);
        seen.push(
          ...[
            ...page.verifications.map((row) => ({ id: row.id, at: row.createdAt })),
            ...page.rejections.map((row) => ({ id: `${row.id}`, at: row.at })),
          ].sort((x, y) => y.at - x.at),
        );
        before = page.next;
      }
      const wanted = [
        ...verifications.filter(([, matched]) => matched).map(([row]) => row.id),
        ...rejections.filter(([, matched]) => matched).map(([row]) => `${row.id}`),
      ];
      expect(seen.map(({ id }) => id).sort()).toEqual(wanted.sort());
      expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).sort((x, y) => y - x));
    }),
  );
});
