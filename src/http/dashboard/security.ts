import * as C from '../../contract/dashboard/session.ts';
import { toIso } from '../../kernel/clock.ts';
import { Refusal } from '../../kernel/errors.ts';
import { type DashboardRow, row } from './row.ts';
import { done, keep, visitorOf } from './visitor.ts';

/** What a user who is signed in keeps: password, name, second factor, passkeys. */
export const SECURITY_ROWS: readonly DashboardRow[] = [
  row({
    method: 'POST',
    path: '/dashboard/password',
    who: 'signed-in',
    doc: {
      operationId: 'changePassword',
      summary: 'Change the password; ends every other session of the user',
      body: C.ChangePasswordRequest,
      reply: { schema: C.Done },
      errors: [422, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) =>
        done(
          'The password is changed, and every other session has ended.',
          await c.signIn.passwords.change(visitorOf(visit), visit.user, body),
        ),
  }),
  row({
    method: 'PATCH',
    path: '/dashboard/profile',
    who: 'signed-in',
    doc: {
      operationId: 'changeProfile',
      summary: 'Change the name',
      body: C.ProfileRequest,
      reply: { schema: C.Done },
    },
    serve:
      (c) =>
      async (visit, { body }) => {
        await c.signIn.rename(visit.user, body.name);
        return done('The name is changed.');
      },
  }),
  row({
    method: 'POST',
    path: '/dashboard/totp',
    who: 'signed-in',
    doc: {
      operationId: 'beginTotp',
      summary: 'Make a secret for an authenticator app; in force once a code confirms it',
      body: C.PasswordRequest,
      reply: { schema: C.TotpReply },
      errors: [422, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) => {
        const made = await c.signIn.beginTotp(visitorOf(visit), visit.user, body.password);
        return { body: { uri: made.uri, secret: made.secret, recovery_codes: made.recoveryCodes } };
      },
  }),
  row({
    method: 'POST',
    path: '/dashboard/totp/confirm',
    who: 'signed-in',
    doc: {
      operationId: 'confirmTotp',
      summary: 'Ask a code at sign-in from now on',
      body: C.CodeRequest,
      reply: { schema: C.Done },
      errors: [422, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) =>
        done(
          'A code is asked at sign-in from now on.',
          await c.signIn.confirmTotp(visitorOf(visit), visit.user, body.code),
        ),
  }),
  row({
    method: 'POST',
    path: '/dashboard/totp/remove',
    who: 'signed-in',
    doc: {
      operationId: 'removeTotp',
      summary: 'Ask no code at sign-in any more',
      body: C.PasswordRequest,
      reply: { schema: C.Done },
      errors: [422, 429],
    },
    serve:
      (c) =>
      async (visit, { body }) =>
        done('No code is asked any more.', await c.signIn.removeTotp(visitorOf(visit), visit.user, body.password)),
  }),
  row({
    method: 'GET',
    path: '/dashboard/passkeys',
    who: 'signed-in',
    doc: { operationId: 'listPasskeys', summary: "The user's passkeys", reply: { schema: C.PasskeysReply } },
    serve: (c) => async (visit) => {
      const passkeys = await c.signIn.passkeys.list(visitorOf(visit));
      return {
        body: { passkeys: passkeys.map(({ id, name, createdAt }) => ({ id, name, created_at: toIso(createdAt) })) },
      };
    },
  }),
  row({
    method: 'POST',
    path: '/dashboard/passkeys/options',
    who: 'signed-in',
    doc: {
      operationId: 'passkeyOptions',
      summary: 'Begin to add a passkey',
      reply: { schema: C.PasskeyOptions },
      errors: [422],
    },
    serve: (c) => async (visit) => {
      const { options, setCookie } = await c.signIn.passkeys.addOptions(visitorOf(visit));
      return { body: { options }, ...keep({ setCookie }) };
    },
  }),
  row({
    method: 'POST',
    path: '/dashboard/passkeys',
    who: 'signed-in',
    doc: {
      operationId: 'addPasskey',
      summary: 'Add a passkey',
      body: C.PasskeyCreateRequest,
      reply: { status: 201, schema: C.Done },
      errors: [422],
    },
    serve:
      (c) =>
      async (visit, { body }) => {
        await c.signIn.passkeys.add(visitorOf(visit), body);
        return done('The passkey was added.');
      },
  }),
  row({
    method: 'DELETE',
    path: '/dashboard/passkeys/:id',
    who: 'signed-in',
    doc: { operationId: 'removePasskey', summary: 'Remove a passkey', reply: { schema: C.Done }, errors: [404] },
    serve:
      (c) =>
      async (visit, { params }) => {
        if (!(await c.signIn.passkeys.remove(visitorOf(visit), params.id ?? '')))
          throw new Refusal('not_found', 'You have no such passkey.');
        return done('The passkey was removed.');
      },
  }),
];
