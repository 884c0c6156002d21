import type { Static } from 'typebox';
import type { DashboardVerifyReply, DashboardVerifyRequest } from '../../contract/dashboard/log.ts';
import * as C from '../../contract/dashboard/log.ts';
import { Done } from '../../contract/dashboard/session.ts';
import type { Read } from '../../contract/schema.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { ApiError, ERRORS, isErrorCode } from '../../kernel/errors.ts';
import { LOG_CONFIDENCES, LOG_MAIL, LOG_NEGATABLE, LOG_STATUSES, severalOf } from '../../kernel/facts/log-filters.ts';
import { OUTCOMES } from '../../kernel/facts/outcomes.ts';
import { LEVELS } from '../../kernel/facts/plans.ts';
import { POLICY_ACTIONS } from '../../kernel/facts/policies.ts';
import { REASON_FILTERS } from '../../kernel/facts/reasons.ts';
import { LOG_ORIGINS } from '../../kernel/log-origins.ts';
import type { LogCursor, LogEntry, LogExportRow, LogExportSearch, LoggedRequest } from '../../service/log.ts';
import { storedReply } from '../../service/stored-reply.ts';
import { refusalOf } from '../access/api-key.ts';
import { done } from '../access/session.ts';
import type { HttpContext } from '../context.ts';
import { type Cell, type CsvColumns, inEachForm, rowsFile } from '../csv.ts';
import { disconnectSignal, isDisconnected } from '../exchange.ts';
import { ACCOUNT_PATH, type AccountContext, type JsonAnswer, type Route, route } from '../route.ts';

/** Verifies one address with evidence, charged like `/v1/verify`. */
const verifyHere =
  ({ verify, clock }: HttpContext) =>
  async (
    { account, test, ip, request, reply }: AccountContext,
    { body }: { body: Read<typeof DashboardVerifyRequest> },
  ): Promise<JsonAnswer<Static<typeof DashboardVerifyReply>>> => {
    const outcome = await verify.verify({
      keyHash: { account },
      test,
      ip,
      idempotency: null,
      email: body.email,
      level: body.validation_type,
      clientIp: ip,
      timeoutMs: body.timeout_ms,
      withEvidence: true,
      signal: () => disconnectSignal(reply),
      hasDisconnected: () => isDisconnected(reply),
    });
    const { caller } = 'admission' in outcome ? outcome.admission : outcome;
    if (caller !== null) request.caller = caller;
    switch (outcome.outcome) {
      case 'answered':
        return { body: { result: JSON.parse(outcome.record.body), credits_remaining: outcome.balance } };
      case 'failed':
        throw outcome.error;
      case 'refused':
        // The guard found the account, so if the charge does not, it has been suspended meanwhile.
        if (outcome.code === 'invalid_api_key') throw new ApiError('account_suspended');
        throw refusalOf(outcome, clock.now());
      case 'replay':
        throw new TypeError('Stored reply without an Idempotency-Key.');
    }
  };

export const logEntryReply = (entry: LogEntry): C.LogEntryReply => ({
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
  decision: entry.decision,
  egress: egressOf(entry),
  created_at: toIso(entry.createdAt),
});

/** JSON as it is stored has no spaces, and quotes within its texts are escaped: no other text can look like this. */
function egressOf({ body }: Pick<LogEntry, 'body'>): string | null {
  const text = /"egress":("(?:[^"\\]|\\.)*")/.exec(body)?.[1];
  return text === undefined ? null : JSON.parse(text);
}

const rejectedReply = (row: LoggedRequest): C.RejectedRequestReply => ({
  id: row.id,
  at: toIso(row.at),
  count: row.count,
  request_id: row.requestId,
  key: row.key === null ? null : { ...row.key },
  client_ip: row.clientIp,
  route: row.route,
  status: row.status,
  code: row.code !== null && isErrorCode(row.code) ? row.code : null,
  via: row.via,
  answer: row.answer,
});

/** Reads it from the query of a search. */
function logSearchOf(query: Read<typeof C.LogFilters>): LogExportSearch {
  const { email = null, id = null, query: text = null, from = null, to = null } = query;
  return {
    email,
    id,
    text,
    from,
    to,
    ...countedSearchOf(query),
    keyId: namesOrNull(query.key),
    list: namesOrNull(query.list),
    operator: namesOrNull(query.operator),
    egress: namesOrNull(query.egress),
    reported: namesOrNull(query.reported),
    status: severalOrNull(LOG_STATUSES, query.status),
    origin: severalOrNull(LOG_ORIGINS, query.origin),
    mail: severalOrNull(LOG_MAIL, query.mail),
    confidence: severalOrNull(LOG_CONFIDENCES, query.confidence),
    not: logNegated(query.not),
  };
}

