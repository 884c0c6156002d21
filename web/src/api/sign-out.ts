import { api, unwrap } from './client.ts';

/** Ends the session here; who was signed in is asked anew by useRefreshSession(). */
export const endSession = () => unwrap(api.POST('/dashboard/sign-out'));

/** To the sign-in as a new page: nothing that this one had in memory is there any more. */
export const leave = (): void => window.location.replace('/sign-in');
