import { pathToFileURL } from 'node:url';
import { answerCalls } from '../../kernel/thread.ts';
import type { DataReply, FirstView, ViewOrder } from './first-view.ts';

type Ask = (path: string) => Promise<DataReply>;
/** The view that is being rendered asks by this: the dashboard keeps the `fetch` that it finds first. */
let asking: Ask;

async function fetchData(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { status, body } = await asking(pathname + search);
  return new Response(body, { status, headers: { 'content-type': 'application/json' } });
}

async function renderInThread(order: ViewOrder, ask: Ask): Promise<FirstView | null> {
  asking = ask;
  const localStorage = { getItem: () => null, setItem: () => undefined };
  const navigator = { platform: order.platform };
  const browser = { location: new URL(order.url), navigator, localStorage, fetch: fetchData };
  for (const [name, value] of Object.entries(browser))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  // Modules hold texts: each language has its own.
  const { renderFirstView } = await import(`${pathToFileURL(order.script).href}?language=${order.language}`);
  return renderFirstView(order);
}

let last: Promise<unknown> = Promise.resolve();
// One view at a time: they share the modules of the dashboard.
answerCalls<ViewOrder, FirstView | null, string, DataReply>((order, { ask }) => {
  const view = last.then(() => renderInThread(order, ask));
  last = view.catch(() => undefined);
  return view;
});
