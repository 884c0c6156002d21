/** The thread that renders first views of the dashboard, so that nothing else waits meanwhile. */
import { readFile, stat } from 'node:fs/promises';
import { createContext, Script } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import type { DataReply, Order, Rendered, Report, ViewRequest } from './first-view-messages.ts';

const path = String(workerData);
let kept: { readonly version: number; readonly script: Script } | null = null;

/** The dashboard may be built anew while the thread runs. */
async function scriptNow(): Promise<Script> {
  const { mtimeMs: version } = await stat(path);
  if (kept?.version !== version)
    kept = { version, script: new Script(`${await readFile(path, 'utf8')}; renderFirstView`, { filename: path }) };
  return kept.script;
}

const send = (report: Report): void => parentPort?.postMessage(report);
/** Requests that wait for their replies, by view and number. */
const asked = new Map<string, (reply: DataReply) => void>();

/** The main thread answers the requests of a view, for its user. */
function fetchFor(id: number): typeof fetch {
  let count = 0;
  return async (input, init) => {
    const { pathname, search } = new URL(new Request(input, init).url);
    const n = count++;
    const { promise, resolve } = Promise.withResolvers<DataReply>();
    asked.set(`${id} ${n}`, resolve);
    send({ kind: 'ask', id, n, path: pathname + search });
    const { status, body } = await promise;
    return new Response(body, { status, headers: { 'content-type': 'application/json' } });
  };
}

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
async function render(id: number, { url, platform, nonce }: ViewRequest): Promise<Rendered<string> | null> {
  const script = await scriptNow();
  /** As in a browser, relative to the page. */
  class PageRequest extends Request {
    constructor(input: string | URL | Request, init?: RequestInit) {
      super(typeof input === 'string' ? new URL(input, url) : input, init);
    }
  }
  const own = { location: new URL(url), navigator: { platform }, fetch: fetchFor(id), Request: PageRequest };
  const renderView: (nonce: string) => Promise<Rendered | null> = script.runInContext(
    createContext({ ...BROWSER, ...own }),
  );
  const view = await renderView(nonce);
  return view && { ...view, known: JSON.stringify(view.known) };
}

parentPort?.on('message', (order: Order) => {
  const { id } = order;
  if (order.kind === 'render') {
    render(id, order).then(
      (view) => send({ kind: 'rendered', id, view }),
      (error: unknown) => send({ kind: 'failed', id, message: error instanceof Error ? error.message : String(error) }),
    );
    return;
  }
  const key = `${id} ${order.n}`;
  asked.get(key)?.(order.reply);
  asked.delete(key);
});
