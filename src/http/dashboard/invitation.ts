import * as C from '../../contract/dashboard/session.ts';
import { type DashboardRow, row } from './row.ts';
import { done, visitorOf } from './visitor.ts';

/** The other end of an invitation; it is sent and withdrawn in account.ts. */
export const INVITATION_ROWS: readonly DashboardRow[] = [
  row({
    method: 'POST',
    path: '/dashboard/invitation',
    who: 'anybody',
    doc: {
      operationId: 'lookUpInvitation',
      summary: 'What an invitation is for',
      body: C.TokenRequest,
      reply: { schema: C.InvitationLookupReply },
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) => {
        const { invitation, known } = await c.signIn.invitations.lookUp(visitorOf(visit), body.token);
        const { accountName: name, email, role } = invitation;
        return { body: { account: { name }, email, role, known } };
      },
  }),
  row({
    method: 'POST',
    path: '/dashboard/invitation/accept',
    who: 'anybody',
    doc: {
      operationId: 'acceptInvitation',
      summary: 'Become a member: with a name and a password where the address is new, else signed in under it',
      body: C.InvitationAcceptRequest,
      reply: { schema: C.Done },
      errors: [401, 410, 422, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) =>
        done('You are a member now.', await c.signIn.invitations.accept(visitorOf(visit), body)),
  }),
];
