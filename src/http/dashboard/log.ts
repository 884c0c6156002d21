import * as C from '../../contract/dashboard/log.ts';
import { PAGE_SIZE } from '../../contract/dashboard/words.ts';
import { toIso } from '../../kernel/clock.ts';
import type { Logged } from '../../service/log.ts';
import { type DashboardRow, row } from './row.ts';
import { verifyHere } from './verify.ts';

const ACCOUNT = '/dashboard/accounts/:account';

const entryReply = (entry: Logged): C.LogEntry => ({
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
  created_at: toIso(entry.createdAt),
});

/** Verifying in the page, and what was verified. */
export const LOG_ROWS: readonly DashboardRow[] = [
  row({
    method: 'POST',
    path: `${ACCOUNT}/verify`,
    who: 'member',
    doc: {
      operationId: 'verifyHere',
      summary: 'Verify one address, with its evidence; charged as any other',
      body: C.DashboardVerifyRequest,
      reply: { schema: C.DashboardVerifyReply },
      errors: [402, 422, 429],
    },
    serve: verifyHere,
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/log`,
    who: 'member',
    doc: {
      operationId: 'searchLog',
      summary: 'Verifications, newest first',
      query: C.LogQuery,
      reply: { schema: C.LogReply },
    },
    serve:
      ({ log }) =>
      async ({ account }, { query }) => {
        const { email = null, id = null, reason = null, key: keyId = null, status = null, before = null } = query;
        const search = { email, id, reason, keyId, status, before, limit: query.limit ?? PAGE_SIZE };
        const { entries, next, searchedTo, retentionDays } = await log.search(account, search);
        return {
          body: {
            entries: entries.map(entryReply),
            next,
            searched_to: searchedTo === null ? null : toIso(searchedTo),
            retention_days: retentionDays,
          },
        };
      },
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/log/:id`,
    who: 'member',
    doc: {
      operationId: 'logEntry',
      summary: 'One verification with its full reply',
      reply: { schema: C.LogDetailReply },
    },
    serve:
      ({ log }) =>
      async ({ account }, { params }) => {
        const entry = await log.get(account, params.id!);
        return { body: { entry: entryReply(entry), reply: JSON.parse(entry.body) } };
      },
  }),
  row({
    method: 'POST',
    path: `${ACCOUNT}/log/erase`,
    who: 'admin',
    doc: {
      operationId: 'eraseFromLog',
      summary: 'Erase what is recorded of an address; counters and charges stay',
      body: C.EraseRequest,
      reply: { schema: C.EraseReply },
    },
    serve:
      ({ log }) =>
      async ({ account, actor }, { body: { email } }) => ({ body: { erased: await log.erase(account, email, actor) } }),
  }),
];
