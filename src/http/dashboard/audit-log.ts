import * as C from '../../contract/dashboard/account.ts';
import { toIso } from '../../kernel/clock.ts';
import type { AuditEntry, KeysetPage } from '../../service/accounts.ts';
import { type CsvColumns, inEachForm, rowsFile } from '../csv.ts';
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
const AUDIT_LOG_FILE = { columns: AUDIT_LOG_COLUMNS, shownOf: asItIs, reply: entryReply };
const OPERATOR_AUDIT_LOG_COLUMNS: CsvColumns<AuditEntry> = {
  ...AUDIT_LOG_COLUMNS,
  account: (entry) => entry.account,
};
const OPERATOR_AUDIT_LOG_FILE = { columns: OPERATOR_AUDIT_LOG_COLUMNS, shownOf: asItIs, reply: operatorEntryReply };

/** The audit log of an account, and for operators what users did. */
export const AUDIT_LOG_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: AUDIT_LOG,
    access: 'admin',
    cost: 'query',
    input: { query: C.AuditLogQuery },
    output: { content: C.AuditLogReply },
    doc: { operationId: 'auditLog', summary: 'Audit log, newest first' },
    serve:
      ({ account: accounts }) =>
      async ({ account }, { query }) => ({
        body: auditLogReply(
          await accounts.auditLog(account, { ...pageOf(query), about: query.about ?? null }),
          entryReply,
        ) satisfies C.AuditLogReply,
      }),
  }),
  ...inEachForm((form, { content, id, title }) =>
    route({
      method: 'GET',
      path: `${AUDIT_LOG}.${form}`,
      access: 'admin',
      cost: null,
      input: { query: C.AuditLogExportQuery },
      output: { content },
      doc: { operationId: `auditLog${id}`, summary: `The whole audit log as ${title}` },
      serve:
        ({ account: accounts, costs }) =>
        async ({ account }, { query }) => {
          const entries = accounts.allAuditEntries(account, query.about ?? null);
          return rowsFile(form, 'audit-log', await costs.read('export', account, entries), AUDIT_LOG_FILE);
        },
    }),
  ),
  route({
    method: 'GET',
    path: OPERATOR_AUDIT_LOG,
    access: 'operator',
    cost: 'query',
    input: { query: C.PageQuery },
    output: { content: C.OperatorAuditLogReply },
    doc: {
      operationId: 'operatorAuditLog',
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
  ...inEachForm((form, { content, id, title }) =>
    route({
      method: 'GET',
      path: `${OPERATOR_AUDIT_LOG}.${form}`,
      access: 'operator',
      cost: null,
      output: { content },
      doc: { operationId: `operatorAuditLog${id}`, summary: `The same, all of it, as ${title}`, errors: [429] },
      serve:
        ({ operator, costs }) =>
        async () => {
          const entries = await costs.read('export', 'operators', operator.allUserEvents());
          return rowsFile(form, 'audit-log', entries, OPERATOR_AUDIT_LOG_FILE);
        },
    }),
  ),
];
