/** The first view of the dashboard in Chromium, relative to a page with one script that writes a heading. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { carry, launch, whyNoBrowser, windowOptions } from '../tests/lab/chromium.ts';
import { peopleOf, browser as visitor } from '../tests/lab/person.ts';
import { transferred } from '../tests/lab/transfer.ts';
import { freePort, keep } from './apparatus/children.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { type Bench, type Finding, number, ratio } from './apparatus/results.ts';
import { accepts, ensureBuilt, prepareGround, startService } from './apparatus/service.ts';

const ROUNDS = 15;
const MOST_MS = 1000;
const MOST_KB = 200;
const PAGE_SERVER = fileURLToPath(new URL('apparatus/page-server.mjs', import.meta.url));
const EMAIL = 'bench@example.com';
const PASSWORD = 'correct horse battery staple';

/** Runs first in the page: records, by the page's clock, when the expected content appears. */
const NOTE = (selector: string): string => `new MutationObserver((_, observer) => {
  if (document.querySelector(${JSON.stringify(selector)}) === null) return;
  observer.disconnect();
  requestAnimationFrame(() => { window.usableAt = performance.now(); });
}).observe(document, { childList: true, subtree: true });`;

interface View {
  /** From the start of the navigation to the frame that shows the expected content. */
  readonly ms: number;
  readonly scripts: readonly string[];
}

/** `cookies`: the session. Each view starts with an empty cache, unless it is the second in its context. */
async function look(
  browser: Browser,
  url: string,
  selector: string,
  again: boolean,
  jar: Map<string, string>,
): Promise<View> {
  const context = await browser.newContext(windowOptions({}));
  await carry({ jar }, context, url);
  await context.addInitScript(NOTE(selector));
  const page = await context.newPage();
  const scripts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.push(request.url());
  });
  for (let n = again ? 2 : 1; n > 0; n--) {
    scripts.length = 0;
    await page.goto(url);
    await page.locator(selector).waitFor();
  }
  const ms = await page.evaluate<number>('window.usableAt');
  await page.waitForLoadState('networkidle');
  await context.close();
  return { ms, scripts };
}

/** Balance and rate limit are shown and the menu works. */
const USABLE = 'main section[aria-label="Balance"]';

export const web: Bench = {
  name: 'web',
  title: 'Dashboard',
  async run() {
    const missing = whyNoBrowser();
    if (missing !== null) return { how: 'Not measured.', figures: [], leftOut: [missing] };
    ensureBuilt();
    const ground = await prepareGround();
    const { id } = await ground.account();
    const service = await startService(ground);
    const url = `http://127.0.0.1:${service.port}`;
    await ground.withStore(async (store) => {
      const { hashPassword } = await import('../src/service/sign-in/passwords.ts');
      const input = { email: EMAIL, name: 'Bench', password: await hashPassword(PASSWORD) };
      const user = await peopleOf({ url, store }).create(input);
      if (user === null) throw new Error('The store is not empty.');
      await store.members.add(id, user.id, 'owner', { kind: 'command', id: null, name: 'bench', ip: null });
    });
    const { jar, signIn } = visitor(url);
    const answer = await signIn(EMAIL, PASSWORD);
    if (answer.status !== 200) throw new Error(`Sign-in returned ${answer.status}: ${answer.text}`);
    const floor = await startPageServer();
    const { browser, close } = await launch();
    const views = await interleave(ROUNDS, {
      floor: () => look(browser, floor.url, 'main h1', false, new Map()),
      first: () => look(browser, url, USABLE, false, jar),
      again: () => look(browser, url, USABLE, true, jar),
    });
    const { bytes } = await transferred(views.first.at(-1)!.scripts);
    await close();
    await service.stop();
    await floor.stop();
    await ground.clear();
    return finding({ ...views, kb: bytes / 1000 });
  },
};

function finding(found: { floor: View[]; first: View[]; again: View[]; kb: number }): Finding {
  const ms = (views: View[]) => views.map((view) => view.ms);
  const floor = ms(found.floor);
  const row = (what: string, views: View[]) => {
    const value = median(ms(views));
    return {
      what,
      value: `${number(value)} ms`,
      floor: `${number(median(floor))} ms`,
      ratio: ratio(medianRatio(ms(views), floor)),
      aim: { text: `≤ ${MOST_MS} ms`, met: value <= MOST_MS },
    };
  };
  return {
    how:
      "`/` in Debian's Chromium on loopback, signed in, until balance and rate limit are drawn; the floor is the same " +
      `Chromium with a page of one script that writes a heading, from bare node:http. ${ROUNDS} rounds.`,
    figures: [
      row('First view, nothing cached', found.first),
      row('Second view, scripts cached', found.again),
      {
        what: 'Script of the first view, gzip',
        value: `${number(found.kb)} KB`,
        aim: { text: `≤ ${MOST_KB} KB`, met: found.kb <= MOST_KB },
      },
    ],
  };
}

async function startPageServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const child = keep(spawn(process.execPath, [PAGE_SERVER, `${port}`], { stdio: ['ignore', 'ignore', 'inherit'] }));
  while (!(await accepts(port))) await new Promise((resolve) => setTimeout(resolve, 2));
  return {
    url: `http://127.0.0.1:${port}/`,
    async stop() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}
