import * as C from '../../contract/dashboard/session.ts';
import type { SignedIn } from '../../service/sign-in/session.ts';
import { type Route, route } from '../route.ts';
import { browserRequest, done, keep, NOTHING, signedIn } from './browser-request.ts';
import { INVITATION_ROUTES } from './invitation.ts';
import { SECURITY_ROUTES, shownPasskey } from './security.ts';
import { SESSION_ROUTES, shownSession } from './sessions.ts';

const shown = ({ id, email, name, secondFactor, withSecondFactor, operator }: SignedIn) => ({
  id,
  email,
  name,
  second_factor: secondFactor,
  with_second_factor: withSecondFactor,
  operator,
});

/** Sign-in, sign-out, sign-up and password reset: routes that concern a user, not an account. */
export const SIGN_IN_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/dashboard/session',
    access: 'anybody',
    output: { content: C.SessionReply },
    doc: { operationId: 'session', tag: 'Dashboard', summary: 'The signed-in user', errors: [400] },
    serve: (c) => async (context) => {
      const session = await c.signIn.fromBrowser(browserRequest(context));
      const memberships = session === null ? [] : await c.signIn.accountsOf(session.user);
      const body: C.SessionReply = {
        user: session === null ? null : shown(session.user),
        accounts: memberships.map(({ account: id, accountName: name, role, plan, status, ...of }) => ({
          id,
          name,
          role,
          plan,
          status,
          second_factor_required: of.secondFactorRequired,
          test_account: of.testAccount,
        })),
        needs_setup: session === null && (await c.signIn.setup.wanted()),
        ...c.signIn.offers,
        ip: context.ip,
      };
      return { body, ...keep(session ?? NOTHING) };
    },
  }),
  route({
    method: 'POST',
    path: '/dashboard/suggestion',
    access: 'anybody',
    input: { body: C.EmailRequest },
    output: { content: C.SuggestionReply },
    doc: {
      operationId: 'suggestion',
      tag: 'Dashboard',
      summary: 'The address that was probably meant by a mistyped one',
    },
    serve:
      ({ didYouMean }) =>
      async (_context, { body }) => ({ body: { did_you_mean: didYouMean(body.email) } }),
  }),
  route({
    method: 'POST',
    path: '/dashboard/setup',
    access: 'anybody',
    input: { body: C.SetupRequest },
    output: { status: 201, content: C.Done },
    doc: {
      operationId: 'setup',
      tag: 'Dashboard',
      summary: 'Use the one-time setup link',
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (context, { body }) =>
        done('You are signed in as owner and operator.', await c.signIn.setup.use(browserRequest(context), body)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in',
    access: 'anybody',
    input: { body: C.SignInRequest },
    output: { content: C.SignInReply },
    doc: { operationId: 'signIn', tag: 'Dashboard', summary: 'Sign in with email and password', errors: [401, 429] },
    serve:
      (c) =>
      async (context, { body }) => {
        const { secondFactor, setCookie } = await c.signIn.signIn(browserRequest(context), body);
        return { body: { second_factor: secondFactor }, ...keep({ setCookie }) };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/code',
    access: 'anybody',
    input: { body: C.CodeRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'signInCode',
      tag: 'Dashboard',
      summary: 'Complete a sign-in with the second factor',
      errors: [401, 429],
    },
    serve:
      (c) =>
      async (context, { body }) =>
        signedIn(await c.signIn.signInCode(browserRequest(context), body.code)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/passkey/options',
    access: 'anybody',
    output: { content: C.PasskeyOptions },
    doc: {
      operationId: 'passkeySignInOptions',
      tag: 'Dashboard',
      summary: 'Start signing in with a passkey',
      errors: [422, 429],
    },
    serve: (c) => async (context) => {
      const { options, setCookie } = await c.signIn.passkeys.signInOptions(browserRequest(context));
      return { body: { options }, ...keep({ setCookie }) };
    },
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/passkey',
    access: 'anybody',
    input: { body: C.PasskeySignInRequest },
    output: { content: C.Done },
    doc: { operationId: 'passkeySignIn', tag: 'Dashboard', summary: 'Sign in with a passkey', errors: [401, 422, 429] },
    serve:
      (c) =>
      async (context, { body }) =>
        signedIn(await c.signIn.passkeys.signIn(browserRequest(context), body.credential)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-out',
    access: 'anybody',
    output: { content: C.Done },
    doc: { operationId: 'signOut', tag: 'Dashboard', summary: 'Sign out of this session' },
    serve: (c) => async (context) => done('You are signed out.', await c.signIn.signOut(browserRequest(context))),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-out-everywhere',
    access: 'signed-in',
    output: { content: C.Done },
    doc: {
      operationId: 'signOutEverywhere',
      tag: 'Dashboard',
      summary: 'End all sessions of the user, including this one',
    },
    serve: (c) => async (context) =>
      done('You are signed out everywhere.', await c.signIn.signOutEverywhere(browserRequest(context), context.user)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-up',
    access: 'anybody',
    input: { body: C.SignUpRequest },
    output: { status: 202, content: C.Done },
    doc: {
      operationId: 'signUp',
      tag: 'Dashboard',
      summary: 'Sign up; the next step is sent by email',
      errors: [404, 422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        await c.signIn.signUp(browserRequest(context), body);
        return done('Check your email for the next step.');
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/verify-email',
    access: 'anybody',
    input: { body: C.TokenRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'verifyEmail',
      tag: 'Dashboard',
      summary: 'Use the link from the sign-up email',
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (context, { body }) =>
        signedIn(await c.signIn.verifyEmail(browserRequest(context), body.token)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/password/forgot',
    access: 'anybody',
    input: { body: C.EmailRequest },
    output: { status: 202, content: C.Done },
    doc: {
      operationId: 'forgotPassword',
      tag: 'Dashboard',
      summary: 'Send a password reset link; the response does not reveal whether the address has an account',
      errors: [404, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        await c.signIn.passwords.forgot(browserRequest(context), body.email);
        return done('If this address has an account, a password reset link has been sent to it.');
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/password/reset/lookup',
    access: 'anybody',
    input: { body: C.TokenRequest },
    output: { content: C.ResetLookupReply },
    doc: {
      operationId: 'lookUpReset',
      tag: 'Dashboard',
      summary: 'Look up the sessions and passkeys that a reset link can keep',
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        const { email, passkeys, sessions } = await c.signIn.passwords.lookUpReset(browserRequest(context), body.token);
        return { body: { email, passkeys: passkeys.map(shownPasskey), sessions: sessions.map(shownSession) } };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/password/reset',
    access: 'anybody',
    input: { body: C.NewPasswordRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'resetPassword',
      tag: 'Dashboard',
      summary: 'Set a new password with a reset link; ends all sessions and removes all passkeys that are not kept',
      errors: [410, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        await c.signIn.passwords.reset(browserRequest(context), body);
        return done(
          'Password changed. Sessions were ended and passkeys removed unless kept; sign in with the new password.',
        );
      },
  }),
  ...SECURITY_ROUTES,
  ...SESSION_ROUTES,
  ...INVITATION_ROUTES,
];