const namesOrNull = (text: string | undefined) => text?.split(',') ?? null;

export const logNegated = (not = '') => severalOf(LOG_NEGATABLE, not);

/** The dashboard and the API search by these fields alike. */
export const countedSearchOf = (
  query: Pick<Read<typeof C.LogFilters>, 'reason' | 'level' | 'deliverability' | 'decision'>,
) => ({
  reason: severalOrNull(REASON_FILTERS, query.reason),
  level: severalOrNull(LEVELS, query.level),
  outcome: severalOrNull(OUTCOMES, query.deliverability),
  decision: severalOrNull(POLICY_ACTIONS, query.decision),
});

export const severalOrNull = <const T extends string>(values: readonly T[], text: string | undefined) =>
  text === undefined ? null : severalOf(values, text);

const cursorText = ({ seq, rejected }: LogCursor): string =>
  `${seq ?? ''}~${rejected === null ? '' : `${rejected.at}-${rejected.id}`}`;

/** Reads it from a text that fits LOG_CURSOR. */
function logCursor(text: string): LogCursor {
  const [, seq = '', at, id] = C.LOG_CURSOR.exec(text) ?? [];
  return {
    seq: seq === '' ? null : Number(seq),
    rejected: at === undefined || id === undefined ? null : { at: Number(at), id: Number(id) },
  };
}

/** Routes for verification from the dashboard and for the verification log are here. */
export const LOG_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: `${ACCOUNT_PATH}/verify`,
    access: 'member',
    input: { body: C.DashboardVerifyRequest },
    output: { content: C.DashboardVerifyReply },
    doc: {
      operationId: 'verifyHere',
      summary: 'Verify one address, with evidence; charged like an API request',
      errors: [402, 422, 429],
    },
    serve: verifyHere,
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/log`,
    access: 'viewer',
    cost: 'query',
    input: { query: C.LogQuery },
    output: { content: C.LogReply },
    doc: { operationId: 'searchLog', summary: 'Verifications and rejected requests, newest first' },
    serve:
      ({ log, egressNames }) =>
      async ({ account }, { query }) => {
        const before = query.before === undefined ? null : logCursor(query.before);
        const search = { ...logSearchOf(query), before, limit: query.limit };
        const { entries, rejected, next, searchedTo, retentionDays } = await log.search(account, search);
        return {
          body: {
            entries: entries.map(logEntryReply),
            rejected: rejected.map(rejectedReply),
            next: next === null ? null : cursorText(next),
            searched_to: toIsoOrNull(searchedTo),
            retention_days: retentionDays,
            egresses: [...egressNames()],
          },
        };
      },
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/log/:id`,
    access: 'viewer',
    cost: null,
    output: { content: C.LogDetailReply },
    doc: { operationId: 'logEntry', summary: 'One verification with its full response' },
    serve:
      ({ log }) =>
      async ({ account }, { params }) => {
        const entry = await log.get(account, params.id);
        return { body: { entry: logEntryReply(entry), reply: storedReply(entry.body) } };
      },
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/log/rejected/:id`,
    access: 'viewer',
    cost: null,
    input: { params: C.RejectedParams },
    output: { content: C.RejectedDetailReply },
    doc: { operationId: 'rejectedRequest', summary: 'One rejected request, and what to do about it' },
    serve:
      ({ log }) =>
      async ({ account }, { params }) => {
        const row = await log.getRejected(account, params.id);
        const rejected = rejectedReply(row);
        const error = rejected.code === null ? null : ERRORS[rejected.code];
        return {
          body: {
            rejected,
            meaning: error?.message ?? null,
            fix: error?.fix.replaceAll('`', '') ?? null,
          },
        };
      },
  }),
  route({
    method: 'POST',
    path: `${ACCOUNT_PATH}/log/erase`,
    access: 'admin',
    input: { body: C.EraseRequest },
    output: { content: C.EraseReply },
    doc: { operationId: 'eraseFromLog', summary: 'Erase all records of an address; counters and charges remain' },
    serve:
      ({ privacy }) =>
      async ({ account, actor }, { body: { email } }) => {
        const { total } = await privacy.erase(account, { email, canonical: false, filters: false }, actor);
        return { body: { erased: total } };
      },
  }),
];

const LOG_PATH = '/dashboard/accounts/:account/log';

interface LogColumn {
  readonly entry?: (entry: C.LogEntryReply) => Cell;
  readonly rejected?: (request: C.RejectedRequestReply) => Cell;
}

