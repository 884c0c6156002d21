/** The first view of the dashboard in Chromium, relative to a page with one script that writes a heading. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { carry, launch, whyNoBrowser, windowOptions } from '../tests/lab/chromium.ts';
import { peopleOf, browser as visitor } from '../tests/lab/person.ts';
import { transferred } from '../tests/lab/transfer.ts';
import { freePort, keep } from './apparatus/children.ts';
import { longestInteraction, ROWS } from './apparatus/interactions.ts';
import { runList } from './apparatus/list-load.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { emails } from './apparatus/names.ts';
import { type Bench, type Finding, number, ratio } from './apparatus/results.ts';
import { accepts, ensureBuilt, prepareGround, startService } from './apparatus/service.ts';

const ROUNDS = 15;
const SLOW_ROUNDS = 3;
const INTERACTION_ROUNDS = 3;
/** A slow line: octets per second, and milliseconds of a round trip. */
const SLOW = { downloadThroughput: 50 * 1024, uploadThroughput: 50 * 1024, latency: 400 };
const MOST = { ms: 600, slowMs: 3_000, interactionMs: 100, kb: 180 };
const PAGE_SERVER = fileURLToPath(new URL('apparatus/page-server.mjs', import.meta.url));
const EMAIL = 'bench@example.com';
const PASSWORD = 'correct horse battery staple';

/**
 * Runs first in the page: records, by the page's clock, when the expected content is drawn, and when it reacts: until
 * then the page shows what came with its HTML.
 */
const NOTE = (selector: string): string => `{
  const expected = ${JSON.stringify(selector)};
  const when = (name, selector) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector(selector) === null) return;
      observer.disconnect();
      requestAnimationFrame(() => { window[name] = performance.now(); });
    });
    observer.observe(document, { childList: true, subtree: true, attributes: true });
  };
  when('shownAt', expected);
  when('reactsAt', 'body:not(:has([data-first-view])) ' + expected);
}`;

interface View {
  /** From the start of the navigation to the frame that shows the expected content. */
  readonly ms: number;
  /** To the frame from which on it reacts. */
  readonly reactsMs: number;
  readonly scripts: readonly string[];
}

interface Visit {
  readonly url: string;
  /** What is waited for. */
  readonly selector: string;
  /** The session. */
  readonly jar: Map<string, string>;
}

/** Each view starts with an empty cache, unless it is the second (`again`) in its context. */
async function look(
  browser: Browser,
  { url, selector, jar }: Visit,
  { again = false, slow = false } = {},
): Promise<View> {
  const context = await browser.newContext(windowOptions({}));
  await carry({ jar }, context, url);
  await context.addInitScript(NOTE(selector));
  const page = await context.newPage();
  if (slow) {
    const network = await context.newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', { offline: false, ...SLOW });
  }
  const scripts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.push(request.url());
  });
  for (let n = again ? 2 : 1; n > 0; n--) {
    scripts.length = 0;
    await page.goto(url);
    await page.locator(`body:not(:has([data-first-view])) ${selector}`).waitFor();
  }
  await page.waitForLoadState('networkidle');
  const { ms, reactsMs } = await page.evaluate<Omit<View, 'scripts'>>(
    '({ ms: window.shownAt, reactsMs: window.reactsAt })',
  );
  await context.close();
  return { ms, reactsMs, scripts };
}

/** The figures of the overview. */
const USABLE = 'main [aria-label="Key figures"]';
/** The form of the sign-in page. */
const SIGN_IN = 'main input[type="password"]';

