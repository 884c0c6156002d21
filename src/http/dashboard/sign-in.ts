import * as C from '../../contract/dashboard/session.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { termsOf } from '../../kernel/facts/plans.ts';
import { counted } from '../../kernel/format.ts';
import type { PasskeyRecord } from '../../service/sign-in/passkeys.ts';
import type { SignedIn } from '../../service/sign-in/session.ts';
import type { UserSession } from '../../service/sign-in/sessions.ts';
import { browserRequest, done, keep, NOTHING, signInReply } from '../access/session.ts';
import type { HttpContext } from '../context.ts';
import { type Route, route } from '../route.ts';

/** Accepting an invitation; account.ts sends and revokes it. */
const INVITATION_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/dashboard/invitation',
    access: 'anybody',
    input: { body: C.TokenRequest },
    output: { content: C.InvitationLookupReply },
    doc: { operationId: 'lookUpInvitation', summary: 'Look up an invitation', errors: [410, 429] },
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
      summary: 'Accept an invitation: with a name and password if the address is new, otherwise signed in under it',
      errors: [401, 403, 410, 422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) =>
        done('You are now a member.', await c.signIn.invitations.accept(browserRequest(context), body)),
  }),
];

const shownPasskey = ({ id, name, createdAt, lastUsedAt }: PasskeyRecord) => ({
  id,
  name,
  created_at: toIso(createdAt),
  last_used_at: toIsoOrNull(lastUsedAt),
});

