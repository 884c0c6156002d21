import type { HttpContext } from '../context.ts';
import type { HttpReply, HttpRequest } from '../exchange.ts';
import type { Rendered } from './first-views.ts';
import { inProcess } from './in-process.ts';

/** Pages whose content is in the HTML, for lines on which their scripts take seconds; with a session, or without. */
const INSIDE: readonly string[] = ['/', '/accounts/:account'];
/** Each with the URL that the router would redirect it to. */
const OUTSIDE: ReadonlyMap<string, string> = new Map([
  ['/sign-in', '/sign-in?next=%2F'],
  ...['/sign-up', '/setup', '/reset-password', '/invitation'].map((path) => [path, path] as const),
]);

export const hasFirstView = (path: string): boolean => INSIDE.includes(path) || OUTSIDE.has(path);

/** In place of a nonce in a view that is kept. */
const NONCE = '__CSP_NONCE__';

type Session = Readonly<Record<string, unknown>>;

/**
 * The first view of a page for whoever asks; null where the browser has to render it. What visitors without a session
 * see depends on nothing that they send, and is rendered once.
 */
export function firstViewOf(
  context: HttpContext,
): (request: HttpRequest, reply: HttpReply, nonce: string) => Promise<Rendered<string> | null> {
  const { firstViews, url } = context;
  const ask = inProcess(context);
  /** By path: what the service offered, and the view. */
  const kept = new Map<string, { readonly offers: string; readonly view: Rendered<string> }>();

  return async (request, reply, nonce) => {
    const [path = '/'] = request.url.split('?', 1);
    if (!path.startsWith('/')) return null;
    const answer = ask(request, reply);
    const session = await answer('/dashboard/session');
    const { user, ip: _theirs, ...offers }: Session = JSON.parse(session.body);
    const outside = OUTSIDE.get(path);
    if (session.status !== 200 || (outside === undefined) === (user === null)) return null;
    const of = (target: string, nonceOf: string) =>
      firstViews.render({ url: url() + target, platform: platformOf(request), nonce: nonceOf }, async (wanted) =>
        wanted === '/dashboard/session' ? session : answer(wanted),
      );
    if (outside === undefined) return of(request.url, nonce);
    const known = kept.get(path);
    const text = JSON.stringify(offers);
    const view = known?.offers === text ? known.view : await of(outside, NONCE);
    if (view === null) return null;
    kept.set(path, { offers: text, view });
    return { ...view, html: view.html.replaceAll(NONCE, nonce) };
  };
}

const platformOf = ({ headers }: HttpRequest): string => /Mac|iPhone|iPad/.exec(headers['user-agent'] ?? '')?.[0] ?? '';