export const web: Bench = {
  name: 'web',
  title: 'Dashboard',
  async run() {
    const missing = whyNoBrowser();
    if (missing !== null) return { how: 'Not measured.', figures: [], leftOut: [missing] };
    ensureBuilt();
    const ground = await prepareGround();
    const { id, key } = await ground.account();
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
    const overview = { url, selector: USABLE, jar };
    const signInPage = { url: `${url}/sign-in`, selector: SIGN_IN, jar: new Map() };
    const views = await interleave(ROUNDS, {
      floor: () => look(browser, { url: floor.url, selector: 'main h1', jar: new Map() }),
      first: () => look(browser, overview),
      again: () => look(browser, overview, { again: true }),
    });
    const slow = await interleave(SLOW_ROUNDS, {
      slow: () => look(browser, overview, { slow: true }),
      slowSignIn: () => look(browser, signInPage, { slow: true }),
    });
    const scripts = views.first.flatMap((view) => view.scripts);
    await runList({ ...service, key }, 'mx', emails(ROWS));
    const interactions = await interleave(INTERACTION_ROUNDS, {
      log: () => longestInteraction(browser, `${url}/log`, jar, narrowLog),
      list: async () => longestInteraction(browser, `${url}/lists/${await lastList(url, key)}`, jar, narrowList),
    });
    const { bytes } = await transferred([...new Set(scripts)].filter((script) => !/plot/i.test(script)));
    await close();
    await service.stop();
    await floor.stop();
    await ground.clear();
    return finding({ ...views, ...slow, interactions, kb: bytes / 1000 });
  },
};

type Views = Readonly<Record<'floor' | 'first' | 'again' | 'slow' | 'slowSignIn', View[]>>;

async function lastList(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/v1/lists?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  const { lists } = (await response.json()) as { lists: readonly [{ id: string }] };
  return lists[0].id;
}

async function narrowLog(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Deliverability' }).click();
  await page.getByRole('menuitemradio', { name: 'Undeliverable' }).click();
}
const narrowList = (page: Page): Promise<void> => page.getByRole('link', { name: 'Undeliverable' }).first().click();

/** ms */
type Interactions = Readonly<Record<'log' | 'list', number[]>>;

function finding(found: Views & { interactions: Interactions; kb: number }): Finding {
  const ms = (views: View[]) => views.map((view) => view.ms);
  const reactsMs = (views: View[]) => views.map((view) => view.reactsMs);
  const floor = ms(found.floor);
  const row = (what: string, views: View[], of = reactsMs) => {
    const value = median(of(views));
    return {
      what,
      value: `${number(value)} ms`,
      floor: `${number(median(floor))} ms`,
      ratio: ratio(medianRatio(of(views), floor)),
      aim: { text: `≤ ${MOST.ms} ms`, met: value <= MOST.ms },
    };
  };
  const slowRow = (what: string, views: View[]) => {
    const value = median(ms(views));
    return { what, value: `${number(value)} ms`, aim: { text: `≤ ${MOST.slowMs} ms`, met: value <= MOST.slowMs } };
  };
  const reactsRow = (what: string, views: View[]) => ({ what, value: `${number(median(reactsMs(views)))} ms` });
  const interactionRow = (what: string, of: readonly number[]) => {
    const value = median(of);
    const aim = { text: `≤ ${MOST.interactionMs} ms`, met: value <= MOST.interactionMs };
    return {
      what: `Interaction to next paint, ${number(ROWS)} rows of ${what}: longest`,
      value: `${number(value)} ms`,
      aim,
    };
  };
  return {
    how:
      "`/` in Debian's Chromium on loopback, signed in, until the key figures are drawn, and until they react; the floor is the same " +
      `Chromium with a page of one script that writes a heading, from bare node:http. ${ROUNDS} rounds. The slow line ` +
      `has 50 KiB/s and round trips of 400 ms; ${SLOW_ROUNDS} rounds. ` +
      `Interactions: six rows by the key J, Escape, and another verdict; ${INTERACTION_ROUNDS} rounds.`,
    figures: [
      row('First view, nothing cached: drawn', found.first, ms),
      reactsRow('First view, nothing cached: reacts', found.first),
      row('Second view, scripts cached: reacts', found.again),
      slowRow('First view over a slow line: drawn', found.slow),
      reactsRow('First view over a slow line: reacts', found.slow),
      slowRow('Sign-in page over a slow line: drawn', found.slowSignIn),
      reactsRow('Sign-in page over a slow line: reacts', found.slowSignIn),
      interactionRow('the log', found.interactions.log),
      interactionRow('a list', found.interactions.list),
      {
        what: 'Script of the first view without charts, gzip',
        value: `${number(found.kb)} KB`,
        aim: { text: `≤ ${MOST.kb} KB`, met: found.kb <= MOST.kb },
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