/** Routes for settings of the signed-in user are here: password, name, two-factor authentication, passkeys. */
const SECURITY_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/dashboard/password',
    access: 'signed-in',
    input: { body: C.ChangePasswordRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'changePassword',
      summary: 'Change the password; ends all other sessions of the user',
      errors: [422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) =>
        done(
          'Password changed. All other sessions were ended.',
          await c.signIn.passwords.change(browserRequest(context), context.user, body),
        ),
  }),
  route({
    method: 'PATCH',
    path: '/dashboard/profile',
    access: 'signed-in',
    input: { body: C.ProfileRequest },
    output: { content: C.Done },
    doc: { operationId: 'changeProfile', summary: 'Change the name' },
    serve:
      (c) =>
      async (context, { body }) => {
        await c.signIn.rename(context.user, body.name);
        return done('Name changed.');
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/totp',
    access: 'signed-in',
    input: { body: C.ConfirmRequest },
    output: { content: C.TotpReply },
    doc: {
      operationId: 'beginTotp',
      summary:
        'Create a secret for an authenticator app, with the password, or else a passkey or the OpenID provider; takes effect once a code confirms it',
      errors: [403, 422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        const made = await c.signIn.beginTotp(browserRequest(context), context.user, body);
        return { body: { uri: made.uri, secret: made.secret, recovery_codes: made.recoveryCodes } };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/totp/confirm',
    access: 'signed-in',
    input: { body: C.CodeRequest },
    output: { content: C.Done },
    doc: { operationId: 'confirmTotp', summary: 'Turn on two-factor authentication', errors: [422, 429] },
    serve:
      (c) =>
      async (context, { body }) =>
        done(
          'Two-factor authentication is on.',
          await c.signIn.confirmTotp(browserRequest(context), context.user, body.code),
        ),
  }),
  route({
    method: 'POST',
    path: '/dashboard/totp/remove',
    access: 'signed-in',
    input: { body: C.ConfirmRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'removeTotp',
      summary: 'Turn off two-factor authentication, with the password, a code, a passkey or the OpenID provider',
      errors: [403, 422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) =>
        done(
          'Two-factor authentication is off.',
          await c.signIn.removeTotp(browserRequest(context), context.user, body),
        ),
  }),
  route({
    method: 'GET',
    path: '/dashboard/passkeys',
    access: 'signed-in',
    output: { content: C.PasskeysReply },
    doc: { operationId: 'listPasskeys', summary: "The user's passkeys" },
    serve: (c) => async (context) => {
      const passkeys = await c.signIn.passkeys.list(context.user);
      return { body: { passkeys: passkeys.map(shownPasskey) } };
    },
  }),
  route({
    method: 'POST',
    path: '/dashboard/passkeys/options',
    access: 'signed-in',
    input: { body: C.ConfirmRequest },
    output: { content: C.PasskeyOptions },
    doc: {
      operationId: 'passkeyOptions',
      summary: 'Start adding a passkey, with the password, a code, another passkey or the OpenID provider',
      errors: [403, 422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        // A passkey outlasts the session: whoever has only the session cannot add one.
        const browser = browserRequest(context);
        await c.signIn.confirm(browser, context.user, body, 'add_passkey');
        const { options, setCookie } = await c.signIn.passkeys.addOptions(browser, context.user);
        return { body: { options }, ...keep({ setCookie }) };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/passkeys',
    access: 'signed-in',
    input: { body: C.PasskeyCreateRequest },
    output: { status: 201, content: C.Done },
    doc: { operationId: 'addPasskey', summary: 'Add a passkey', errors: [422] },
    serve:
      (c) =>
      async (context, { body }) => {
        await c.signIn.passkeys.add(browserRequest(context), context.user, body);
        return done('Passkey added.');
      },
  }),
  route({
    method: 'DELETE',
    path: '/dashboard/passkeys/:id',
    access: 'signed-in',
    output: { content: C.Done },
    doc: { operationId: 'removePasskey', summary: 'Remove a passkey', errors: [404] },
    serve:
      (c) =>
      async (context, { params }) => {
        if (!(await c.signIn.passkeys.remove(browserRequest(context), context.user, params.id)))
          throw new ApiError('not_found', 'Passkey not found.');
        return done('Passkey removed.');
      },
  }),
];

const shownSession = ({ id, device, ip, createdAt, lastSeenAt }: UserSession) => ({
  id,
  device,
  ip,
  signed_in_at: toIso(createdAt),
  last_seen_at: toIso(lastSeenAt),
});

/** Routes for the signed-in user's own sessions are here. */
const SESSION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/dashboard/sessions',
    access: 'signed-in',
    output: { content: C.SessionsReply },
    doc: { operationId: 'listSessions', summary: "The user's sessions, the one seen last first" },
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
    doc: { operationId: 'endSession', summary: 'End a session of the user', errors: [404] },
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
      summary: 'End all sessions of the user but this one, and their password links',
    },
    serve: (c) => async (context) => {
      const ended = await c.signIn.endOtherSessions(browserRequest(context), context.user);
      return done(`${counted(ended, 'other session')} ended.`);
    },
  }),
];

function unreachable(health: HttpContext['health']): C.SessionReply['mail_servers'] {
  const down = health.mailServers();
  return down === null ? null : { state: down.state, since: toIso(down.since) };
}

const shownUser = (user: SignedIn, hasPassword: boolean) => {
  const { id, email, name, secondFactor, withSecondFactor, operator } = user;
  return {
    id,
    email,
    name,
    has_password: hasPassword,
    second_factor: secondFactor,
    with_second_factor: withSecondFactor,
    operator,
  };
};

function offersOf({ signIn }: HttpContext) {
  const { oidc, ...others } = signIn.offers;
  return { ...others, oidc: oidc && { name: oidc.name, only: oidc.only } };
}

/** Throws `not_found`. */
function requireOidc({ signIn }: HttpContext): NonNullable<HttpContext['signIn']['oidc']> {
  if (signIn.oidc !== null) return signIn.oidc;
  throw new ApiError('not_found', 'This service has no OpenID provider to sign in with.');
}

/** Signing in with the OpenID provider. The page, not the provider, calls all of these but the last. */
const OIDC_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/dashboard/sign-in/oidc',
    access: 'anybody',
    input: { body: C.OidcBeginRequest },
    output: { content: C.OidcBeginReply },
    doc: {
      operationId: 'beginOidc',
      summary: 'Start signing in with the OpenID provider; an invitation is accepted on return',
      errors: [403, 404, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        const { url, setCookie } = await requireOidc(c).begin(browserRequest(context), body.invitation ?? null);
        return { body: { url }, ...keep({ setCookie }) };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/oidc/confirm',
    access: 'signed-in',
    input: { body: C.OidcConfirmRequest },
    output: { content: C.OidcBeginReply },
    doc: {
      operationId: 'beginOidcConfirmation',
      summary: 'Start confirming an action by signing in with the OpenID provider again, for a user without a password',
      errors: [403, 404, 422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        const { url, setCookie } = await requireOidc(c).beginConfirmation(
          browserRequest(context),
          context.user,
          body.action,
        );
        return { body: { url }, ...keep({ setCookie }) };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/oidc/finish',
    access: 'anybody',
    input: { body: C.OidcFinishRequest },
    output: { content: C.OidcFinishReply },
    doc: {
      operationId: 'finishOidc',
      summary: 'Complete a sign-in, or a confirmation, with the OpenID provider',
      errors: [403, 404, 410],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        const { secondFactor, confirmed, setCookie } = await requireOidc(c).finish(browserRequest(context), body.query);
        return { body: { second_factor: secondFactor, confirmed }, ...keep({ setCookie }) };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/oidc/logout',
    access: 'anybody',
    input: { body: C.OidcLogoutRequest, lenient: true },
    output: { content: C.Done },
    doc: {
      operationId: 'logOutOidc',
      summary: 'Called by the OpenID provider (OpenID Connect Back-Channel Logout 1.0): ends the sessions it names',
      errors: [400, 404, 429],
    },
    serve:
      (c) =>
      async ({ ip }, { body }) => {
        try {
          await requireOidc(c).logout({ ip }, body.logout_token);
        } catch (error) {
          if (error instanceof ApiError) throw error;
          throw c.failedAuth.refuse(ip, new ApiError('malformed_request', 'The logout token is not valid.', {}, error));
        }
        return { ...done('The sessions were ended.'), headers: { 'cache-control': 'no-store' } };
      },
  }),
];

/** Sign-in, sign-out, sign-up and password reset: routes that concern a user, not an account. */
export const SIGN_IN_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/dashboard/session',
    access: 'anybody',
    output: { content: C.SessionReply },
    doc: { operationId: 'session', summary: 'The signed-in user', errors: [400] },
    serve: (c) => async (context) => {
      const session = await c.signIn.fromBrowser(browserRequest(context));
      const memberships = session === null ? [] : await c.signIn.accountsOf(session.user);
      const body: C.SessionReply = {
        user: session === null ? null : shownUser(session.user, await c.signIn.hasPassword(session.user.id)),
        accounts: memberships.map(({ account: id, accountName: name, role, plan, status, ...of }) => ({
          id,
          name,
          role,
          plan,
          prices: termsOf(c.plans, plan).prices,
          status,
          second_factor_required: of.secondFactorRequired,
          test_account: of.testAccount,
        })),
        setup_command: session === null && (await c.signIn.setup.wanted()) ? c.setupCommand : null,
        ...offersOf(c),
        mail_servers: session === null ? null : unreachable(c.health),
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
    doc: { operationId: 'suggestion', summary: 'The address that was probably meant by a mistyped one' },
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
    doc: { operationId: 'setup', summary: 'Use the one-time setup link', errors: [410, 429] },
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
    doc: { operationId: 'signIn', summary: 'Sign in with email and password', errors: [401, 429] },
    serve:
      (c) =>
      async (context, { body }) => {
        const { secondFactor, setCookie } = await c.signIn.signIn(browserRequest(context), body);
        return { body: { second_factor: secondFactor }, ...keep({ setCookie }) };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/link',
    access: 'anybody',
    input: { body: C.TokenRequest },
    output: { content: C.Done },
    doc: { operationId: 'signInByLink', summary: 'Sign in by a link of `mailvet user sign-in`', errors: [410, 429] },
    serve:
      (c) =>
      async (context, { body }) =>
        signInReply(await c.signIn.signInByLink(browserRequest(context), body.token)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/code',
    access: 'anybody',
    input: { body: C.CodeRequest },
    output: { content: C.Done },
    doc: { operationId: 'signInCode', summary: 'Complete a sign-in with the second factor', errors: [401, 429] },
    serve:
      (c) =>
      async (context, { body }) =>
        signInReply(await c.signIn.signInCode(browserRequest(context), body.code)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-in/passkey/options',
    access: 'anybody',
    output: { content: C.PasskeyOptions },
    doc: { operationId: 'passkeySignInOptions', summary: 'Start signing in with a passkey', errors: [422, 429] },
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
    doc: { operationId: 'passkeySignIn', summary: 'Sign in with a passkey', errors: [401, 422, 429] },
    serve:
      (c) =>
      async (context, { body }) =>
        signInReply(await c.signIn.passkeys.signIn(browserRequest(context), body.credential)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-out',
    access: 'anybody',
    output: { content: C.Done },
    doc: { operationId: 'signOut', summary: 'Sign out of this session' },
    serve: (c) => async (context) => done('You are signed out.', await c.signIn.signOut(browserRequest(context))),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-out-everywhere',
    access: 'signed-in',
    output: { content: C.Done },
    doc: { operationId: 'signOutEverywhere', summary: 'End all sessions of the user, including this one' },
    serve: (c) => async (context) =>
      done('You are signed out everywhere.', await c.signIn.signOutEverywhere(browserRequest(context), context.user)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/sign-up',
    access: 'anybody',
    input: { body: C.SignUpRequest },
    output: { status: 202, content: C.Done },
    doc: { operationId: 'signUp', summary: 'Sign up; the next step is sent by email', errors: [404, 422, 429] },
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
    doc: { operationId: 'verifyEmail', summary: 'Use the link from the sign-up email', errors: [410, 429] },
    serve:
      (c) =>
      async (context, { body }) =>
        signInReply(await c.signIn.verifyEmail(browserRequest(context), body.token)),
  }),
  route({
    method: 'POST',
    path: '/dashboard/password/forgot',
    access: 'anybody',
    input: { body: C.EmailRequest },
    output: { status: 202, content: C.Done },
    doc: {
      operationId: 'forgotPassword',
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
  ...OIDC_ROUTES,
  ...SECURITY_ROUTES,
  ...SESSION_ROUTES,
  ...INVITATION_ROUTES,
];
