/**
 * Pages compared with accepted pictures, which are WebP files of half their size. `npm run screenshots -- --accept`
 * renews those that differ. Chromium decodes, compares and encodes; the code for it is text, because these sources are
 * compiled without DOM types.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../../scripts/fresh.mjs';
import { settled } from './axe.ts';

const ACCEPTED = join(ROOT, 'tests/browser/pictures');
const DIFFERENCES = join(ROOT, '.cache/pictures');
const EXTENSION = '.webp';
/** Whether pages are taken instead of compared. */
export const ACCEPT: boolean = process.env.MAILVET_TEST_PICTURES === 'accept';

/** Below this, pages are cut off, in pixels. */
const MOST_HEIGHT = 1200;

/** A page may still be drawing: it is taken again until it looks as it should, or so often. */
const TRIES = 8;
const PAUSE_MS = 200;

/** What differs from run to run, as regular expressions, and what stands in pictures instead. */
const CHANGING: readonly (readonly [pattern: string, instead: string])[] = [
  // IDs, keys and ports.
  ['\\b([a-z]{3,5})_[0-9A-Za-z]{22}\\b', '$1_0000000000000000000000'],
  ['\\bmv_(live|test)_[0-9A-Za-z]*(…[0-9A-Za-z]+)?', 'mv_$1_…0000'],
  ['\\bending in [0-9A-Za-z]{4}\\b', 'ending in 0000'],
  ['\\b(127\\.0\\.0\\.1\\]?|localhost):\\d+', '$1:8025'],
  // Durations.
  ['\\b\\d+(\\.\\d+)? (m?s|milliseconds?|seconds?)\\b', '0 s'],
  ['(?<![\\d.])\\d\\.\\d{3}(?![\\d.])', '0.000'],
  // Of the disposable lists, which are updated.
  ['\\bversion \\d{4}-\\d{2}-\\d{2}\\b', 'version 2026-01-01'],
];

/** Replaces what changes, in the texts of the page, and adds a style sheet; `unmask` undoes both. */
const MASK = (style: string): string => `window.unmask = (() => {
  const before = [];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(${JSON.stringify(style)});
  document.adoptedStyleSheets.push(sheet);
  const changing = ${JSON.stringify(CHANGING)}.map(([pattern, instead]) => [new RegExp(pattern, 'g'), instead]);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    // Style sheets of components stand in the body, too.
    if (text.parentElement.matches('style, script')) continue;
    const masked = changing.reduce((value, [pattern, instead]) => value.replace(pattern, instead), text.data);
    if (masked === text.data) continue;
    before.push([text, text.data]);
    text.data = masked;
  }
  return () => {
    for (const [text, data] of before) text.data = data;
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  };
})()`;

/**
 * What the comparison bears: of the accepted picture, which is compressed with loss, a pixel or two differ by more than
 * STRONG of 255 in brightness, and squares of SQUARE pixels by 13 of 255 in the mean of a channel; versions of Chromium
 * smooth edges in ways of their own, by less than that. A heading or button that is one pixel elsewhere has 26 strong
 * pixels and more.
 */
const STRONG = 24;
const MOST_STRONG = 16;
const SQUARE = 8;
const MOST_OF_SQUARE = 15;

/** At half size, which is enough to see what has moved, and small. */
const READ = `const read = async (url, scale) => {
  const bitmap = await createImageBitmap(await (await fetch(url)).blob());
  const canvas = new OffscreenCanvas(bitmap.width * scale, bitmap.height * scale);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return { context, canvas, ...{ width: canvas.width, height: canvas.height } };
};
const encode = async (canvas, type) => {
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type, quality: 0.8 })).arrayBuffer());
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''));
}`;

