import * as C from '../../contract/dashboard/account.ts';
import { Done } from '../../contract/dashboard/session.ts';
import { pending } from './pending.ts';
import { type DashboardRow, row } from './row.ts';

const ACCOUNT = '/dashboard/accounts/:account';

/** The account itself: plan, ledger, people, audit log, its end. */
export const ACCOUNT_ROWS: readonly DashboardRow[] = [
  row({
    method: 'GET',
    path: ACCOUNT,
    who: 'member',
    doc: { operationId: 'account', summary: 'Plan, limits, prices, retention', reply: { schema: C.AccountReply } },
    serve: pending,
  }),
  row({
    method: 'PATCH',
    path: ACCOUNT,
    who: 'admin',
    doc: {
      operationId: 'changeAccount',
      summary: 'Change name and retention',
      body: C.AccountChangeRequest,
      reply: { schema: C.AccountReply },
    },
    serve: pending,
  }),
  row({
    method: 'POST',
    path: `${ACCOUNT}/delete`,
    who: 'owner',
    doc: {
      operationId: 'deleteAccount',
      summary: 'Delete the account and everything in it, for good',
      body: C.AccountDeleteRequest,
      reply: { schema: Done },
      errors: [422, 429],
    },
    serve: pending,
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/ledger`,
    who: 'member',
    doc: {
      operationId: 'ledger',
      summary: 'Every change of the balance, newest first',
      query: C.PageQuery,
      reply: { schema: C.LedgerReply },
    },
    serve: pending,
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/members`,
    who: 'member',
    doc: {
      operationId: 'members',
      summary: 'Members, and invitations that are open',
      reply: { schema: C.MembersReply },
    },
    serve: pending,
  }),
  row({
    method: 'PATCH',
    path: `${ACCOUNT}/members/:user`,
    who: 'admin',
    doc: {
      operationId: 'changeRole',
      summary: "Change a member's role; only owners make and unmake owners, and one always stays",
      body: C.RoleRequest,
      reply: { schema: Done },
      errors: [422],
    },
    serve: pending,
  }),
  row({
    method: 'DELETE',
    path: `${ACCOUNT}/members/:user`,
    who: 'member',
    doc: {
      operationId: 'removeMember',
      summary: 'Remove a member (admins; owners only by owners), or leave (anybody)',
      reply: { schema: Done },
      errors: [422],
    },
    serve: pending,
  }),
  row({
    method: 'POST',
    path: `${ACCOUNT}/invitations`,
    who: 'admin',
    doc: {
      operationId: 'invite',
      summary: 'Invite somebody for seven days',
      body: C.InviteRequest,
      reply: { status: 201, schema: C.InviteReply },
      errors: [422, 429],
    },
    serve: pending,
  }),
  row({
    method: 'DELETE',
    path: `${ACCOUNT}/invitations/:id`,
    who: 'admin',
    doc: { operationId: 'withdrawInvitation', summary: 'Withdraw an invitation', reply: { schema: Done } },
    serve: pending,
  }),
  row({
    method: 'GET',
    path: `${ACCOUNT}/trail`,
    who: 'admin',
    doc: {
      operationId: 'trail',
      summary: 'Who did what, from where; newest first',
      query: C.PageQuery,
      reply: { schema: C.TrailReply },
    },
    serve: pending,
  }),
];
