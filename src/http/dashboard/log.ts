import * as C from '../../contract/dashboard/log.ts';
import type { Read } from '../../contract/schema.ts';
import { toIso } from '../../kernel/clock.ts';
import { ERRORS, isErrorCode } from '../../kernel/errors.ts';
import { LOG_NEGATABLE } from '../../kernel/facts/log-filters.ts';
import type { LogCursor, LogEntry, LoggedRequest } from '../../service/log.ts';
import type { LogExportSearch } from '../../service/log-export.ts';
import { type Route, route } from '../route.ts';
import { verifyHere } from './verify.ts';

const ACCOUNT = '/dashboard/accounts/:account';

export const logEntryReply = (entry: LogEntry): C.LogEntry => ({
  id: entry.id,
  email: entry.email,
  status: entry.status,
  deliverability: entry.deliverability,
  reason: entry.reason,
  requested: entry.requested,
  validation_type: entry.validationType,
  credits_used: entry.credits,
  duration_ms: entry.durationMs,
  client_ip: entry.clientIp,
  key: entry.key === null ? null : { ...entry.key },
  list: entry.list === null ? null : { ...entry.list },
  via: entry.via,
  created_at: toIso(entry.createdAt),
});

export const rejectedReply = (row: LoggedRequest): C.RejectedRequest => ({
  id: row.id,
  at: toIso(row.at),
  count: row.count,
  request_id: row.requestId,
  key: row.key === null ? null : { ...row.key },
  client_ip: row.clientIp,
  route: row.route,
  status: row.status,
  code: row.code,
  via: row.via,
});

/** Of the query of a search. */
export function logSearchOf(query: Read<typeof C.LogFilters>): LogExportSearch {
  const { email = null, id = null, reason = null, key: keyId = null, status = null } = query;
  const { query: text = null, level = null, deliverability: outcome = null, origin = null } = query;
  const { operator = null, from = null, to = null } = query;
  const not = LOG_NEGATABLE.filter((name) => query.not?.split(',').includes(name));
  return { email, id, reason, keyId, status, text, level, outcome, origin, operator, from, to, not };
}

const cursorText = ({ seq, rejected }: LogCursor): string =>
  `${seq ?? ''}~${rejected === null ? '' : `${rejected.at}-${rejected.id}`}`;

/** Of a text that fits LOG_CURSOR. */
function cursorOf(text: string): LogCursor {
  const [, seq = '', at, id] = C.LOG_CURSOR.exec(text) ?? [];
  return {
    seq: seq === '' ? null : Number(seq),
    rejected: at === undefined || id === undefined ? null : { at: Number(at), id: Number(id) },
  };
}

/** Verification from the dashboard, and the verification log. */
export const LOG_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: `${ACCOUNT}/verify`,
    access: 'member',
    input: { body: C.DashboardVerifyRequest },
    output: { content: C.DashboardVerifyReply },
    doc: {
      operationId: 'verifyHere',
      tag: 'Dashboard',
      summary: 'Verify one address, with evidence; charged like an API request',
      errors: [402, 422, 429],
    },
    serve: verifyHere,
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT}/log`,
    access: 'member',
    cost: 'query',
    input: { query: C.LogQuery },
    output: { content: C.LogReply },
    doc: { operationId: 'searchLog', tag: 'Dashboard', summary: 'Verifications and rejected requests, newest first' },
    serve:
      ({ log }) =>
      async ({ account }, { query }) => {
        const before = query.before === undefined ? null : cursorOf(query.before);
        const search = { ...logSearchOf(query), before, limit: query.limit };
        const { entries, rejected, next, searchedTo, retentionDays } = await log.search(account, search);
        return {
          body: {
            entries: entries.map(logEntryReply),
            rejected: rejected.map(rejectedReply),
            next: next === null ? null : cursorText(next),
            searched_to: searchedTo === null ? null : toIso(searchedTo),
            retention_days: retentionDays,
          },
        };
      },
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT}/log/:id`,
    access: 'member',
    output: { content: C.LogDetailReply },
    doc: { operationId: 'logEntry', tag: 'Dashboard', summary: 'One verification with its full response' },
    serve:
      ({ log }) =>
      async ({ account }, { params }) => {
        const entry = await log.get(account, params.id);
        return { body: { entry: logEntryReply(entry), reply: JSON.parse(entry.body) } };
      },
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT}/log/rejected/:id`,
    access: 'member',
    input: { params: C.RejectedParams },
    output: { content: C.RejectedDetailReply },
    doc: { operationId: 'rejectedRequest', tag: 'Dashboard', summary: 'One rejected request, and what to do about it' },
    serve:
      ({ log }) =>
      async ({ account }, { params }) => {
        const row = await log.getRejected(account, params.id);
        const { code } = row;
        const error = code !== null && isErrorCode(code) ? ERRORS[code] : null;
        return {
          body: {
            rejected: rejectedReply(row),
            meaning: error?.message ?? null,
            fix: error?.fix.replaceAll('`', '') ?? null,
          },
        };
      },
  }),
  route({
    method: 'POST',
    path: `${ACCOUNT}/log/erase`,
    access: 'admin',
    input: { body: C.EraseRequest },
    output: { content: C.EraseReply },
    doc: {
      operationId: 'eraseFromLog',
      tag: 'Dashboard',
      summary: 'Erase all records of an address; counters and charges remain',
    },
    serve:
      ({ log }) =>
      async ({ account, actor }, { body: { email } }) => ({ body: { erased: await log.erase(account, email, actor) } }),
  }),
];
