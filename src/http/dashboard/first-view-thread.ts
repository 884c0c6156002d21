import { pathToFileURL } from 'node:url';
import { answerCalls } from '../../kernel/thread.ts';
import type { DataReply, FirstView, ViewOrder } from './first-view.ts';

type Ask = (path: string) => Promise<DataReply>;
/** The view that is being rendered asks for its data by this. */
let asking: Ask;

async function fetchData(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { status, body } = await asking(pathname + search);
  return new Response(body, { status, headers: { 'content-type': 'application/json' } });
}

async function renderInThread(order: ViewOrder, ask: Ask): Promise<FirstView | null> {
  const { script, url, platform, nonce, language, timeZone } = order;
  asking = ask;
  const localStorage = { getItem: () => null, setItem: () => undefined };
  const browser = { location: new URL(url), navigator: { platform }, localStorage, fetch: fetchData };
  for (const [name, value] of Object.entries(browser))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  // Modules hold texts: each language has its own.
  const { renderFirstView } = await import(`${pathToFileURL(script).href}?language=${language}`);
  return renderFirstView(nonce, timeZone);
}

let last: Promise<unknown> = Promise.resolve();
// One view at a time: they share the modules of the dashboard.
answerCalls<ViewOrder, FirstView | null, string, DataReply>((order, { ask }) => {
  const view = last.then(() => renderInThread(order, ask));
  last = view.catch(() => undefined);
  return view;
});
