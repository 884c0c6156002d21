import type { PasswordService } from '../service/sign-in/password-change.ts';
import type { JobRunner } from './runner.ts';

/** Mails a link to choose a password if the address has a user. Each attempt creates a new token. */
export const passwordResetJob =
  (passwords: Pick<PasswordService, 'mailReset'>): JobRunner<'password_reset'> =>
  async ({ id, payload }) => {
    await passwords.mailReset(payload.email, id);
    return undefined;
  };
