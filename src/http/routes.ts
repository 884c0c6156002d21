import { DAY_MS, toIso } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { COMPAT_ROUTES } from './compat/table.ts';
import { PAGE_ROUTES } from './dashboard/pages.ts';
import { DASHBOARD_ROUTES } from './dashboard/table.ts';
import { HOOK_CALL_ROUTES } from './hooks/callers.ts';
import { MCP_ROUTES } from './mcp/routes.ts';
import { METRICS_TYPE } from './metrics/port.ts';
import { publicDocument } from './openapi.ts';
import { PROVIDER_ROUTES } from './outcomes/providers.ts';
import { type Answer, JSON_TYPE, type Route, route } from './route.ts';
import { compressedOnce, sharedAnswer } from './shared-bytes.ts';
import { FILTER_ROUTES } from './v1/filters.ts';
import { LIST_ROUTES } from './v1/lists.ts';
import { MANAGED_ROUTES } from './v1/operator.ts';
import { OUTCOME_ROUTES } from './v1/outcomes.ts';
import { POLICY_ROUTES } from './v1/policies.ts';
import { PRIVACY_ROUTES } from './v1/privacy.ts';
import { USAGE_ROUTES } from './v1/usage.ts';
import { VERIFICATION_ROUTES } from './v1/verifications.ts';
import { VERIFY_ROUTES } from './v1/verify.ts';
import { WEBHOOK_ROUTES } from './v1/webhooks.ts';

export const V1_ROUTES: readonly Route[] = [
  ...VERIFY_ROUTES,
  ...VERIFICATION_ROUTES,
  ...LIST_ROUTES,
  ...USAGE_ROUTES,
  ...FILTER_ROUTES,
  ...POLICY_ROUTES,
  ...OUTCOME_ROUTES,
  ...PRIVACY_ROUTES,
  ...WEBHOOK_ROUTES,
  ...MANAGED_ROUTES,
];

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

/** Every process answers them, workers included: health, metrics and the document of the API. */
const SERVER_ROUTES: readonly Route[] = [
  route({
    // The process is alive; nothing about what it depends on.
    method: 'GET',
    path: '/healthz',
    probe: true,
    access: 'open',
    serve: () => async () => ({ body: { status: 'ok' } }),
  }),
  route({
    // Store and resolver answer, our clock agrees with the store's, and the process is not draining; 503 with the
    // reasons otherwise.
    method: 'GET',
    path: '/readyz',
    probe: true,
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
    probe: true,
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
        document ??= compressedOnce(Buffer.from(JSON.stringify(publicDocument(V1_ROUTES, publicUrl))));
        return sharedAnswer(request, await document(request), JSON_TYPE, { 'access-control-allow-origin': '*' });
      };
    },
  }),
];

/** Scripts only from our own files. Highlighted code has its colors in attributes. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Names of assets have a hash of their contents. */
const FOREVER = 'public, max-age=31536000, immutable';
const REVALIDATED = 'public, no-cache';

/** The documentation: pages as HTML, and as Markdown with `.md` at the end of the path. */
const GUIDE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/guide',
    access: 'page',
    serve: () => async () => ({
      status: 308,
      body: '',
      type: 'text/plain; charset=utf-8',
      headers: { location: '/guide/', 'cache-control': REVALIDATED },
    }),
  }),
  guideRoute('/guide/', () => 'index.html', REVALIDATED),
  guideRoute('/guide/:page', (page) => (/\.(md|json)$/.test(page) ? page : `${page}.html`), REVALIDATED),
  guideRoute('/guide/assets/:name', (name) => `assets/${name}`, FOREVER),
  guideRoute('/guide/assets/chunks/:name', (name) => `assets/chunks/${name}`, FOREVER),
  guideRoute('/llms.txt', () => 'llms.txt', REVALIDATED),
  guideRoute('/llms-full.txt', () => 'llms-full.txt', REVALIDATED),
];

/** `fileOf` returns the file below dist/guide for the last parameter of the path. */
function guideRoute(path: string, fileOf: (param: string) => string, caching: string): Route {
  const param = /:(\w+)$/.exec(path)?.[1] ?? '';
  return route({
    method: 'GET',
    path,
    access: 'page',
    serve:
      ({ guideFiles }) =>
      async ({ request }, { params }): Promise<Answer> => {
        const file = await guideFiles.file(fileOf(String(Object(params)[param] ?? '')));
        const headers = {
          'content-security-policy': CONTENT_SECURITY_POLICY,
          'cache-control': caching,
          'cross-origin-resource-policy': 'same-origin',
        };
        if (file !== null) return sharedAnswer(request, await file.bytes(request), file.type, headers);
        const missing = path.includes('assets') ? null : await guideFiles.file('404.html');
        if (missing === null)
          throw new ApiError('not_found', 'There is no such page. The guide is made by "npm run build".');
        return sharedAnswer(request, await missing.bytes(request), missing.type, headers, 404);
      },
  });
}

export const ROUTES: readonly Route[] = [
  ...V1_ROUTES,
  ...COMPAT_ROUTES,
  ...MCP_ROUTES,
  ...HOOK_CALL_ROUTES,
  ...PROVIDER_ROUTES,
  ...DASHBOARD_ROUTES,
  ...PAGE_ROUTES,
  ...GUIDE_ROUTES,
  ...SERVER_ROUTES,
];

/** A process that only runs jobs has these. */
export const WORKER_ROUTES: readonly Route[] = ROUTES.filter(
  ({ access }) => access === 'open' || access === 'metrics-token',
);
