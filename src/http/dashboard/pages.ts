import { ApiError } from '../../kernel/errors.ts';
import {
  cookieValue,
  isLanguage,
  LANGUAGE_COOKIE,
  type Language,
  preferredLanguage,
} from '../../kernel/facts/languages.ts';
import { PAGE_FACTS } from '../../kernel/facts/pages.ts';
import { randomBytes, sha256Base64 } from '../../kernel/ids.ts';
import type { HttpRequest } from '../exchange.ts';
import { type Answer, type Route, route } from '../route.ts';
import { accepted, compressedIfIdle, sharedAnswer } from '../shared-bytes.ts';
import { type FirstView, firstViewOf } from './first-view.ts';

/** Pages of an account are also here; without it, the page adds the account that was opened last. */
const WITH_ACCOUNT = '/accounts/:account';

const toDocument = (): Answer => ({
  status: 302,
  body: '',
  type: 'text/plain; charset=utf-8',
  headers: { location: '/openapi.json' },
});

const notBuilt = (): Answer => {
  throw new ApiError('not_found', 'The dashboard is not built; run "npm run build".');
};

/** They serve the dashboard's static files: one HTML page for all its paths, and its assets. */
export const PAGE_ROUTES: readonly Route[] = [
  ...PAGE_FACTS.flatMap(({ path, for: whom, firstView = false }) => {
    const pattern = path.replace('$', ':');
    // Without the dashboard, there are the API and its document.
    const absent = path === '/' || path.startsWith('/docs') ? toDocument : notBuilt;
    const options = { find: whom !== 'anyone', firstView };
    const page = pageRoute(pattern, absent, options);
    const below = WITH_ACCOUNT + (path === '/' ? '' : pattern);
    return whom === 'account' ? [page, pageRoute(below, notBuilt, options)] : [page];
  }),
  route({
    method: 'GET',
    path: '/assets/:name',
    access: 'page',
    serve:
      ({ webFiles }) =>
      async ({ request }, { params: { name } }) => {
        const file = await webFiles.asset(name, accepted(request));
        if (file === null) throw new ApiError('not_found');
        return sharedAnswer(request, file, file.type, {
          // Files with a hash in their name are cached forever; all others are revalidated.
          'cache-control': file.hashed ? 'public, max-age=31536000, immutable' : 'public, no-cache',
          'cross-origin-resource-policy': 'same-origin',
        });
      },
  }),
];

/** A browser gets this for a path that does not exist: the dashboard says so. */
export const NOT_FOUND_PAGE: Route = pageRoute(
  '/:unknown',
  () => {
    throw new ApiError('not_found');
  },
  { status: 404 },
);

/**
 * Scripts only from our own files, and those that the page was built with and that complete a first view; inline styles
 * only with the nonce of this response.
 */
const policy = (nonce: string, page: string): string => {
  const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = '']) => script);
  const hashes = [...scripts, COMPLETE].map((script) => `'sha256-${sha256Base64(script)}'`);
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
};

const ROOT = '<div id="root"></div>';
/** Fonts and scripts, each in a line of its own at the end of the page (web/vite.config.ts). */
const LOADED_LAST = /(?:^ *<(?:script type="module"|link rel="(?:module)?preload").*\n)+/m;
/** Only pages with a session need it soon. */
const SIGNED_IN = /^ *<link [^>]* data-signed-in>\n/gm;
/**
 * Sets the style attributes of a first view, which the policy blocks in HTML, and begins to load scripts: an inline
 * script waits for the styles before it, and what is in a template is not loaded, so that scripts do not take most of a
 * slow line from the styles.
 */
const COMPLETE =
  'for(const e of document.querySelectorAll("[data-style]"))e.style=e.dataset.style;' +
  'document.body.append(document.getElementById("last").content)';

/** `page` is the built one. */
function withFirstView(page: string, view: FirstView | null): string {
  const built = view?.account ? page : page.replaceAll(SIGNED_IN, '');
  if (view === null) return built;
  const [before = '', after = ''] = built.split(ROOT);
  // Ids of accounts have no characters that HTML escapes.
  const head = view.account === null ? before : before.replace('<html ', `<html data-account="${view.account}" `);
  // `<` could end the script element (HTML §4.12.1.3).
  const data = `<script type="application/json" id="known">${view.known.replaceAll('<', '\\u003c')}</script>`;
  const last = (tags: string) => `<template id="last">\n${tags}</template>\n<script>${COMPLETE}</script>\n`;
  return `${head}<div id="root" data-first-view="">${view.html}</div>${data}${after.replace(LOADED_LAST, last)}`;
}

/** Browser features that the page uses: passkeys, and the clipboard for a newly created key. */
const PERMISSIONS =
  'publickey-credentials-get=(self), publickey-credentials-create=(self), clipboard-write=(self), ' +
  'camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), midi=(), display-capture=()';

/**
 * `absent`: the response if the dashboard was not built. `find`: whether the page has the command palette, and is for
 * those with a session.
 */
function pageRoute(path: string, absent: () => Answer, { status = 200, find = false, firstView = false } = {}): Route {
  return route({
    method: 'GET',
    path,
    access: 'page',
    serve: (context) => {
      const viewFor = firstView ? firstViewOf(context, find ? null : path) : null;
      return async ({ request, reply }) => {
        const language = languageOf(request);
        const built = await context.webFiles.index(language);
        if (built === null) return absent();
        const nonce = randomBytes(16).toString('base64');
        const page = built.replaceAll('__CSP_NONCE__', nonce);
        const view = (await viewFor?.(request, reply, language, nonce)) ?? null;
        const marked = find && view?.account !== null ? page.replace('<html ', '<html data-find ') : page;
        const html = Buffer.from(withFirstView(marked, view));
        const { bytes, coding } = await compressedIfIdle(html, request);
        return {
          status,
          body: bytes,
          type: 'text/html; charset=utf-8',
          headers: {
            'content-security-policy': policy(nonce, page),
            'cross-origin-opener-policy': 'same-origin',
            'permissions-policy': PERMISSIONS,
            // Nobody looks for these with a search engine, but for the reference.
            ...(path.startsWith('/docs') ? {} : { 'x-robots-tag': 'noindex' }),
            'cache-control': 'no-store',
            ...(coding === null ? {} : { 'content-encoding': coding }),
          },
        };
      };
    },
  });
}

/** What was chosen in the dashboard, else what the browser asks for. */
function languageOf({ headers }: HttpRequest): Language {
  const chosen = cookieValue(headers.cookie, LANGUAGE_COOKIE);
  return isLanguage(chosen) ? chosen : preferredLanguage(headers['accept-language']);
}
