import type { Done } from '../../contract/dashboard/session.ts';
import { USER_AGENT_LENGTH } from '../../kernel/facts/limits.ts';
import type { BrowserRequest } from '../../service/sign-in/service.ts';
import type { Answer, JsonAnswer, RequestContext } from '../route.ts';

/** The parts of a request that the sign-in service needs. */
export const browserRequest = ({ ip, request }: RequestContext): BrowserRequest => ({
  ip,
  cookie: request.headers.cookie,
  origin: request.headers.origin,
  userAgent: (request.headers['user-agent'] ?? '').slice(0, USER_AGENT_LENGTH.max),
});

interface Kept {
  readonly setCookie: readonly string[];
}
export const NOTHING: Kept = { setCookie: [] };

/** Cookies as response headers. */
export const keep = ({ setCookie }: Kept): Pick<Answer, 'headers'> =>
  setCookie.length === 0 ? {} : { headers: { 'set-cookie': [...setCookie] } };

export const done = (message: string, kept: Kept = NOTHING): JsonAnswer<Done> => ({
  body: { status: 'success', message },
  ...keep(kept),
});

export const signedIn = (kept: Kept): JsonAnswer<Done> => done('You are signed in.', kept);
