import { Done } from '../../contract/dashboard/session.ts';
import * as C from '../../contract/dashboard/usage.ts';
import type { Read } from '../../contract/schema.ts';
import { OUTCOMES } from '../../kernel/facts/outcomes.ts';
import { REASON_FILTERS } from '../../kernel/facts/reasons.ts';
import type { Chart, ChartQuery } from '../../service/charts.ts';
import { done } from '../access/session.ts';
import { asDownload, CSV_TYPE, csvLine } from '../csv.ts';
import { ACCOUNT_PATH, type Route, route } from '../route.ts';
import { logNegated, severalOrNull } from './log.ts';

export const askOf = ({ from, to, bucket, key, source, ...query }: Read<typeof C.UsageRangeQuery>): ChartQuery => ({
  from: from ?? null,
  to: to ?? null,
  bucket: bucket ?? null,
  key: key ?? null,
  source: source ?? null,
  ...verdictsOf(query),
});

const verdictsOf = ({ reason, deliverability, not }: Read<typeof C.UsageRangeQuery>) => ({
  reason: severalOrNull(REASON_FILTERS, reason),
  outcome: severalOrNull(OUTCOMES, deliverability),
  not: logNegated(not),
});

const CSV_HEAD = 'at,requests,good,bad,credits,refused,rate_limited,mx_p50_ms,mx_p95_ms,smtp_p50_ms,smtp_p95_ms';

const csvOf = ({ buckets }: Chart): string =>
  buckets.reduce((csv, { at, requests, good, bad, credits, refused, rate_limited, latency: { mx, smtp } }) => {
    const latencies = [mx?.p50, mx?.p95, smtp?.p50, smtp?.p95].map((ms) => ms ?? null);
    return csv + csvLine([at, requests, good, bad, credits, refused, rate_limited, ...latencies]);
  }, `${CSV_HEAD}\r\n`);

/** They show balance and usage of the account. */
export const DASHBOARD_USAGE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/overview`,
    access: 'viewer',
    cost: 'query',
    output: { content: C.OverviewReply },
    doc: { operationId: 'overview', summary: 'Balance, plan, rate window, notices' },
    serve:
      ({ overview }) =>
      async ({ account, user }) => ({ body: (await overview(account, user)) satisfies C.OverviewReply }),
  }),
  route({
    method: 'POST',
    path: `${ACCOUNT_PATH}/dismissals`,
    access: 'viewer',
    input: { body: C.DismissRequest },
    output: { content: Done },
    doc: {
      operationId: 'dismissNotice',
      summary: 'Hide a notice from the user who asks for it, until there is another cause for it',
    },
    serve:
      ({ notices }) =>
      async ({ account, user }, { body: { notice } }) => {
        await notices.dismiss(account, user.id, notice);
        return done('The notice is dismissed.');
      },
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/usage`,
    access: 'viewer',
    cost: 'query',
    input: { query: C.UsageRangeQuery },
    output: { content: C.UsageChartReply },
    doc: {
      operationId: 'usageChart',
      summary: 'Counters by hour or day, reason and key; the last seven days by default',
    },
    serve:
      ({ chart }) =>
      async ({ account }, { query }) => ({ body: (await chart(account, askOf(query))) satisfies C.UsageChartReply }),
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/usage.csv`,
    access: 'viewer',
    cost: 'query',
    input: { query: C.UsageRangeQuery },
    output: { content: 'text/csv' },
    doc: { operationId: 'usageCsv', summary: 'The same buckets as CSV' },
    serve:
      ({ chart }) =>
      async ({ account }, { query }) => {
        const made = await chart(account, askOf(query));
        const name = `usage-${made.from.slice(0, 10)}-${made.to.slice(0, 10)}.csv`;
        return { body: csvOf(made), type: CSV_TYPE, headers: asDownload(name) };
      },
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/operators`,
    access: 'viewer',
    cost: 'query',
    input: { query: C.OperatorsQuery },
    output: { content: C.OperatorsReply },
    doc: {
      operationId: 'operatorsAsked',
      summary: 'What mail operators answered to mailbox checks; those of the last seven days by default',
    },
    serve:
      ({ operators }) =>
      async ({ account }, { query: { from = null, to = null, source = null } }) => ({
        body: (await operators(account, { from, to, source })) satisfies C.OperatorsReply,
      }),
  }),
  route({
    method: 'PUT',
    path: `${ACCOUNT_PATH}/low-balance`,
    access: 'admin',
    liveOnly: true,
    input: { body: C.LowBalanceRequest },
    output: { content: Done },
    doc: { operationId: 'setLowBalance', summary: 'Set the low-balance threshold for the banner and email alert' },
    serve:
      ({ account: accounts }) =>
      async ({ account, actor }, { body: { credits } }) => {
        await accounts.setLowBalance(account, credits, actor);
        const message =
          credits === null ? 'Low-balance alert turned off.' : `Low-balance threshold set to ${credits} credits.`;
        return done(message);
      },
  }),
];
