import type { SignUpService } from '../service/sign-in/sign-up.ts';
import type { JobRunner } from './runner.ts';

/** Mails the link that confirms a sign-up. Each attempt creates a new token. */
export const signUpJob =
  (signIn: Pick<SignUpService, 'mailSignUp'>): JobRunner<'sign_up'> =>
  async ({ id, payload }) => {
    await signIn.mailSignUp(payload, id);
    return undefined;
  };
