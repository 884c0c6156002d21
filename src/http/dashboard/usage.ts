import { Done } from '../../contract/dashboard/session.ts';
import * as C from '../../contract/dashboard/usage.ts';
import { pending } from './pending.ts';
import { type DashboardRow, row } from './row.ts';

const ACCOUNT = '/dashboard/accounts/:account';

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
    serve: pending,
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
    serve: pending,
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
    serve: pending,
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
    serve: pending,
  }),
];
