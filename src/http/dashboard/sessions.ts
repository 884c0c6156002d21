import * as C from '../../contract/dashboard/session.ts';
import { toIso } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { counted } from '../../kernel/format.ts';
import type { UserSession } from '../../service/sign-in/session-list.ts';
import { type Route, route } from '../route.ts';
import { browserRequest, done } from './browser-request.ts';

export const shownSession = ({ id, device, ip, createdAt, lastSeenAt }: UserSession) => ({
  id,
  device,
  ip,
  signed_in_at: toIso(createdAt),
  last_seen_at: toIso(lastSeenAt),
});

/** The signed-in user's own sessions. */
export const SESSION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/dashboard/sessions',
    access: 'signed-in',
    output: { content: C.SessionsReply },
    doc: { operationId: 'listSessions', tag: 'Dashboard', summary: "The user's sessions, the one seen last first" },
    serve: (c) => async (context) => {
      const sessions = await c.signIn.sessionsOf(context.user);
      return { body: { sessions: sessions.map((one) => ({ ...shownSession(one), current: one.current })) } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/dashboard/sessions/:id',
    access: 'signed-in',
    output: { content: C.Done },
    doc: { operationId: 'endSession', tag: 'Dashboard', summary: 'End a session of the user', errors: [404] },
    serve:
      (c) =>
      async (context, { params }) => {
        if (!(await c.signIn.revokeSession(browserRequest(context), context.user, params.id)))
          throw new ApiError('not_found', 'There is no such session; it may have ended.');
        return done('The session was ended.');
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/sessions/end-others',
    access: 'signed-in',
    output: { content: C.Done },
    doc: {
      operationId: 'endOtherSessions',
      tag: 'Dashboard',
      summary: 'End all sessions of the user but this one, and their password links',
    },
    serve: (c) => async (context) => {
      const ended = await c.signIn.endOtherSessions(browserRequest(context), context.user);
      return done(`${counted(ended, 'other session')} ended.`);
    },
  }),
];
