import { endSession, redirectToSignIn } from '../api/sign-out.ts';
import { notify } from '../parts/notify.tsx';

export const signOut = (): Promise<void> =>
  endSession().then(redirectToSignIn, (error: Error) => notify(`Could not sign out. ${error.message}`));
