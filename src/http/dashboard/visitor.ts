import type { Visitor } from '../../service/sign-in/service.ts';
import type { DashboardAnswer, Visit } from './row.ts';

/** What the sign-in service needs of a request. */
export const visitorOf = ({ ip, request }: Visit): Visitor => ({
  ip,
  cookie: request.headers.cookie,
  origin: request.headers.origin,
});

interface Kept {
  readonly setCookie: readonly string[];
}
export const NOTHING: Kept = { setCookie: [] };

/** Cookies as headers of an answer. */
export const keep = ({ setCookie }: Kept): Pick<DashboardAnswer, 'headers'> =>
  setCookie.length === 0 ? {} : { headers: { 'set-cookie': [...setCookie] } };

export const done = (message: string, kept: Kept = NOTHING): DashboardAnswer => ({
  body: { status: 'success', message },
  ...keep(kept),
});

export const signedIn = (kept: Kept): DashboardAnswer => done('You are signed in.', kept);
