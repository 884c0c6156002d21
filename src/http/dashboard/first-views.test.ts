import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../kernel/log.ts';
import { createFirstViews, type DataReply, type FirstViews, VIEWS_AT_ONCE } from './first-views.ts';

/**
 * In place of the built dashboard: a page's path says how its view goes. Views share one thing on purpose,
 * `process.env`.
 */
const SCRIPT = `
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const statusOf = async (path) => (await fetch(new Request(path))).status;
const pages = {
  '/plain': async () => 'plain',
  '/asks': () => statusOf('/data'),
  '/asks-late': async () => { await pause(600); process.env.late = await statusOf('/data'); },
  '/shows-late': async () => process.env.late,
  '/asks-and-fails': async () => {
    pause(100).then(async () => { process.env.late = await statusOf('/data'); });
    throw new Error('failed');
  },
  '/never': () => new Promise(() => undefined),
  '/throws-later': () => { setTimeout(() => { throw new Error('later'); }); return new Promise(() => undefined); },
  '/loops': async () => { for (;;); },
  '/fills-the-heap': async () => { for (const all = []; ; ) all.push(new Array(100_000).fill({})); },
};
async function renderFirstView() {
  return { html: String(await pages[location.pathname]()), account: null, known: [] };
}`;

const OK: DataReply = { status: 200, body: '{}' };
const answers = async () => OK;
const TIMES = { withinMs: 300, stuckMs: 1200 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailvet-views-'));
  await writeFile(join(folder, 'first-view.js'), SCRIPT);
});
afterAll(() => rm(folder, { recursive: true }));

let views: FirstViews;
/** What the page is sent with; null: nothing. */
async function shown(path: string, answer: () => Promise<DataReply> = answers): Promise<string | null> {
  const view = await views.render({ url: `http://127.0.0.1${path}`, platform: '', nonce: '' }, answer);
  return view?.html ?? null;
}
beforeEach(async () => {
  views = createFirstViews([folder], createLogger('silent'), TIMES);
  // The thread takes its time to start.
  await expect.poll(() => shown('/plain')).toBe('plain');
});
afterEach(() => views.close());

describe('a first view', () => {
  it('gets the data that it asks for', async () => {
    expect(await shown('/asks')).toBe('200');
  });

  it('that comes too late is left out, and what it still asks is refused, so that nothing is kept', async () => {
    let asked = 0;
    const count = async () => {
      asked += 1;
      return OK;
    };
    expect(await shown('/asks-late', count)).toBeNull();
    await expect.poll(() => shown('/shows-late')).toBe('503');
    expect(asked).toBe(0);
  });

  it('that failed has its open requests refused', async () => {
    expect(await shown('/asks-and-fails')).toBeNull();
    await expect.poll(() => shown('/shows-late')).toBe('503');
  });

  it('whose data cannot be had is told so', async () => {
    expect(await shown('/asks', () => Promise.reject(new Error('no data')))).toBe('503');
  });

  it('is left out where as many are not finished, even too late, and is back with them', async () => {
    const release = Promise.withResolvers<DataReply>();
    const open = Array.from({ length: VIEWS_AT_ONCE }, () => shown('/asks', () => release.promise));
    expect(await shown('/plain')).toBeNull();
    expect(await Promise.all(open)).toEqual(open.map(() => null));
    expect(await shown('/plain')).toBeNull();
    release.resolve(OK);
    await expect.poll(() => shown('/plain')).toBe('plain');
  });
});

describe('the thread of first views', () => {
  it.each(['/throws-later', '/fills-the-heap'])('that dies leaves every page without, and is replaced: %s', {
    timeout: 20_000,
  }, async (path) => {
    const beside = shown('/never');
    expect(await shown(path)).toBeNull();
    expect(await beside).toBeNull();
    await expect.poll(() => shown('/plain'), { timeout: 15_000 }).toBe('plain');
  });

  it.each(['/loops', '/never'])('that does not finish a view is ended and replaced: %s', async (path) => {
    const all = Array.from({ length: VIEWS_AT_ONCE }, () => shown(path));
    expect(await Promise.all(all)).toEqual(all.map(() => null));
    expect(await shown('/plain')).toBeNull();
    await expect.poll(() => shown('/plain'), { timeout: 15_000 }).toBe('plain');
  });
});
