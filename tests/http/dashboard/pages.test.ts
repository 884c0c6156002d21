import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_ROUTES } from '../../../src/http/dashboard/pages.ts';
import { type Lab, request, startLab } from '../../lab/service.ts';

const SCRIPT = 'console.log("a script that is long enough to be worth a coding of its own");'.repeat(20);
/** The hash of the one inline script that a page with a first view has. */
const COMPLETE = "'sha256-s5GMXW3uovQYoFR1SW5b+ZwoBIX0+VLbWgKfETlr2mo='";
let folder: string;
let lab: Lab;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailvet-web-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__" />\n');
  await writeFile(join(folder, 'secret.txt'), 'outside of assets');
  const assets: Record<string, string | Buffer> = {
    'index-BdYc3x_1.js': SCRIPT,
    'index-BdYc3x_1.js.br': brotliCompressSync(SCRIPT),
    'index-BdYc3x_1.js.gz': gzipSync(SCRIPT),
    'favicon.svg': '<svg/>',
    'run.sh': 'exit',
  };
  for (const [name, bytes] of Object.entries(assets)) await writeFile(join(folder, 'assets', name), bytes);
  lab = await startLab({}, { web: folder });
});
afterAll(async () => {
  await lab.close();
  await rm(folder, { recursive: true });
});

/** The raw response: fetch would decode it and choose its own Accept-Encoding. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(lab.url + path, { method, headers: { 'accept-encoding': 'identity', ...headers }, redirect: 'manual' });

const pages = PAGE_ROUTES.map(({ path }) => path.replace(':account', 'acc_1').replace(':id', 'ver_123')).filter(
  (path) => !path.includes(':'),
);

describe('the page of the dashboard', () => {
  it('is served for each of its paths, with a CSP that blocks inline scripts', async () => {
    expect(pages).toEqual(expect.arrayContaining(['/', '/sign-in', '/operator/jobs']));
    const nonces = new Set<string>();
    for (const path of pages) {
      const reply = await get(path);
      expect([path, reply.status, reply.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
      const nonce = /content="([A-Za-z0-9+/=]{24})"/.exec(await reply.text())![1]!;
      expect(reply.headers.get('content-security-policy')).toBe(
        `default-src 'none'; script-src 'self' ${COMPLETE}; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
          "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; " +
          "frame-ancestors 'none'",
      );
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(pages.length);
  });

  it('is not cached, cannot be framed or opened by other sites, and sends no referrer', async () => {
    const { headers } = await get('/');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('permissions-policy')).toContain('camera=()');
    expect(headers.get('x-robots-tag')).toBe('noindex');
  });

  it('responds to HEAD without a body, and to other methods with 405', async () => {
    const head = await get('/usage', {}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await request(lab.url, 'POST', '/usage', {});
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await get('/no-such-page')).status).toBe(404);
  });

  it('shows its own 404 to browsers, and JSON to programs', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    for (const path of ['/no-such-page', '/operator/nothing', '/accounts/acc_x/nothing', '/no-such-page/']) {
      const page = await get(path, { accept });
      expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8']);
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
      expect((await get(path)).headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    for (const path of ['/v1/nothing', '/dashboard/nothing', '/assets/nothing.js'])
      expect((await get(path, { accept })).headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('redirects a browser that asks with a slash at the end, to its own pages only', async () => {
    const accept = 'text/html';
    const of = async (path: string) => {
      const { status, headers } = await get(path, { accept });
      return [status, headers.get('location')];
    };
    expect(await of('/log/?reason=none')).toEqual([308, '/log?reason=none']);
    expect(await of('/accounts/acc_1/log/ver_1/')).toEqual([308, '/accounts/acc_1/log/ver_1']);
    expect(await of('//evil.example/log/')).toEqual([404, null]);
    expect(await of('/v1/verify/')).toEqual([404, null]);
    expect(await of('/nothing/')).toEqual([404, null]);
  });
});

describe('its files', () => {
  it('have their type; hashed names are cached forever', async () => {
    const script = await get('/assets/index-BdYc3x_1.js');
    expect([script.status, await script.text()]).toEqual([200, SCRIPT]);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const icon = await get('/assets/favicon.svg');
    expect(icon.headers.get('content-type')).toBe('image/svg+xml');
    expect(icon.headers.get('cache-control')).toBe('public, no-cache');
    const again = await get('/assets/favicon.svg', { 'if-none-match': icon.headers.get('etag')! });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it.each([
    ['br, gzip', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['GZIP', 'gzip'],
    ['identity', null],
    ['brotli', null],
  ])('compressed as the client accepts: %s → %s', async (accepted, coding) => {
    const reply = await get('/assets/index-BdYc3x_1.js', { 'accept-encoding': accepted });
    expect(reply.headers.get('content-encoding')).toBe(coding);
    expect(reply.headers.get('vary')).toBe('accept-encoding');
    expect(await reply.text()).toBe(SCRIPT);
  });

  it.each([
    '/assets/nothing.js',
    '/assets/run.sh',
    '/assets/index-BdYc3x_1.js.br',
    '/assets/..%2findex.html',
    '/assets/..%2fsecret.txt',
    '/assets/%2e%2e%2fsecret.txt',
    '/assets/..%5csecret.txt',
    '/assets/secret.txt%00.js',
    '/assets/',
    '/assets',
    '/secret.txt',
  ])('%s is not one of them', async (path) => {
    const reply = await get(path);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
  });

  it('are served after a new build without a restart', async () => {
    expect((await get('/assets/later-AAAAAAAA.css')).status).toBe(404);
    await writeFile(join(folder, 'assets/later-AAAAAAAA.css'), 'body {}');
    // Names are looked up again at most once a second.
    await expect.poll(async () => (await get('/assets/later-AAAAAAAA.css')).status, { timeout: 10_000 }).toBe(200);
  });
});

describe('where the dashboard is not built', () => {
  it('/ and the API reference redirect to the document of the API, and other paths explain how to build it', async () => {
    const bare = await startLab({}, { web: join(folder, 'nowhere') });
    const root = await request(bare.url, 'GET', '/');
    expect([root.status, root.headers.get('location')]).toEqual([302, '/openapi.json']);
    const usage = await request(bare.url, 'GET', '/usage');
    expect([usage.status, usage.json.code]).toEqual([404, 'not_found']);
    expect(usage.json.error).toContain('npm run build');
    await bare.close();
  });
});

describe('a worker', () => {
  it('serves neither the page nor the private API', async () => {
    const worker = await startLab({ MAILVET_ROLE: 'worker' }, { web: folder });
    expect((await request(worker.url, 'GET', '/')).status).toBe(404);
    expect((await request(worker.url, 'GET', '/dashboard/session')).status).toBe(404);
    await worker.close();
  });
});
