import * as C from '../../contract/dashboard/session.ts';
import type { SignedIn } from '../../service/sign-in/who.ts';
import { INVITATION_ROWS } from './invitation.ts';
import { type DashboardRow, row } from './row.ts';
import { SECURITY_ROWS } from './security.ts';
import { done, keep, NOTHING, signedIn, visitorOf } from './visitor.ts';

const shown = ({ id, email, name, secondFactor, operator }: SignedIn) => ({
  id,
  email,
  name,
  second_factor: secondFactor,
  operator,
});

/** Signing in and out, links of mails, what the user keeps, invitations: rows that concern a person, not an account. */
export const SIGN_IN_ROWS: readonly DashboardRow[] = [
  row({
    method: 'GET',
    path: '/dashboard/session',
    who: 'anybody',
    doc: { operationId: 'session', summary: 'Who is signed in', reply: { schema: C.SessionReply }, errors: [400] },
    serve: (c) => async (visit) => {
      const session = await c.signIn.who(visit.request.headers.cookie);
      const memberships = session === null ? [] : await c.signIn.accountsOf(session.user);
      const body: C.SessionReply = {
        user: session === null ? null : shown(session.user),
        accounts: memberships.map(({ account: id, accountName: name, role, plan, status }) => ({
          id,
          name,
          role,
          plan,
          status,
        })),
        ...c.signIn.offers,
        ip: visit.ip,
      };
      return { body, ...keep(session ?? NOTHING) };
    },
  }),
  row({
    method: 'POST',
    path: '/dashboard/setup',
    who: 'anybody',
    doc: {
      operationId: 'setup',
      summary: 'Use the one-time link of the first start',
      body: C.SetupRequest,
      reply: { status: 201, schema: C.Done },
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) =>
        done('You are signed in, as owner and operator.', await c.signIn.setup.use(visitorOf(visit), body)),
  }),
  row({
    method: 'POST',
    path: '/dashboard/sign-in',
    who: 'anybody',
    doc: {
      operationId: 'signIn',
      summary: 'Sign in with email and password',
      body: C.SignInRequest,
      reply: { schema: C.SignInReply },
      errors: [401, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) => {
        const { secondFactor, setCookie } = await c.signIn.signIn(visitorOf(visit), body);
        return { body: { second_factor: secondFactor }, ...keep({ setCookie }) };
      },
  }),
  row({
    method: 'POST',
    path: '/dashboard/sign-in/code',
    who: 'anybody',
    doc: {
      operationId: 'signInCode',
      summary: 'The second factor of a sign-in',
      body: C.CodeRequest,
      reply: { schema: C.Done },
      errors: [401, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) =>
        signedIn(await c.signIn.signInCode(visitorOf(visit), body.code)),
  }),
  row({
    method: 'POST',
    path: '/dashboard/sign-in/passkey/options',
    who: 'anybody',
    doc: {
      operationId: 'passkeySignInOptions',
      summary: 'Begin to sign in with a passkey',
      reply: { schema: C.PasskeyOptions },
      errors: [422, 429],
    },
    serve: (c) => async (visit) => {
      const { options, setCookie } = await c.signIn.passkeys.signInOptions(visitorOf(visit));
      return { body: { options }, ...keep({ setCookie }) };
    },
  }),
  row({
    method: 'POST',
    path: '/dashboard/sign-in/passkey',
    who: 'anybody',
    doc: {
      operationId: 'passkeySignIn',
      summary: 'Sign in with a passkey',
      body: C.PasskeySignInRequest,
      reply: { schema: C.Done },
      errors: [401, 422, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) =>
        signedIn(await c.signIn.passkeys.signIn(visitorOf(visit), body.credential)),
  }),
  row({
    method: 'POST',
    path: '/dashboard/sign-out',
    who: 'anybody',
    doc: { operationId: 'signOut', summary: 'Sign out here', reply: { schema: C.Done } },
    serve: (c) => async (visit) => done('You are signed out.', await c.signIn.signOut(visitorOf(visit))),
  }),
  row({
    method: 'POST',
    path: '/dashboard/sign-out-everywhere',
    who: 'signed-in',
    doc: {
      operationId: 'signOutEverywhere',
      summary: 'End every session of the user, this one too',
      reply: { schema: C.Done },
    },
    serve: (c) => async (visit) =>
      done('You are signed out everywhere.', await c.signIn.signOutEverywhere(visitorOf(visit), visit.user)),
  }),
  row({
    method: 'POST',
    path: '/dashboard/sign-up',
    who: 'anybody',
    doc: {
      operationId: 'signUp',
      summary: 'Sign up; a mail says how to go on',
      body: C.SignUpRequest,
      reply: { status: 202, schema: C.Done },
      errors: [404, 422, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) => {
        await c.signIn.signUp(visitorOf(visit), body);
        return done('A mail is on its way to this address; it says how to go on.');
      },
  }),
  row({
    method: 'POST',
    path: '/dashboard/verify-email',
    who: 'anybody',
    doc: {
      operationId: 'verifyEmail',
      summary: "Use the link of a sign-up's mail",
      body: C.TokenRequest,
      reply: { schema: C.Done },
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) =>
        signedIn(await c.signIn.verifyEmail(visitorOf(visit), body.token)),
  }),
  row({
    method: 'POST',
    path: '/dashboard/password/forgot',
    who: 'anybody',
    doc: {
      operationId: 'forgotPassword',
      summary: 'Send a link to choose a new password; says nothing of whether the address is known',
      body: C.EmailRequest,
      reply: { status: 202, schema: C.Done },
      errors: [404, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) => {
        await c.signIn.passwords.forgot(visitorOf(visit), body.email);
        return done('If somebody signs in with this address, a mail with a link is on its way.');
      },
  }),
  row({
    method: 'POST',
    path: '/dashboard/password/reset',
    who: 'anybody',
    doc: {
      operationId: 'resetPassword',
      summary: 'Choose a password by a link; ends every session of the user',
      body: C.NewPasswordRequest,
      reply: { schema: C.Done },
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) => {
        await c.signIn.passwords.reset(visitorOf(visit), body);
        return done('The password is changed, and every session has ended. Sign in with the new one.');
      },
  }),
  ...SECURITY_ROWS,
  ...INVITATION_ROWS,
];
