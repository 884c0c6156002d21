import * as C from '../../contract/dashboard/session.ts';
import { toIso } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { PasskeyRecord } from '../../service/sign-in/passkeys.ts';
import { type Route, route } from '../route.ts';
import { browserRequest, done, keep } from './browser-request.ts';

export const shownPasskey = ({ id, name, createdAt, lastUsedAt }: PasskeyRecord) => ({
  id,
  name,
  created_at: toIso(createdAt),
  last_used_at: lastUsedAt === null ? null : toIso(lastUsedAt),
});

/** Settings of the signed-in user: password, name, two-factor authentication, passkeys. */
export const SECURITY_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/dashboard/password',
    access: 'signed-in',
    input: { body: C.ChangePasswordRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'changePassword',
      tag: 'Dashboard',
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
    doc: { operationId: 'changeProfile', tag: 'Dashboard', summary: 'Change the name' },
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
    input: { body: C.PasswordRequest },
    output: { content: C.TotpReply },
    doc: {
      operationId: 'beginTotp',
      tag: 'Dashboard',
      summary: 'Create a secret for an authenticator app; takes effect once a code confirms it',
      errors: [422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        const made = await c.signIn.beginTotp(browserRequest(context), context.user, body.password);
        return { body: { uri: made.uri, secret: made.secret, recovery_codes: made.recoveryCodes } };
      },
  }),
  route({
    method: 'POST',
    path: '/dashboard/totp/confirm',
    access: 'signed-in',
    input: { body: C.CodeRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'confirmTotp',
      tag: 'Dashboard',
      summary: 'Turn on two-factor authentication',
      errors: [422, 429],
    },
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
    input: { body: C.PasswordRequest },
    output: { content: C.Done },
    doc: {
      operationId: 'removeTotp',
      tag: 'Dashboard',
      summary: 'Turn off two-factor authentication',
      errors: [422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) =>
        done(
          'Two-factor authentication is off.',
          await c.signIn.removeTotp(browserRequest(context), context.user, body.password),
        ),
  }),
  route({
    method: 'GET',
    path: '/dashboard/passkeys',
    access: 'signed-in',
    output: { content: C.PasskeysReply },
    doc: { operationId: 'listPasskeys', tag: 'Dashboard', summary: "The user's passkeys" },
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
      tag: 'Dashboard',
      summary: 'Start adding a passkey, with the password, a code or another passkey',
      errors: [403, 422, 429],
    },
    serve:
      (c) =>
      async (context, { body }) => {
        // A passkey outlasts the session: whoever has only the session cannot add one.
        const browser = browserRequest(context);
        await c.signIn.confirm(browser, context.user, body);
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
    doc: { operationId: 'addPasskey', tag: 'Dashboard', summary: 'Add a passkey', errors: [422] },
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
    doc: { operationId: 'removePasskey', tag: 'Dashboard', summary: 'Remove a passkey', errors: [404] },
    serve:
      (c) =>
      async (context, { params }) => {
        if (!(await c.signIn.passkeys.remove(browserRequest(context), context.user, params.id)))
          throw new ApiError('not_found', 'Passkey not found.');
        return done('Passkey removed.');
      },
  }),
];
