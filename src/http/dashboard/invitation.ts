import * as C from '../../contract/dashboard/session.ts';
import { type Route, route } from '../route.ts';
import { browserRequest, done } from './browser-request.ts';

/** Accepting an invitation; account.ts sends and revokes it. */
export const INVITATION_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/dashboard/invitation',
    access: 'anybody',
    input: { body: C.TokenRequest },
    output: { content: C.InvitationLookupReply },
    doc: {
      operationId: 'lookUpInvitation',
      tag: 'Dashboard',
      summary: 'Look up an invitation',
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        const { invitation, known } = await c.signIn.invitations.lookUp(browserRequest(context), body.token);
        const { accountName: name, email, role } = invitation;
        return { body: { account: { name }, email, role, known } };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/invitation/accept',
    access: 'anybody',
    input: { body: C.InvitationAcceptRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'acceptInvitation',
      tag: 'Dashboard',
      summary: 'Accept an invitation: with a name and password if the address is new, otherwise signed in under it',
      errors: [401, 403, 410, 422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) =>
        done('You are now a member.', await c.signIn.invitations.accept(browserRequest(context), body)),
  }),
];
