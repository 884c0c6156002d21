/** First views of pages of the dashboard as HTML, for lines on which their scripts take seconds. */
import { cookieValue, isTimeZone, type Language, TIME_ZONE_COOKIE } from '../../kernel/facts/languages.ts';
import { Thread, threadCode } from '../../kernel/thread.ts';
import type { HttpContext } from '../context.ts';
import { HttpReply, type HttpRequest, type ReplyHeaders } from '../exchange.ts';
import { handlerOf, Router } from '../router.ts';
import { DASHBOARD_ROUTES } from './table.ts';

/** `renderFirstView` returns it (web/src/first-view.tsx). */
export interface FirstView {
  readonly html: string;
  /** Whose data is shown; null: nobody's. */
  readonly account: string | null;
  /** What it was rendered with, as JSON (web/src/main.tsx). */
  readonly known: string;
}

export interface ViewOrder {
  /** Path of the file whose `renderFirstView` is called. */
  readonly script: string;
  /** The URL has the public address of the service. */
  readonly url: string;
  /** As `navigator.platform`: the names of keys depend on it. */
  readonly platform: string;
  /** Allows style elements. */
  readonly nonce: string;
  readonly language: Language;
  /** Times are shown in this zone, an IANA name. */
  readonly timeZone: string;
}

/** A reply of the dashboard's private API; `body` is JSON. */
export type DataReply = Readonly<{ status: number; body: string }>;

/** Nothing else waits while it renders. */
const viewThread = new Thread<ViewOrder, FirstView | null, string, DataReply>({
  code: threadCode(import.meta.url, './first-view-thread.ts', './first-view-thread.js'),
  limits: { maxOldGenerationSizeMb: 128 },
  idleMs: 60_000,
  cancelMs: 3_000,
});
/** Beyond so many at once, or after so long, a page is sent without its first view: the browser renders it anyway. */
const RENDERED_AT_ONCE = 8;
const RENDER_TIMEOUT_MS = 2_000;

/** `reply` has the data. Null where it failed. */
async function renderView(order: ViewOrder, log: HttpRequest['log'], reply: (path: string) => Promise<DataReply>) {
  if (viewThread.running >= RENDERED_AT_ONCE) return null;
  try {
    return await viewThread.call(order, { signal: AbortSignal.timeout(RENDER_TIMEOUT_MS), reply });
  } catch (err) {
    log.warn({ err }, 'a first view of the dashboard could not be rendered');
    return null;
  }
}

/** The reply to a view that asks for data within the request of its page. Cookies go with the page. */
class InnerReply extends HttpReply {
  readonly #page: HttpReply;
  sent: DataReply = { status: 500, body: 'null' };
  constructor(page: HttpReply) {
    super(page.raw, []);
    this.#page = page;
  }
  override set({ 'set-cookie': cookies }: ReplyHeaders): void {
    if (cookies !== undefined) this.#page.set({ 'set-cookie': cookies });
  }
  override send(status: number, body: string | Buffer | undefined, own: ReplyHeaders = {}): void {
    this.set(own);
    this.sent = { status, body: String(body) };
  }
}

/** The private API for the views: every guard applies as if the browser had asked, from there, with its cookies. */
function inProcess(context: HttpContext): (page: HttpRequest, reply: HttpReply, path: string) => Promise<DataReply> {
  const rows = DASHBOARD_ROUTES.filter(({ method, output }) => method === 'GET' && typeof output?.content === 'object');
  const router = new Router(rows.map((row) => ({ ...row, handle: handlerOf(context, row) })));
  return async (page, reply, path) => {
    const inner = new InnerReply(reply);
    const found = router.find('GET', path.split('?', 1)[0] ?? '');
    const request = { method: { value: 'GET' }, url: { value: path }, params: { value: found?.params } };
    await found?.row.handle(Object.create(page, request), inner);
    return inner.sent;
  };
}

/** Pages with a first view; those without a session with the URL that the router would redirect them to. */
const TARGETS: ReadonlyMap<string, string | null> = new Map([
  ...['/', '/accounts/:account'].map((path) => [path, null] as const),
  ...['/sign-up', '/setup', '/reset-password', '/invitation'].map((path) => [path, path] as const),
  ['/sign-in', '/sign-in?next=%2F'],
]);
export const hasFirstView = (path: string): boolean => TARGETS.has(path);
/** How a page is sent. */
type Shown = Pick<ViewOrder, 'nonce' | 'language'>;
/** This stands in place of a nonce in a view that is kept. */
const NONCE = '__CSP_NONCE__';

/**
 * The first view of a page for whoever asks; null where the browser has to render it. `route`: its path in the table of
 * routes. What visitors without a session see depends on nothing that they send but the
 * language, and is rendered once in each.
 */
export function firstViewOf(context: HttpContext, route: string) {
  const ask = inProcess(context);
  const target = TARGETS.get(route) ?? null;
  const kept = new Map<Language, { readonly offers: string; readonly view: FirstView }>();
  return async (request: HttpRequest, reply: HttpReply, { nonce, language }: Shown): Promise<FirstView | null> => {
    const script = context.webFiles.firstViewScript();
    if (script === null || !request.url.startsWith('/')) return null;
    const session = await ask(request, reply, '/dashboard/session');
    const { user, ip: _theirs, ...rest }: Readonly<Record<string, unknown>> = JSON.parse(session.body);
    if (session.status !== 200 || (target === null) === (user === null)) return null;
    const platform = /Mac|iPhone|iPad/.exec(request.headers['user-agent'] ?? '')?.[0] ?? '';
    // Parameters are left out: none has a meaning to these pages, and the browser says which it ignored.
    const url = context.url() + (target ?? request.url.split('?', 1)[0]);
    // Pages of visitors show no times.
    const timeZone = target ? 'UTC' : timeZoneOf(request);
    const order = { script, url, platform, nonce: target ? NONCE : nonce, language, timeZone };
    const fresh = () =>
      renderView(order, request.log, async (path) =>
        path === '/dashboard/session' ? session : ask(request, reply, path),
      );
    if (target === null) return fresh();
    const offers = JSON.stringify(rest);
    const last = kept.get(language);
    const view = last?.offers === offers ? last.view : await fresh();
    if (view === null) return null;
    kept.set(language, { offers, view });
    return { ...view, html: view.html.replaceAll(NONCE, nonce) };
  };
}

/** UTC where the browser has not said yet. */
function timeZoneOf({ headers }: HttpRequest): string {
  const chosen = cookieValue(headers.cookie, TIME_ZONE_COOKIE);
  return isTimeZone(chosen) ? chosen : 'UTC';
}
