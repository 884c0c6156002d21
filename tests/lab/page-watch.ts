/** Everything that a browser's pages do behind the back of a test. */
import type { BrowserContext, Response } from 'playwright-core';

interface Announced {
  readonly status: number;
  readonly path: string | RegExp;
  met: boolean;
}

/** A request that a page made. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: string;
  readonly body: string;
}

export interface PageWatch {
  refused(status: number, path: string | RegExp): void;
  unwatch(): void;
  readonly requests: readonly Asked[];
  /** What happened that should not have, and what was announced and did not happen; in words. */
  faults(): Promise<string[]>;
}

/** The one message that Chromium writes for every refused request: the reply itself is looked at. */
const REFUSED = /^Failed to load resource: the server responded with a status of/;

/** Runs in the page. Chromium writes most of these to the console by itself, but not all. */
const TELL_OF_POLICY = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('content policy:', event.violatedDirective, event.blockedURI, event.sample))`;

/** Watches all pages of a context, those that open later too. `origin`: the only one that may be asked for anything. */
export async function watchPages(context: BrowserContext, origin: string): Promise<PageWatch> {
  const faults: string[] = [];
  const announced: Announced[] = [];
  const requests: Asked[] = [];
  const pending = new Set<Promise<unknown>>();
  let watching = true;
  const found = (fault: string) => {
    if (watching) faults.push(fault);
  };

  await context.addInitScript(TELL_OF_POLICY);
  context.on('console', (message) => {
    if (message.type() === 'error' && REFUSED.test(message.text())) return;
    if (['error', 'warning'].includes(message.type())) found(`console ${message.type()}: ${message.text()}`);
  });
  context.on('weberror', (error) => found(`uncaught: ${error.error().stack ?? error.error().message}`));
  context.on('request', (request) => {
    const url = request.url();
    const headers = JSON.stringify(request.headers());
    requests.push({ method: request.method(), url, headers, body: request.postData() ?? '' });
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) found(`asked elsewhere: ${url}`);
  });
  context.on('requestfailed', (request) => {
    const error = request.failure()?.errorText ?? '';
    // A page that is left, or a download: the browser itself gave up waiting.
    if (error !== 'net::ERR_ABORTED') found(`failed: ${request.method()} ${request.url()}: ${error}`);
  });
  context.on('response', (response) => {
    if (response.status() < 400) return;
    const expected = announced.find((one) => !one.met && isThat(one, response));
    if (expected) expected.met = true;
    else pending.add(tell(response).then(found));
  });

  return {
    requests,
    refused: (status, path) => void announced.push({ status, path, met: false }),
    unwatch() {
      watching = false;
    },
    async faults() {
      await Promise.all(pending);
      const missing = announced.filter(({ met }) => !met);
      return [...faults, ...missing.map(({ status, path }) => `announced, but did not happen: ${status} for ${path}`)];
    },
  };
}

function isThat({ status, path }: Announced, response: Response): boolean {
  const { pathname } = new URL(response.url());
  return response.status() === status && (typeof path === 'string' ? pathname === path : path.test(pathname));
}

async function tell(response: Response): Promise<string> {
  const body = await response.text().catch(() => '');
  return `refused: ${response.request().method()} ${response.url()}: ${response.status()} ${body.slice(0, 500)}`;
}
