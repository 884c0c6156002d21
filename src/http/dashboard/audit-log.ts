import * as C from '../../contract/dashboard/account.ts';
import { toIso } from '../../kernel/clock.ts';
import type { AuditEntry, KeysetPage } from '../../service/accounts.ts';
import { type CsvColumns, csvFile, JSON_LINES, jsonLinesFile } from '../csv.ts';
import { type Route, route } from '../route.ts';
import { pageOf } from './account.ts';

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
  account_name: entry.accountName,
});

const auditLogReply = <T>({ rows, next }: KeysetPage<AuditEntry>, reply: (entry: AuditEntry) => T) => ({
  entries: rows.map(reply),
  next,
});

const AUDIT_LOG_COLUMNS: CsvColumns<AuditEntry> = {
  at: (entry) => toIso(entry.at),
  last_at: (entry) => toIso(entry.lastAt),
  count: (entry) => entry.count,
  actor_kind: (entry) => entry.actor.kind,
  actor: (entry) => entry.actor.name,
  ip: (entry) => entry.actor.ip,
  action: (entry) => entry.action,
  target: (entry) => entry.target,
  detail: (entry) => JSON.stringify(entry.detail),
};
const asItIs = (entry: AuditEntry): AuditEntry => entry;

/** The audit log of an account, and for operators what users did. */
export const AUDIT_LOG_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: AUDIT_LOG,
    access: 'admin',
    cost: 'query',
    input: { query: C.AuditLogQuery },
    output: { content: C.AuditLogReply },
    doc: { operationId: 'auditLog', tag: 'Dashboard', summary: 'Audit log, newest first' },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query }) => ({
        body: auditLogReply(
          await accounts.auditLog(account, { ...pageOf(query), about: query.about ?? null }),
          entryReply,
        ) satisfies C.AuditLogReply,
      }),
  }),
  route({
    method: 'GET',
    path: `${AUDIT_LOG}.csv`,
    access: 'admin',
    cost: null,
    input: { query: C.AuditLogExportQuery },
    output: { content: 'text/csv' },
    doc: { operationId: 'auditLogCsv', tag: 'Dashboard', summary: 'The whole audit log as CSV' },
    serve:
      ({ account: accounts, costs }) =>
      async ({ account }, { query }) =>
        csvFile(
          'audit-log',
          AUDIT_LOG_COLUMNS,
          await costs.read('export', account, accounts.allAuditEntries(account, query.about ?? null)),
          asItIs,
        ),
  }),
  route({
    method: 'GET',
    path: `${AUDIT_LOG}.jsonl`,
    access: 'admin',
    cost: null,
    input: { query: C.AuditLogExportQuery },
    output: { content: JSON_LINES },
    doc: {
      operationId: 'auditLogJsonLines',
      tag: 'Dashboard',
      summary: 'The whole audit log as JSON Lines',
    },
    serve:
      ({ account: accounts, costs }) =>
      async ({ account }, { query }) =>
        jsonLinesFile(
          'audit-log',
          await costs.read('export', account, accounts.allAuditEntries(account, query.about ?? null)),
          entryReply,
        ),
  }),
  route({
    method: 'GET',
    path: OPERATOR_AUDIT_LOG,
    access: 'operator',
    cost: 'query',
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
        body: auditLogReply(
          await operator.userEvents(pageOf(query)),
          operatorEntryReply,
        ) satisfies C.OperatorAuditLogReply,
      }),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_AUDIT_LOG}.csv`,
    access: 'operator',
    cost: null,
    output: { content: 'text/csv' },
    doc: {
      operationId: 'operatorAuditLogCsv',
      tag: 'Dashboard',
      summary: 'The same, all of it, as CSV',
      errors: [429],
    },
    serve:
      ({ operator, costs }) =>
      async () =>
        csvFile(
          'audit-log',
          { ...AUDIT_LOG_COLUMNS, account: (entry) => entry.account },
          await costs.read('export', 'operators', operator.allUserEvents()),
          asItIs,
        ),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_AUDIT_LOG}.jsonl`,
    access: 'operator',
    cost: null,
    output: { content: JSON_LINES },
    doc: {
      operationId: 'operatorAuditLogJsonLines',
      tag: 'Dashboard',
      summary: 'The same, all of it, as JSON Lines',
      errors: [429],
    },
    serve:
      ({ operator, costs }) =>
      async () =>
        jsonLinesFile(
          'audit-log',
          await costs.read('export', 'operators', operator.allUserEvents()),
          operatorEntryReply,
        ),
  }),
];
