import { ApiError } from '../../kernel/errors.ts';
import { isSameSecret } from '../../kernel/signatures.ts';
import type { Access, Contexts, MetricsContext, RequestContext } from '../route.ts';
import { apiKey, chargedApiKey } from './api-key.ts';
import { complete, type GuardFor } from './guard.ts';
import { hook } from './hook.ts';
import { createGuessLimiter } from './limiters.ts';
import { anybody, member, operator, signedIn } from './session.ts';

/** Everybody may. */
const open: GuardFor<RequestContext> = () => async (request, read, serve) => serve(request, complete(await read()));

/** `/metrics` exists only where it was switched on; where it has a token, only for requests that carry it. */
const metricsToken: GuardFor<MetricsContext> = ({ metrics, clock }) => {
  const guesses = createGuessLimiter(clock);
  function checkToken({ request, ip }: RequestContext, token: string): void {
    const wrong = new ApiError('invalid_api_key', 'The metrics token is missing or wrong.');
    const sent = request.headers.authorization;
    if (sent === undefined) throw wrong;
    guesses.admit(ip);
    if (isSameSecret(Buffer.from(sent), Buffer.from(`Bearer ${token}`))) {
      guesses.succeeded(ip);
      return;
    }
    guesses.failed(ip);
    throw wrong;
  }
  return async (context, read, serve) => {
    if (metrics === null) throw new ApiError('not_found');
    if (metrics.token !== null) checkToken(context, metrics.token);
    return serve({ ...context, metrics: metrics.text }, complete(await read()));
  };
};

/** One guard for each access rule. */
export const GUARDS = {
  'api-key:verify': apiKey('verify'),
  'api-key:lists': apiKey('lists'),
  'api-key:filters': apiKey('filters'),
  'api-key:usage': apiKey('usage'),
  'api-key:webhooks': apiKey('webhooks'),
  'api-key:policies': apiKey('policies'),
  'charged-api-key:verify': chargedApiKey,
  hook,
  anybody,
  'signed-in': signedIn,
  member: member('member'),
  admin: member('admin'),
  owner: member('owner'),
  operator,
  page: open,
  open,
  'metrics-token': metricsToken,
} as const satisfies { readonly [A in Access]: GuardFor<Contexts[A]> };
