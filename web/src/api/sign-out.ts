import { notify } from '../parts/notify.tsx';
import { api, unwrap } from './client.ts';

/** Ends the session of this browser. The caller reloads the cached session. */
export const endSession = () => unwrap(api.POST('/dashboard/sign-out'));

/** A full page load, so that nothing stays in memory. */
export const redirectToSignIn = (): void => window.location.replace('/sign-in');

export const signOut = (): Promise<void> =>
  endSession().then(redirectToSignIn, (error: Error) => notify(`Could not sign out. ${error.message}`));