/** The key is the name; a cell is empty where a kind of row has no such value. */
const LOG_COLUMNS: Readonly<Record<string, LogColumn>> = {
  kind: { entry: () => 'verification', rejected: () => 'rejected' },
  at: { entry: (row) => row.created_at, rejected: (row) => row.at },
  id: { entry: (row) => row.id },
  email: { entry: (row) => row.email },
  status: { entry: (row) => row.status },
  deliverability: { entry: (row) => row.deliverability },
  reason: { entry: (row) => row.reason },
  decision: { entry: (row) => row.decision },
  egress: { entry: (row) => row.egress },
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
  answer: { rejected: (row) => row.answer },
  count: { rejected: (row) => row.count },
};

const shownRow = (row: LogExportRow) =>
  'rejected' in row ? { rejected: rejectedReply(row.rejected) } : { entry: logEntryReply(row.entry) };
type ShownRow = ReturnType<typeof shownRow>;

const LOG_CELLS: CsvColumns<ShownRow> = Object.fromEntries(
  Object.entries(LOG_COLUMNS).map(([name, { entry, rejected }]) => [
    name,
    (row: ShownRow) => (row.rejected === undefined ? entry?.(row.entry) : rejected?.(row.rejected)) ?? null,
  ]),
);

const rowReply = (row: LogExportRow) =>
  'rejected' in row
    ? { kind: 'rejected', ...rejectedReply(row.rejected) }
    : { kind: 'verification', ...logEntryReply(row.entry) };

/**
 * `log.not-mailbox_full.2026-11-25`: what was searched for, and the day (UTC) of the newest rows. Ends in no
 * extension.
 */
function fileNameOf({ not = '', from: _from, to, ...query }: Read<typeof C.LogFilters>, now: number): string {
  const negated = not.split(',');
  const { status, deliverability, reason, decision, origin, level, ...others } = query;
  const named = { status, deliverability, reason, decision, origin, level };
  const parts = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [negated.includes(name) ? `not-${value}` : value],
  );
  if (Object.values(others).some((one) => one !== undefined && one !== '')) parts.push('search');
  return ['log', ...parts, toIso(Math.min(to ?? now, now)).slice(0, 10)].join('.');
}

/** The log as a file, with the search of the page. */
export const LOG_EXPORT_ROUTES: readonly Route[] = inEachForm((form, { content, id }) =>
  route({
    method: 'GET',
    path: `${LOG_PATH}.${form}`,
    access: 'viewer',
    cost: null,
    input: { query: C.LogFilters },
    output: { content },
    doc: {
      operationId: `log${id}`,
      summary:
        form === 'csv'
          ? 'All verifications and rejected requests that a search finds, as CSV'
          : 'The same as JSON Lines; the `kind` of a row is `verification` or `rejected`',
    },
    serve:
      ({ log, costs, clock }) =>
      async ({ account }, { query }) =>
        rowsFile(
          form,
          fileNameOf(query, clock.now()),
          await costs.read('export', account, log.export(account, logSearchOf(query))),
          { columns: LOG_CELLS, shownOf: shownRow, reply: rowReply },
        ),
  }),
);

const VIEWS = '/dashboard/accounts/:account/views';

/** Saved views, which the members of an account share. */
export const VIEW_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: VIEWS,
    access: 'viewer',
    cost: null,
    input: { query: C.ViewsQuery },
    output: { content: C.ViewsReply },
    doc: { operationId: 'savedViews', summary: 'Saved views of a page, by name' },
    serve:
      ({ views }) =>
      async ({ account }, { query: { page } }) => ({
        body: { views: await views.list(account, page) },
      }),
  }),
  route({
    method: 'POST',
    path: VIEWS,
    access: 'member',
    input: { body: C.ViewRequest },
    output: { status: 201, content: C.ViewReply },
    doc: { operationId: 'saveView', summary: 'Save the search of a page under a name', errors: [422] },
    serve:
      ({ views }) =>
      async ({ account }, { body: { page, ...view } }) => ({
        body: await views.add(account, page, view),
      }),
  }),
  route({
    method: 'PATCH',
    path: `${VIEWS}/:id`,
    access: 'member',
    input: { body: C.ViewRename },
    output: { content: C.ViewReply },
    doc: { operationId: 'renameView', summary: 'Rename a saved view', errors: [422] },
    serve:
      ({ views }) =>
      async ({ account }, { params: { id }, body: { name } }) => ({
        body: await views.rename(account, id, name),
      }),
  }),
  route({
    method: 'DELETE',
    path: `${VIEWS}/:id`,
    access: 'member',
    output: { content: Done },
    doc: { operationId: 'deleteView', summary: 'Delete a saved view' },
    serve:
      ({ views }) =>
      async ({ account }, { params: { id } }) => {
        await views.remove(account, id);
        return done('The view was deleted.');
      },
  }),
];
