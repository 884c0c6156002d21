import { Readable } from 'node:stream';
import * as C from '../../contract/dashboard/audit-log.ts';
import { toIso } from '../../kernel/clock.ts';
import type { AuditEntry, KeysetPage } from '../../service/accounts.ts';
import { type Answer, type Route, route } from '../route.ts';
import { pageOf } from './account.ts';
import { asDownload, CSV_TYPE, csvLine, JSON_LINES } from './csv.ts';

const AUDIT_LOG = '/dashboard/accounts/:account/audit-log';
const OPERATOR_AUDIT_LOG = '/dashboard/operator/audit-log';

const entryReply = ({ id, at, actor, action, target, detail, count, lastAt }: AuditEntry): C.AuditEntryReply => ({
  id,
  at: toIso(at),
  actor: { kind: actor.kind, name: actor.name },
  ip: actor.ip,
  action,
  target,
  detail: { ...detail },
  count,
  last_at: toIso(lastAt),
});
const operatorEntryReply = (entry: AuditEntry): C.OperatorAuditEntryReply => ({
  ...entryReply(entry),
  account: entry.account,
});

const replyOf = <T>({ rows, next }: KeysetPage<AuditEntry>, reply: (entry: AuditEntry) => T) => ({
  entries: rows.map(reply),
  next,
});

type Batches = AsyncGenerator<readonly AuditEntry[]>;

const HEAD = ['at', 'last_at', 'count', 'actor_kind', 'actor', 'ip', 'action', 'target', 'detail'];
const cellsOf = ({ at, lastAt, count, actor, action, target, detail }: AuditEntry) => [
  toIso(at),
  toIso(lastAt),
  count,
  actor.kind,
  actor.name,
  actor.ip,
  action,
  target,
  JSON.stringify(detail),
];

async function* csvOf(batches: Batches, more: Readonly<Record<string, (entry: AuditEntry) => string | null>>) {
  const own = Object.values(more);
  yield csvLine([...HEAD, ...Object.keys(more)]);
  for await (const batch of batches)
    yield batch.map((entry) => csvLine([...cellsOf(entry), ...own.map((cell) => cell(entry))])).join('');
}

async function* linesOf(batches: Batches, reply: (entry: AuditEntry) => unknown) {
  for await (const batch of batches) yield batch.map((entry) => `${JSON.stringify(reply(entry))}\n`).join('');
}

const csvAnswer = (batches: Batches, more = {}): Answer => ({
  body: Readable.from(csvOf(batches, more)),
  type: CSV_TYPE,
  headers: asDownload('audit-log.csv'),
});
const linesAnswer = (batches: Batches, reply: (entry: AuditEntry) => unknown): Answer => ({
  body: Readable.from(linesOf(batches, reply)),
  type: `${JSON_LINES}; charset=utf-8`,
  headers: asDownload('audit-log.jsonl'),
});

/** The audit log of an account, and for operators what users did. */
export const AUDIT_LOG_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: AUDIT_LOG,
    access: 'admin',
    input: { query: C.AuditLogQuery },
    output: { content: C.AuditLogReply },
    doc: { operationId: 'auditLog', tag: 'Dashboard', summary: 'Audit log, newest first' },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query }) => ({
        body: replyOf(
          await accounts.auditLog(account, { ...pageOf(query), about: query.about ?? null }),
          entryReply,
        ) satisfies C.AuditLogReply,
      }),
  }),
  route({
    method: 'GET',
    path: `${AUDIT_LOG}.csv`,
    access: 'admin',
    input: { query: C.AuditLogExportQuery },
    output: { content: 'text/csv' },
    doc: { operationId: 'auditLogCsv', tag: 'Dashboard', summary: 'The whole audit log as CSV' },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query }) =>
        csvAnswer(accounts.allAuditEntries(account, query.about ?? null)),
  }),
  route({
    method: 'GET',
    path: `${AUDIT_LOG}.jsonl`,
    access: 'admin',
    input: { query: C.AuditLogExportQuery },
    output: { content: JSON_LINES },
    doc: { operationId: 'auditLogJsonLines', tag: 'Dashboard', summary: 'The whole audit log as JSON Lines' },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query }) =>
        linesAnswer(accounts.allAuditEntries(account, query.about ?? null), entryReply),
  }),
  route({
    method: 'GET',
    path: OPERATOR_AUDIT_LOG,
    access: 'operator',
    input: { query: C.PageQuery },
    output: { content: C.OperatorAuditLogReply },
    doc: {
      operationId: 'operatorAuditLog',
      tag: 'Dashboard',
      summary: 'Sign-ins and security of all users, newest first; once for each account of the user',
    },
    serve:
      ({ operator }) =>
      async (_context, { query }) => ({
        body: replyOf(await operator.userEvents(pageOf(query)), operatorEntryReply) satisfies C.OperatorAuditLogReply,
      }),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_AUDIT_LOG}.csv`,
    access: 'operator',
    output: { content: 'text/csv' },
    doc: { operationId: 'operatorAuditLogCsv', tag: 'Dashboard', summary: 'The same, all of it, as CSV' },
    serve:
      ({ operator }) =>
      async () =>
        csvAnswer(operator.allUserEvents(), { account: ({ account }: AuditEntry) => account }),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_AUDIT_LOG}.jsonl`,
    access: 'operator',
    output: { content: JSON_LINES },
    doc: { operationId: 'operatorAuditLogJsonLines', tag: 'Dashboard', summary: 'The same, all of it, as JSON Lines' },
    serve:
      ({ operator }) =>
      async () =>
        linesAnswer(operator.allUserEvents(), operatorEntryReply),
  }),
];
