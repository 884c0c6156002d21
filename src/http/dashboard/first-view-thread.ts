/** The thread that renders first views of the dashboard, so that nothing else waits meanwhile. */
import { readFile, stat } from 'node:fs/promises';
import { createContext, Script } from 'node:vm';
import { answerCalls } from '../../kernel/thread.ts';
import type { DataReply, Rendered, ViewOrder } from './first-views.ts';

let kept: { readonly path: string; readonly version: number; readonly script: Script } | null = null;

/** The dashboard may be built anew while the thread runs. */
async function scriptAt(path: string): Promise<Script> {
  const { mtimeMs: version } = await stat(path);
  if (kept?.path !== path || kept.version !== version) {
    const script = new Script(`${await readFile(path, 'utf8')}; renderFirstView`, { filename: path });
    kept = { path, version, script };
  }
  return kept.script;
}

type Ask = (path: string) => Promise<DataReply>;

/** What a view gets for a request that was not answered; it fails then. */
const UNANSWERED: DataReply = { status: 503, body: 'null' };

/** The main thread answers the requests of a view, for its user. */
const fetchBy =
  (ask: Ask): typeof fetch =>
  async (input, init) => {
    const { pathname, search } = new URL(new Request(input, init).url);
    const { status, body } = await ask(pathname + search).catch(() => UNANSWERED);
    return new Response(body, { status, headers: { 'content-type': 'application/json' } });
  };

/**
 * React opens one for work that it puts off, of which there is none here. An open one would keep the view in memory.
 */
class NoMessageChannel {
  readonly port1 = {};
  readonly port2 = { postMessage: () => undefined };
}

/** What the dashboard uses of a browser while it renders. */
const BROWSER = {
  ...{ URL, URLSearchParams, Response, Headers, AbortController, AbortSignal, TextEncoder, TextDecoder },
  ...{ MessageChannel: NoMessageChannel, queueMicrotask, setTimeout, clearTimeout },
  process: { env: {} },
  localStorage: { getItem: () => null, setItem: () => undefined },
};

/** Each view has a global object and modules of its own, and so knows nothing of another. */
async function render({ script: path, url, platform, nonce }: ViewOrder, ask: Ask): Promise<Rendered<string> | null> {
  const script = await scriptAt(path);
  /** As in a browser, relative to the page. */
  class PageRequest extends Request {
    constructor(input: string | URL | Request, init?: RequestInit) {
      super(typeof input === 'string' ? new URL(input, url) : input, init);
    }
  }
  const own = { location: new URL(url), navigator: { platform }, fetch: fetchBy(ask), Request: PageRequest };
  const renderView: (nonce: string) => Promise<Rendered | null> = script.runInContext(
    createContext({ ...BROWSER, ...own }),
  );
  const view = await renderView(nonce);
  return view && { ...view, known: JSON.stringify(view.known) };
}

answerCalls<ViewOrder, Rendered<string> | null, string, DataReply>((order, { ask }) => render(order, ask));
