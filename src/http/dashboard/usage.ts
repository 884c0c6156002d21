import type { Static } from 'typebox';
import { Done } from '../../contract/dashboard/session.ts';
import * as C from '../../contract/dashboard/usage.ts';
import { fromIso } from '../../kernel/clock.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Chart, ChartAsk } from '../../service/charts.ts';
import { asDownload, CSV_TYPE, csvLine } from './csv.ts';
import { type DashboardRow, row } from './row.ts';

const ACCOUNT = '/dashboard/accounts/:account';

function instant(text: string | undefined, field: string): number | null {
  if (text === undefined) return null;
  const ms = fromIso(text);
  if (ms !== null) return ms;
  const sentence = `${field} must be a date such as 2026-11-01 or 2026-11-01T00:00:00Z.`;
  throw new Refusal('invalid_parameter', sentence, { field });
}

const askOf = ({ from, to, bucket }: Static<typeof C.UsageRangeQuery>): ChartAsk => ({
  from: instant(from, 'from'),
  to: instant(to, 'to'),
  bucket: bucket ?? null,
});

const CSV_HEAD = 'at,requests,good,bad,credits,refused,rate_limited,mx_p50_ms,mx_p95_ms,smtp_p50_ms,smtp_p95_ms';

const csvOf = ({ buckets }: Chart): string =>
  buckets.reduce((csv, { at, requests, good, bad, credits, refused, rate_limited, latency: { mx, smtp } }) => {
    const latencies = [mx?.p50, mx?.p95, smtp?.p50, smtp?.p95].map((ms) => ms ?? null);
    return csv + csvLine([at, requests, good, bad, credits, refused, rate_limited, ...latencies]);
  }, `${CSV_HEAD}\r\n`);

/** What the account has, and what became of it. */
export const USAGE_ROWS: readonly DashboardRow[] = [
  row({
    method: 'GET',
    path: `${ACCOUNT}/overview`,
    who: 'member',
    doc: {
      operationId: 'overview',
      summary: 'Balance, plan, rate window, notices',
      reply: { schema: C.OverviewReply },
    },
    serve:
      ({ overview }) =>
      async ({ account }) => ({ body: (await overview(account)) satisfies C.OverviewReply }),
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/usage`,
    who: 'member',
    doc: {
      operationId: 'usageChart',
      summary: 'Counters by hour or day, by reason and by key; the last seven days unless a range is named',
      query: C.UsageRangeQuery,
      reply: { schema: C.UsageChartReply },
    },
    serve:
      ({ chart }) =>
      async ({ account }, { query }) => ({ body: (await chart(account, askOf(query))) satisfies C.UsageChartReply }),
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/usage.csv`,
    who: 'member',
    doc: {
      operationId: 'usageCsv',
      summary: 'The same buckets as CSV',
      query: C.UsageRangeQuery,
      reply: { schema: 'text/csv' },
    },
    serve:
      ({ chart }) =>
      async ({ account }, { query }) => {
        const made = await chart(account, askOf(query));
        const name = `usage-${made.from.slice(0, 10)}-${made.to.slice(0, 10)}.csv`;
        return { body: csvOf(made), type: CSV_TYPE, headers: asDownload(name) };
      },
  }),
  row({
    method: 'PUT',
    path: `${ACCOUNT}/low-balance`,
    who: 'admin',
    doc: {
      operationId: 'setLowBalance',
      summary: 'The balance below which a banner and a mail say so',
      body: C.LowBalanceRequest,
      reply: { schema: Done },
    },
    serve:
      ({ account: accounts }) =>
      async ({ account, actor }, { body: { credits } }) => {
        await accounts.setLowBalance(account, credits, actor);
        const message = credits === null ? 'There is no line any more.' : `The line is at ${credits} credits.`;
        return { body: { status: 'success', message } };
      },
  }),
];
