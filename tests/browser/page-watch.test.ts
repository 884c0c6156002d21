/** What every test of a page ends with: that faults are found, and that what was announced must happen. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../lab/browser.ts';
import { launch } from '../lab/chromium.ts';
import { type PageWatch, watchPages } from '../lab/page-watch.ts';

describeBrowser('the watch over pages', () => {
  let site: Server;
  let origin: string;
  let html = '';
  let running: Awaited<ReturnType<typeof launch>>;
  beforeAll(async () => {
    site = createServer(({ url }, reply) => {
      const headers = { 'content-type': 'text/html', 'content-security-policy': "script-src 'unsafe-inline'" };
      reply.writeHead(url === '/' ? 200 : 404, headers).end(url === '/' ? html : 'none');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    running = await launch();
  });
  afterAll(async () => {
    await running.close();
    site.close();
  });

  async function faultsOf(body: string, announce: (watch: PageWatch) => void = () => {}): Promise<string[]> {
    html = `<!doctype html><link rel="icon" href="data:,"><title>Page</title>${body}`;
    const context = await running.browser.newContext();
    const watch = await watchPages(context, origin);
    announce(watch);
    const page = await context.newPage();
    await page.goto(origin, { waitUntil: 'networkidle' });
    const faults = await watch.faults();
    await context.close();
    return faults;
  }

  it.each([
    ['nothing', '<p>Fine', []],
    ['an error in the console', '<script>console.error("Warning: keys")</script>', [/^console error: Warning: keys/]],
    ['an exception', '<script>throw new Error("broken")</script>', [/^uncaught: Error: broken/]],
    ['a rejection', '<script>Promise.reject(new Error("lost"))</script>', [/^uncaught: Error: lost/]],
    ['eval', '<script>try { eval("1") } catch {}</script>', [/content policy: script-src/]],
    ['a refused request', '<script>fetch("/nothing")</script>', [/^refused: GET \S+\/nothing: 404 none/]],
    [
      'a request elsewhere',
      '<img src="http://localhost:1/x.png" alt="">',
      [/^request to another host/, /^failed: GET/],
    ],
  ])('finds %s', async (_name, body, wanted: readonly RegExp[]) => {
    const faults = await faultsOf(body);
    for (const pattern of wanted) expect(faults).toContainEqual(expect.stringMatching(pattern));
    expect(faults.length > 0).toBe(wanted.length > 0);
  });

  it('takes a refusal that was announced, once, and misses one that did not come', async () => {
    const twice = '<script>fetch("/nothing").then(() => fetch("/nothing"))</script>';
    expect(await faultsOf(twice, (watch) => watch.refused(404, '/nothing'))).toHaveLength(1);
    expect(await faultsOf('<p>Fine', (watch) => watch.refused(404, '/nothing'))).toEqual([
      'announced, but did not happen: 404 for /nothing',
    ]);
  });
});
