import * as C from '../../contract/dashboard/log.ts';
import type { LogExportRow } from '../../service/log-export.ts';
import { type Route, route } from '../route.ts';
import { csvFile, JSON_LINES, jsonLinesFile } from './csv.ts';
import { logEntryReply, logSearchOf, rejectedReply } from './log.ts';

const LOG = '/dashboard/accounts/:account/log';

type Cell = string | number | null;

interface Column {
  readonly entry?: (entry: C.LogEntry) => Cell;
  readonly rejected?: (request: C.RejectedRequest) => Cell;
}

/** By name; what a kind of row does not have is empty. */
const COLUMNS: Readonly<Record<string, Column>> = {
  kind: { entry: () => 'verification', rejected: () => 'rejected' },
  at: { entry: (row) => row.created_at, rejected: (row) => row.at },
  id: { entry: (row) => row.id },
  email: { entry: (row) => row.email },
  status: { entry: (row) => row.status },
  deliverability: { entry: (row) => row.deliverability },
  reason: { entry: (row) => row.reason },
  requested: { entry: (row) => row.requested },
  validation_type: { entry: (row) => row.validation_type },
  credits_used: { entry: (row) => row.credits_used },
  duration_ms: { entry: (row) => row.duration_ms },
  client_ip: { entry: (row) => row.client_ip, rejected: (row) => row.client_ip },
  key_id: { entry: (row) => row.key?.id ?? null, rejected: (row) => row.key?.id ?? null },
  key_name: { entry: (row) => row.key?.name ?? null, rejected: (row) => row.key?.name ?? null },
  via: { entry: (row) => row.via, rejected: (row) => row.via },
  list_id: { entry: (row) => row.list?.id ?? null },
  list_name: { entry: (row) => row.list?.name ?? null },
  request_id: { rejected: (row) => row.request_id },
  route: { rejected: (row) => row.route },
  http_status: { rejected: (row) => row.status },
  code: { rejected: (row) => row.code },
  count: { rejected: (row) => row.count },
};

function csvCells(row: LogExportRow): Cell[] {
  const columns = Object.values(COLUMNS);
  if ('rejected' in row) {
    const request = rejectedReply(row.rejected);
    return columns.map(({ rejected }) => rejected?.(request) ?? null);
  }
  const shown = logEntryReply(row.entry);
  return columns.map(({ entry }) => entry?.(shown) ?? null);
}

const rowReply = (row: LogExportRow) =>
  'rejected' in row
    ? { kind: 'rejected', ...rejectedReply(row.rejected) }
    : { kind: 'verification', ...logEntryReply(row.entry) };

/** The log as a file, with the search of the page. */
export const LOG_EXPORT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: `${LOG}.csv`,
    access: 'member',
    cost: null,
    input: { query: C.LogFilters },
    output: { content: 'text/csv' },
    doc: {
      operationId: 'logCsv',
      tag: 'Dashboard',
      summary: 'All verifications and rejected requests that a search finds, as CSV',
    },
    serve:
      ({ log, costs }) =>
      async ({ account }, { query }) =>
        csvFile(
          'log',
          Object.keys(COLUMNS),
          costs.read('export', account, log.export(account, logSearchOf(query))),
          csvCells,
        ),
  }),
  route({
    method: 'GET',
    path: `${LOG}.jsonl`,
    access: 'member',
    cost: null,
    input: { query: C.LogFilters },
    output: { content: JSON_LINES },
    doc: {
      operationId: 'logJsonLines',
      tag: 'Dashboard',
      summary: 'The same as JSON Lines; the `kind` of a row is `verification` or `rejected`',
    },
    serve:
      ({ log, costs }) =>
      async ({ account }, { query }) =>
        jsonLinesFile('log', costs.read('export', account, log.export(account, logSearchOf(query))), rowReply),
  }),
];
