/** First views of pages of the dashboard as HTML, for lines on which their scripts take seconds. */
import type { IncomingHttpHeaders } from 'node:http';
import type { SessionReply } from '../../contract/dashboard/session.ts';
import { ApiError, toApiError } from '../../kernel/errors.ts';
import { cookieValue, isTimeZone, type Language, TIME_ZONE_COOKIE } from '../../kernel/facts/languages.ts';
import { randomBytes } from '../../kernel/ids.ts';
import { Thread, threadCode } from '../../kernel/thread.ts';
import type { HttpContext } from '../context.ts';
import type { HttpReply, HttpRequest } from '../exchange.ts';
import { errorReply, noteError } from '../reply.ts';
import { answererOf, Router } from '../router.ts';
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

type Ask = (page: HttpRequest, reply: HttpReply, path: string) => Promise<DataReply>;

/** The private API for the views: every guard applies as if the browser had asked, from there, with its cookies. */
function inProcess(context: HttpContext): Ask {
  const rows = DASHBOARD_ROUTES.filter(({ method, output }) => method === 'GET' && typeof output?.content === 'object');
  const router = new Router(rows.map((row) => ({ ...row, answerTo: answererOf(context, row) })));
  return async (page, reply, path) => {
    const found = router.find('GET', path.split('?', 1)[0] ?? '');
    const own = { method: { value: 'GET' }, url: { value: path }, params: { value: found?.params } };
    const request: HttpRequest = Object.create(page, own);
    try {
      if (found === null) throw new ApiError('not_found');
      const { status = 200, body, type, headers } = await found.row.answerTo(request, reply);
      const cookies = headers?.['set-cookie'];
      if (cookies !== undefined) reply.set({ 'set-cookie': cookies });
      return { status, body: type === undefined ? JSON.stringify(body) : String(body) };
    } catch (error) {
      const apiError = toApiError(error);
      noteError(request, apiError);
      return errorReply(apiError, request.id);
    }
  };
}

/** It stands in a view for the nonce of the page; nobody else knows it. */
const NONCE = randomBytes(16).toString('hex');

/** The router would redirect to it. */
const SIGN_IN = '/sign-in?next=%2F';

/**
 * The first view of a page for whoever asks; null where the browser has to render it. `forVisitors`: the path of a page
 * for those without a session; null: it is the overview. What visitors see depends on nothing that they send but the
 * language, and is rendered once in each.
 */
export function firstViewOf(context: HttpContext, forVisitors: string | null) {
  const ask = inProcess(context);
  const kept = new Map<Language, { readonly offers: string; readonly view: FirstView }>();

  async function viewFor(request: HttpRequest, reply: HttpReply, language: Language): Promise<FirstView | null> {
    const script = context.webFiles.firstViewScript();
    const session = await ask(request, reply, '/dashboard/session');
    if (script === null || session.status !== 200) return null;
    const { user, accounts, ip: _theirs, ...rest }: SessionReply = JSON.parse(session.body);
    const ids = accounts.flatMap(({ id, test_account }) => [id, test_account]);
    const { account = ids[0] } = request.params;
    if (forVisitors === null ? !ids.includes(account ?? '') : user !== null) return null;
    const offers = JSON.stringify(rest);
    const last = kept.get(language);
    if (forVisitors !== null && last?.offers === offers) return last.view;
    if (viewThread.running >= RENDERED_AT_ONCE) return null;
    // Without parameters: none has a meaning to these pages, and the browser says which it ignored.
    const path = forVisitors === null ? `/accounts/${account}` : forVisitors === '/sign-in' ? SIGN_IN : forVisitors;
    const { cookie, 'user-agent': agent = '' }: IncomingHttpHeaders = forVisitors === null ? request.headers : {};
    const platform = /Mac|iPhone|iPad/.exec(agent)?.[0] ?? '';
    const chosen = cookieValue(cookie, TIME_ZONE_COOKIE);
    // UTC where the browser has not said yet.
    const timeZone = isTimeZone(chosen) ? chosen : 'UTC';
    const view = await viewThread.call(
      { script, url: context.url() + path, platform, nonce: NONCE, language, timeZone },
      {
        signal: AbortSignal.timeout(RENDER_TIMEOUT_MS),
        reply: async (asked) => (asked === '/dashboard/session' ? session : ask(request, reply, asked)),
      },
    );
    if (forVisitors !== null && view !== null) kept.set(language, { offers, view });
    return view;
  }

  return async (request: HttpRequest, reply: HttpReply, language: Language, nonce: string) => {
    try {
      const view = await viewFor(request, reply, language);
      return view && { ...view, html: view.html.replaceAll(NONCE, nonce) };
    } catch (err) {
      request.log.warn({ err }, 'a first view of the dashboard could not be rendered');
      return null;
    }
  };
}
