import { METRIC_ROWS, RELAY_METRIC_ROWS } from '../../src/http/metrics/registry.ts';
import { table } from './markdown.ts';

type Rows = typeof METRIC_ROWS | typeof RELAY_METRIC_ROWS;
type Row = (typeof METRIC_ROWS)[keyof typeof METRIC_ROWS];

const labelsOf = ({ labels }: Row): string =>
  Object.entries(labels)
    .map(([label, values]) => `\`${label}\`: ${values}`)
    .join('; ');

const tableOf = (rows: Rows): string =>
  table(
    ['metric', 'type', 'of', 'labels', 'unit', 'meaning', 'when to look at it'],
    Object.entries<Row>(rows).map(([name, row]) => {
      const { type, of, unit, help, look } = row;
      return [`\`${name}\``, type, of === 'store' ? 'the store' : 'this process', labelsOf(row), unit, help, look];
    }),
  );

/** docs/metrics.md, from the table that registers the metrics. */
export function metricsPage(): string {
  return `<!-- Generated from src/http/metrics/registry.ts by \`npm run gen\`; edit it there. -->
# Metrics

\`/metrics\` has the Prometheus text format and is off by default: [how to enable and scrape it](operating.md#metrics).

Each process counts for itself, from its start. Metrics of the store are the same on every node: take the \`max\` over the
nodes, not the \`sum\`. They need a query, which reads a bounded number of rows (at most 20,000 holds of a kind and jobs
are counted) and is made at most every 10 seconds, however many scrapes there are. A scrape waits for it for at most a
second; when it fails, \`mailvet_store_stats_up\` is 0 and the metrics of the store are absent.

Requests with test keys are not counted. Every label has a bounded number of values. No label has an email address, its domain, an API key or an account.

${tableOf(METRIC_ROWS)}
Histograms have the usual series \`_bucket\`, \`_sum\` and \`_count\`. The usual metrics of Node processes
(\`process_…\`, \`nodejs_…\`) are there as well: CPU time, memory, garbage collection, event loop lag.

## Of the relay

[\`mailvet relay\`](relay.md) serves these on a port of its own.

${tableOf(RELAY_METRIC_ROWS)}`;
}
