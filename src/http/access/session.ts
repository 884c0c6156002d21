import type { Done } from '../../contract/dashboard/session.ts';
import { ApiError } from '../../kernel/errors.ts';
import { USER_AGENT_LENGTH } from '../../kernel/facts/limits.ts';
import { type Role, requireRole } from '../../service/members.ts';
import type { BrowserRequest } from '../../service/sign-in/service.ts';
import type { SignedIn } from '../../service/sign-in/session.ts';
import type { HttpContext } from '../context.ts';
import type { HttpRequest } from '../exchange.ts';
import { textParams } from '../input/reader.ts';
import type { AccountContext, Answer, JsonAnswer, RequestContext, SessionContext } from '../route.ts';
import { complete, type GuardFor } from './guard.ts';

/**
 * Throws `cross_origin` for a change requested by a page of another site, going by the headers that browsers set:
 * Sec-Fetch-Site (W3C Fetch Metadata §2.4) and Origin (RFC 6454 §7). Programs send neither, and have no session that a
 * page could borrow. Behind a proxy that does not pass Host on, Origin is the public address.
 */
function refuseCrossOrigin(request: HttpRequest, publicUrl: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { host, origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') throw new ApiError('cross_origin');
  if (origin === undefined) return;
  const from = originHost(origin);
  if (from === null || (from !== host?.toLowerCase() && from !== originHost(publicUrl)))
    throw new ApiError('cross_origin');
}

/** `example.com:8025`, without the scheme's default port; null for `null` and anything that is not an origin. */
function originHost(origin: string): string | null {
  const url = URL.parse(origin);
  return url !== null && /^https?:$/.test(url.protocol) ? url.host : null;
}

/** Takes the parts of a request that the sign-in service needs. */
export const browserRequest = ({ ip, request }: RequestContext): BrowserRequest => ({
  ip,
  cookie: request.headers.cookie,
  origin: request.headers.origin,
  userAgent: (request.headers['user-agent'] ?? '').slice(0, USER_AGENT_LENGTH.max),
});

interface KeptCookies {
  readonly setCookie: readonly string[];
}
export const NOTHING: KeptCookies = { setCookie: [] };

/** Cookies as response headers. */
export const keep = ({ setCookie }: KeptCookies): Pick<Answer, 'headers'> =>
  setCookie.length === 0 ? {} : { headers: { 'set-cookie': [...setCookie] } };

export const done = (message: string, kept: KeptCookies = NOTHING): JsonAnswer<Done> => ({
  body: { status: 'success', message },
  ...keep(kept),
});

export const signInReply = (kept: KeptCookies): JsonAnswer<Done> => done('You are signed in.', kept);

/*
 * The dashboard's order of errors: another site's request, session, role, suspension, number of requests, then the
 * input.
 */

/**
 * What members of a suspended account may do beside reading: only what takes something away. Its API keys are none
 * (store/charge/apply-batch.ts), and its background work waits.
 */
const WHILE_SUSPENDED: ReadonlySet<string> = new Set([
  'POST /dashboard/accounts/:account/log/erase',
  'DELETE /dashboard/accounts/:account/views/:id',
  'POST /dashboard/accounts/:account/lists/:id/cancel',
  'DELETE /dashboard/accounts/:account/lists/:id',
  'POST /dashboard/accounts/:account/keys/:id/revoke',
  'DELETE /dashboard/accounts/:account/filters/:id',
  'DELETE /dashboard/accounts/:account/webhooks/:id',
  'DELETE /dashboard/accounts/:account/hooks/:id',
  'DELETE /dashboard/accounts/:account/outcome-sources/:id',
  'DELETE /dashboard/accounts/:account/members/:user',
  'DELETE /dashboard/accounts/:account/invitations/:id',
  'POST /dashboard/accounts/:account/delete',
]);

/** What comes before any session: throws for another site's request, and for ids that cannot exist. */
function checkRequest({ request }: RequestContext, url: string): Readonly<Record<string, string>> {
  refuseCrossOrigin(request, url);
  const params = textParams(request);
  if (!params.ok) throw params.error;
  return params.value;
}

export const anybody: GuardFor<RequestContext> =
  ({ url }) =>
  async (context, read, serve) => {
    checkRequest(context, url());
    return serve(context, complete(await read()));
  };

export const signedIn: GuardFor<SessionContext> =
  ({ url, sessions, dashboardLimiter }) =>
  async (context, read, serve) => {
    checkRequest(context, url());
    const session = await sessionContext(sessions, context, 'user');
    dashboardLimiter.admit({ user: session.user.id });
    return serve(session, complete(await read()));
  };

export const operator: GuardFor<SessionContext> =
  ({ url, sessions, dashboardLimiter }) =>
  async (context, read, serve) => {
    checkRequest(context, url());
    const session = await sessionContext(sessions, context, 'operator');
    // A user who may not see it does not learn that it exists.
    if (!session.user.operator) throw new ApiError('not_found');
    dashboardLimiter.admit({ user: session.user.id });
    return serve(session, complete(await read()));
  };

export const member =
  (required: Role): GuardFor<AccountContext> =>
  ({ url, sessions, members, dashboardLimiter }, { method, path, liveOnly = false }) => {
    const whileSuspended = method === 'GET' || WHILE_SUSPENDED.has(`${method} ${path}`);
    return async (context, read, serve) => {
      const { account = '' } = checkRequest(context, url());
      const session = await sessionContext(sessions, context, 'user');
      const { suspended, ...granted } = await accountContext(members, required, session, session.user, account);
      if (suspended && !whileSuspended) throw new ApiError('account_suspended');
      dashboardLimiter.admit(granted);
      if (liveOnly && granted.test) throw new ApiError('not_found', 'This is not part of test mode.');
      return serve(granted, complete(await read()));
    };
  };

/** Whether a Cookie header could hold a session: without one the sign-in library need not be loaded, nor called. */
const mayHoldSession = (cookie: string | undefined): boolean => cookie?.includes('mailvet.') ?? false;

/** Throws `not_signed_in`. The library may have renewed the session: then its cookie goes with the reply. */
async function sessionContext(
  sessions: HttpContext['sessions'],
  context: RequestContext,
  kind: 'user' | 'operator',
): Promise<SessionContext> {
  const { request, reply, ip } = context;
  const browser = browserRequest(context);
  const session = mayHoldSession(browser.cookie) ? await sessions.fromBrowser(browser) : null;
  if (session === null) throw new ApiError('not_signed_in');
  const { user, setCookie } = session;
  request.user = user.id;
  if (setCookie.length > 0) reply.set({ 'set-cookie': [...setCookie] });
  return { ...context, user, actor: { kind, id: user.id, name: user.email, ip } };
}

/**
 * Throws `not_found` for an account of other people; for a member's own `second_factor_required` and
 * `role_not_sufficient`.
 */
async function accountContext(
  members: HttpContext['members'],
  required: Role,
  session: SessionContext,
  user: SignedIn,
  id: string,
): Promise<AccountContext & { readonly suspended: boolean }> {
  const membership = await members.role(id, user.id);
  if (membership === null) throw new ApiError('not_found');
  const { account, role, secondFactorRequired, suspended, test } = membership;
  session.request.account = account;
  if (secondFactorRequired && !user.withSecondFactor) throw new ApiError('second_factor_required');
  requireRole(role, required);
  members.noteActivity(account, user.id);
  return { ...session, account, role, suspended, test };
}
