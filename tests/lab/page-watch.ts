/** Watches what a browser's pages do besides what a test checks. */
import type { BrowserContext, Response } from 'playwright-core';

interface Announced {
  readonly status: number;
  readonly path: string | RegExp;
  met: boolean;
}

/** A request of a page. */
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
  /** Unexpected events, and announced ones that did not happen, as text. */
  faults(): Promise<string[]>;
}

/** Chromium's message for every failed request; ignored, because the replies are checked. */
const REFUSED = /^Failed to load resource: the server responded with a status of/;

/** Runs in the page. Chromium logs most of these to the console, but not all. */
const TELL_OF_POLICY = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('content policy:', event.violatedDirective, event.blockedURI, event.sample))`;

/** Watches all pages of a context, including later ones. `origin`: the only one that may be requested. */
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
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) found(`request to another host: ${url}`);
  });
  context.on('requestfailed', (request) => {
    const error = request.failure()?.errorText ?? '';
    // Navigation away from the page, or a download: cancelled by the browser itself.
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
