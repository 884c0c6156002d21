import * as C from '../../contract/dashboard/log.ts';
import { pending } from './pending.ts';
import { type DashboardRow, row } from './row.ts';

const ACCOUNT = '/dashboard/accounts/:account';

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
    serve: pending,
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
    serve: pending,
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
    serve: pending,
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
    serve: pending,
  }),
];
