/**
 * `npm run screenshots`: takes the screenshots in the docs, on a fresh service with an account after a month of use.
 * The clock is stopped, so that unchanged pages give identical screenshots. `-- --accept`: instead renews those of the
 * accepted pictures in tests/browser/pictures that pages no longer look like.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { settled } from '../tests/lab/axe.ts';
import { carry, type Look, launch, whyNoBrowser, windowOptions } from '../tests/lab/chromium.ts';
import {
  COMPANIES,
  createMonthOfUse,
  ENVIRONMENT,
  type MonthOfUse,
  POST_OFFICE,
  TickingClock,
  verifiedList,
} from '../tests/lab/month-of-use.ts';
import { startLab } from '../tests/lab/service.ts';
import { startSmtp } from '../tests/lab/smtp.ts';
import { isBuilt, ROOT, runPinned } from './fresh.mjs';

const DAYS = 31;
const FOLDER = join(ROOT, 'docs/images');

const PICTURES: readonly (readonly [file: string, path: string, look: Look, ready: (page: Page) => Promise<void>])[] = [
  ['overview', '/', {}, drawn],
  ['overview-dark', '/', { scheme: 'dark' }, drawn],
  ['keys', '/settings/keys', {}, (page) => page.getByRole('table', { name: 'API keys' }).waitFor()],
  ['usage', '/usage?range=30d', {}, drawn],
  ['verify', '/verify', {}, verified],
  ['list', '/lists/:list', {}, listed],
];

async function listed(page: Page): Promise<void> {
  await page.getByRole('table', { name: 'Rows' }).getByText('Mailbox exists').last().waitFor();
}
async function drawn(page: Page): Promise<void> {
  await page.locator('main canvas').last().waitFor();
}
async function verified(page: Page): Promise<void> {
  await page.getByLabel('Email address').fill('ada.lind@fabrikam.test');
  await page.getByRole('radio', { name: /^smtp/ }).check();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByRole('list', { name: 'SMTP transcript' }).waitFor();
  await page.getByRole('heading', { name: 'Verdict' }).scrollIntoViewIfNeeded();
}

const missing = whyNoBrowser();
if (missing !== null) {
  console.error(`Screenshots need a browser: ${missing}.`);
  process.exit(1);
}
if (!isBuilt() && !runPinned(['scripts/build.ts'])) process.exit(1);

if (process.argv.includes('--accept')) {
  const test = ['run', '--project', 'browser', 'tests/browser/looks.test.ts', '-t', 'every'];
  const env = { ...process.env, MAILVET_TEST_PICTURES: 'accept' };
  process.exit(runPinned(['node_modules/vitest/vitest.mjs', ...test], env) ? 0 : 1);
}

const clock = new TickingClock();
const mail = await startSmtp(POST_OFFICE);
const smtp = { MAILVET_SMTP_PORT: `${mail.port}`, MAILVET_SMTP_RATE_PER_OPERATOR: '0' };
const lab = await startLab({ ...ENVIRONMENT, ...smtp }, { net: COMPANIES, clock });
const { browser, close } = await launch();
try {
  const seeded = await createMonthOfUse(lab, { clock, days: DAYS });
  // The session of the first day has ended.
  const { status, text } = await seeded.owner.signIn(seeded.owner.email);
  if (status !== 200) throw new Error(text);
  mkdirSync(FOLDER, { recursive: true });
  const list = await verifiedList(lab, seeded.key);
  for (const picture of PICTURES) await take(seeded, list, picture);
} finally {
  await close();
  await lab.close();
  await mail.close();
}

async function take(
  { owner }: MonthOfUse,
  list: string,
  [file, path, look, ready]: (typeof PICTURES)[number],
): Promise<void> {
  const context = await browser.newContext(windowOptions(look));
  await context.clock.setFixedTime(clock.now());
  await carry(owner, context, lab.url);
  const page = await context.newPage();
  await page.goto(lab.url + path.replace(':list', list));
  await ready(page);
  await settled(page);
  const target = join(FOLDER, `${file}.png`);
  await page.screenshot({ path: target });
  console.log(target.slice(ROOT.length));
  await context.close();
}
