import { DAY_MS, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { METRICS_TYPE } from './metrics/port.ts';
import { publicDocument } from './openapi.ts';
import { JSON_TYPE } from './reply.ts';
import { type Route, route } from './route.ts';
import { compressedOnce, sharedAnswer } from './shared-bytes.ts';

/** Less than the year that RFC 9116 §2.5.5 recommends as the maximum. */
const SECURITY_TEXT_LIVES_MS = 180 * DAY_MS;

/** RFC 9116. It expires at midnight, so that it changes once a day. */
function securityText(contact: string, url: string, now: number): string {
  const expires = toIso((Math.floor(now / DAY_MS) + 1) * DAY_MS + SECURITY_TEXT_LIVES_MS);
  const canonical = `${url}/.well-known/security.txt`;
  return `Contact: ${contact}\r\nExpires: ${expires}\r\nPreferred-Languages: en\r\nCanonical: ${canonical}\r\n`;
}

const checkOf = (problem: string | null) =>
  problem === null ? { status: 'ok' } : { status: 'failing', reason: problem };

/**
 * Health, metrics and the document of the API: answered by every process, workers included. `described`: the rows of
 * the public document.
 */
export const serverRoutes = (described: readonly Route[]): readonly Route[] => [
  route({
    // The process is alive; nothing about what it depends on.
    method: 'GET',
    path: '/healthz',
    access: 'open',
    serve: () => async () => ({ body: { status: 'ok' } }),
  }),
  route({
    // Store and resolver answer, our clock agrees with the store's, and the process is not draining; 503 with the
    // reasons otherwise.
    method: 'GET',
    path: '/readyz',
    access: 'open',
    serve:
      ({ health, draining }) =>
      async () => {
        const [store, resolver] = await Promise.all([health.store(), health.resolver()]);
        const clock = health.clock();
        const isDraining = draining();
        const ready = [store, resolver, clock].every((problem) => problem === null) && !isDraining;
        const body = {
          status: ready ? 'ready' : isDraining ? 'draining' : 'not_ready',
          checks: { store: checkOf(store), resolver: checkOf(resolver), clock: checkOf(clock) },
          details: health.details(),
        };
        return { status: ready ? 200 : 503, body };
      },
  }),
  route({
    method: 'GET',
    path: '/metrics',
    access: 'metrics-token',
    serve:
      () =>
      async ({ metrics }) => ({ body: await metrics(), type: METRICS_TYPE }),
  }),
  route({
    method: 'GET',
    path: '/.well-known/security.txt',
    access: 'open',
    serve:
      ({ securityContact, clock, url }) =>
      async () => {
        if (securityContact === null) throw new ApiError('not_found');
        return { body: securityText(securityContact, url(), clock.now()), type: 'text/plain; charset=utf-8' };
      },
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    access: 'open',
    serve: ({ publicUrl }) => {
      let document: ReturnType<typeof compressedOnce> | null = null;
      return async ({ request }) => {
        document ??= compressedOnce(Buffer.from(JSON.stringify(publicDocument(described, publicUrl))));
        return sharedAnswer(request, await document(request), JSON_TYPE, { 'access-control-allow-origin': '*' });
      };
    },
  }),
];
