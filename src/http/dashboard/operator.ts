import { LedgerReply, PageQuery } from '../../contract/dashboard/account.ts';
import * as C from '../../contract/dashboard/operator.ts';
import { pending } from './pending.ts';
import { type DashboardRow, row } from './row.ts';

const OPERATOR = '/dashboard/operator';

/** For the people who run the service. */
export const OPERATOR_ROWS: readonly DashboardRow[] = [
  row({
    method: 'GET',
    path: `${OPERATOR}/accounts`,
    who: 'operator',
    doc: {
      operationId: 'operatorAccounts',
      summary: 'Accounts, newest first',
      query: C.OperatorAccountsQuery,
      reply: { schema: C.OperatorAccountsReply },
    },
    serve: pending,
  }),
  row({
    method: 'POST',
    path: `${OPERATOR}/accounts`,
    who: 'operator',
    doc: {
      operationId: 'operatorCreateAccount',
      summary: 'Make an account',
      body: C.OperatorCreateRequest,
      reply: { status: 201, schema: C.OperatorAccount },
    },
    serve: pending,
  }),
  row({
    method: 'GET',
    path: `${OPERATOR}/accounts/:id`,
    who: 'operator',
    doc: {
      operationId: 'operatorAccount',
      summary: 'One account',
      reply: { schema: C.OperatorAccount },
      errors: [404],
    },
    serve: pending,
  }),
  row({
    method: 'PATCH',
    path: `${OPERATOR}/accounts/:id`,
    who: 'operator',
    doc: {
      operationId: 'operatorChangeAccount',
      summary: 'Name, plan, rate limit; suspend and resume',
      body: C.OperatorChangeRequest,
      reply: { schema: C.OperatorAccount },
      errors: [404],
    },
    serve: pending,
  }),
  row({
    method: 'POST',
    path: `${OPERATOR}/accounts/:id/grants`,
    who: 'operator',
    doc: {
      operationId: 'operatorGrant',
      summary: 'Grant credits, or take them back',
      body: C.GrantRequest,
      reply: { schema: C.OperatorAccount },
      errors: [404, 422],
    },
    serve: pending,
  }),
  row({
    method: 'GET',
    path: `${OPERATOR}/accounts/:id/ledger`,
    who: 'operator',
    doc: {
      operationId: 'operatorLedger',
      summary: "An account's ledger",
      query: PageQuery,
      reply: { schema: LedgerReply },
      errors: [404],
    },
    serve: pending,
  }),
  row({
    method: 'POST',
    path: `${OPERATOR}/doctor`,
    who: 'operator',
    doc: {
      operationId: 'operatorDoctor',
      summary: "Is this host fit to ask other people's mail servers?",
      reply: { schema: C.DoctorReply },
    },
    serve: pending,
  }),
  row({
    method: 'GET',
    path: `${OPERATOR}/lists`,
    who: 'operator',
    doc: { operationId: 'operatorLists', summary: 'The disposable list in use', reply: { schema: C.ListsReply } },
    serve: pending,
  }),
  row({
    method: 'POST',
    path: `${OPERATOR}/lists/update`,
    who: 'operator',
    doc: {
      operationId: 'operatorUpdateLists',
      summary: 'Fetch the newest disposable list',
      reply: { schema: C.ListsUpdateReply },
      errors: [503],
    },
    serve: pending,
  }),
];
