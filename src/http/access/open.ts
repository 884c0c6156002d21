import { timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../kernel/errors.ts';
import type { MetricsContext, RequestContext } from '../route.ts';
import { complete, type GuardFor } from './guard.ts';

/** Everybody may. */
export const open: GuardFor<RequestContext> = () => async (request, read, serve) =>
  serve(request, complete(await read()));

/** `/metrics` exists only where it was switched on; where it has a token, only for requests that carry it. */
export const metricsToken: GuardFor<MetricsContext> =
  ({ metrics }) =>
  async (context, read, serve) => {
    if (metrics === null) throw new ApiError('not_found');
    const { token, text } = metrics;
    if (token !== null && !isSameText(context.request.headers.authorization ?? '', `Bearer ${token}`)) {
      throw new ApiError('invalid_api_key', 'The metrics token is missing or wrong.');
    }
    return serve({ ...context, metrics: text }, complete(await read()));
  };

/** Compares in a time that does not depend on where two texts differ. */
function isSameText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
