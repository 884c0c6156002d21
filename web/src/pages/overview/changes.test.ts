import { expect, it } from 'vitest';
import type { UsageChart } from '../../api/schema.ts';
import { whatChanged } from './changes.ts';

const outcomes = { deliverable: 0, not_checked: 0, unknown: 0, risky: 0, undeliverable: 0 };
const counts = {
  requests: 0,
  good: 0,
  bad: 0,
  credits: 0,
  asked: 0,
  refused: 0,
  rate_limited: 0,
  outcomes,
  latency: { mx: null, smtp: null },
};
type Day = Partial<Pick<typeof counts, 'requests' | 'refused' | 'rate_limited'>>;

function chart(days: readonly Day[], undeliverable = 0): UsageChart {
  const requests = days.reduce((sum, day) => sum + (day.requests ?? 0), 0);
  return {
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-30T00:00:00.000Z',
    bucket: 'day',
    buckets: days.map((day, i) => ({ ...counts, ...day, at: `2026-11-0${i + 1}T00:00:00.000Z` })),
    totals: { ...counts, requests, outcomes: { ...outcomes, undeliverable } },
    by_reason: [],
    by_key: [],
    without_source: 0,
  };
}
const usual = chart([{ requests: 100 }, { requests: 100 }, { requests: 100 }], 30);

it.each([
  [
    chart([{ rate_limited: 2 }, { rate_limited: 188 }, { refused: 3 }]),
    '2 Nov 2026: 188 requests over the rate limit.',
    '2026-11-02',
  ],
  [chart([{ refused: 12 }, {}, {}]), '1 Nov 2026: 12 requests were rejected.', '2026-11-01'],
  // Every day has as many: that is no change.
  [chart([{ refused: 12 }, { refused: 12 }, { refused: 14 }]), 'No unusual day in this period.', null],
  [
    chart([{ requests: 100 }, { requests: 100 }, { requests: 100 }], 60),
    'Undeliverable addresses rose to 20 %, from 10 %.',
    null,
  ],
  [
    chart([{ requests: 90 }, { requests: 110 }, { requests: 5_000 }], 520),
    '3 Nov 2026 had 5,000 verifications; the usual day has 110.',
    '2026-11-03',
  ],
  [chart([{}, { requests: 3 }, { requests: 50 }]), 'No unusual day in this period.', null],
  [chart([]), 'No unusual day in this period.', null],
])('says in one sentence what changed', (now, text, day) => {
  // Rejected requests are opened as such.
  const rows = /rejected|rate limit/.test(text) ? { status: 'rejected' } : {};
  const time = day === null ? null : { from: day, to: day };
  expect(whatChanged(now, usual)).toEqual({ text, time, rows });
});