/** How the second picture, of full size, differs from the first: null, or why and, faint, with what differs in red. */
const COMPARE = `async (first, second) => {
  const [was, is] = [await read(first, 1), await read(second, 0.5)];
  const { width, height, canvas, context } = is;
  if (was.width !== width || was.height !== height)
    return { why: \`it was \${was.width} × \${was.height}, is \${width} × \${height}\`, picture: null };
  const [before, after] = [was, is].map((one) => one.context.getImageData(0, 0, width, height).data);
  const columns = Math.ceil(width / ${SQUARE});
  const sums = new Float64Array(columns * Math.ceil(height / ${SQUARE}) * 3);
  const marked = new Set();
  let strong = 0;
  for (let n = 0; n < width * height; n++) {
    const square = Math.floor(n / width / ${SQUARE}) * columns + Math.floor((n % width) / ${SQUARE});
    const [red, green, blue] = [0, 1, 2].map((channel) => after[n * 4 + channel] - before[n * 4 + channel]);
    sums[square * 3] += red;
    sums[square * 3 + 1] += green;
    sums[square * 3 + 2] += blue;
    if (Math.abs(0.3 * red + 0.59 * green + 0.11 * blue) <= ${STRONG}) continue;
    strong++;
    marked.add(square);
  }
  const colored = [...sums.keys()].filter((i) => Math.abs(sums[i]) > ${MOST_OF_SQUARE * SQUARE ** 2});
  if (strong <= ${MOST_STRONG} && colored.length === 0) return null;
  context.fillStyle = 'rgb(255 255 255 / 70%)';
  context.fillRect(0, 0, width, height);
  context.fillStyle = 'rgb(255 0 0 / 50%)';
  for (const square of new Set([...marked, ...colored.map((i) => Math.floor(i / 3))]))
    context.fillRect((square % columns) * ${SQUARE}, Math.floor(square / columns) * ${SQUARE}, ${SQUARE}, ${SQUARE});
  return { why: \`\${strong} pixels and \${colored.length} squares differ\`, picture: await encode(canvas, 'image/png') };
}`;

const SHRINK = `async (url) => encode((await read(url, 0.5)).canvas, 'image/webp')`;

export interface Pictures {
  /** Why the page, with this style sheet, does not look like the accepted picture of this name; empty if it does. */
  differences(page: Page, name: string, style: string): Promise<string[]>;
}

/** Names of the pictures that there are. */
export const acceptedPictures = (): string[] => readdirSync(ACCEPTED).map((file) => file.slice(0, -EXTENSION.length));

/** `browser`: has a page of its own that compares. */
export async function createPictures(browser: Browser): Promise<Pictures> {
  const studio = await browser.newPage();
  const run = <T>(code: string, ...args: string[]): Promise<T> =>
    studio.evaluate<T>(
      `(() => { ${READ}; return (${code})(${args.map((arg) => JSON.stringify(arg)).join(', ')}); })()`,
    );
  const compare = (file: string, taken: Buffer): Promise<Difference | null> =>
    run(COMPARE, dataUrl('image/webp', readFileSync(file)), dataUrl('image/png', taken));

  /** Taken twice in succession without a difference. */
  async function atRest(page: Page, style: string): Promise<Buffer> {
    for (let before = await take(page, style), tries = 0; tries < TRIES; tries++) {
      await page.waitForTimeout(PAUSE_MS);
      const now = await take(page, style);
      if (now.equals(before)) return now;
      before = now;
    }
    throw new Error('The page does not come to rest.');
  }

  async function accept(file: string, page: Page, style: string): Promise<void> {
    const taken = await atRest(page, style);
    if (existsSync(file) && (await compare(file, taken)) === null) return;
    mkdirSync(ACCEPTED, { recursive: true });
    writeFileSync(file, await run<string>(SHRINK, dataUrl('image/png', taken)), 'base64');
  }

  return {
    async differences(page, name, style) {
      const file = join(ACCEPTED, name + EXTENSION);
      if (ACCEPT) await accept(file, page, style);
      if (!existsSync(file))
        return [`${name}: there is no accepted picture; \`npm run screenshots -- --accept\` takes it.`];
      for (let tries = 1; ; tries++) {
        const taken = await take(page, style);
        const difference = await compare(file, taken);
        if (difference === null) return [];
        if (tries === TRIES) return [`${name}: ${difference.why}. ${keep(name, taken, difference)}`];
        await page.waitForTimeout(PAUSE_MS);
      }
    },
  };
}

interface Difference {
  readonly why: string;
  /** PNG in base64; null if the sizes differ. */
  readonly picture: string | null;
}

const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;

async function take(page: Page, style: string): Promise<Buffer> {
  await settled(page);
  await page.evaluate(MASK(style));
  const [width, height] = await page.evaluate<[number, number]>(
    '[document.documentElement.clientWidth, document.documentElement.scrollHeight]',
  );
  const clip = { x: 0, y: 0, width, height: Math.min(height - (height % 2), MOST_HEIGHT) };
  const taken = await page.screenshot({ fullPage: true, clip });
  await page.evaluate('unmask()');
  return taken;
}

/** Writes what was taken, and what differs; says where. */
function keep(name: string, taken: Buffer, { picture }: Difference): string {
  mkdirSync(DIFFERENCES, { recursive: true });
  const path = join(DIFFERENCES, name);
  writeFileSync(`${path}.png`, taken);
  if (picture !== null) writeFileSync(`${path}-differences.png`, picture, 'base64');
  return `See ${path}*.png; \`npm run screenshots -- --accept\` accepts it.`;
}
