import { ApiError } from '../kernel/errors.ts';
import { type Answer, type Route, route } from './route.ts';
import { sharedAnswer } from './shared-bytes.ts';

/** Scripts only from our own files. Highlighted code has its colors in attributes. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Names of assets hold a hash of their contents. */
const FOREVER = 'public, max-age=31536000, immutable';
const REVALIDATED = 'public, no-cache';

/** The documentation: pages as HTML, and as Markdown with `.md` at the end of the path. */
export const GUIDE_ROUTES: readonly Route[] = [
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
  guideRoute('/guide/:page', (page) => (page.endsWith('.md') ? page : `${page}.html`), REVALIDATED),
  guideRoute('/guide/assets/:name', (name) => `assets/${name}`, FOREVER),
  guideRoute('/guide/assets/chunks/:name', (name) => `assets/chunks/${name}`, FOREVER),
  guideRoute('/llms.txt', () => 'llms.txt', REVALIDATED),
  guideRoute('/llms-full.txt', () => 'llms-full.txt', REVALIDATED),
];

/** `fileOf`: the file below dist/guide, from the last parameter of the path. */
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
          'content-security-policy': POLICY,
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
