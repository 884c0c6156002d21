/** The documentation as it is served: the built guide, over HTTP. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab } from '../lab/service.ts';

const ROOT = join(import.meta.dirname, '../..');
let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(lab.url + path, { headers, redirect: 'manual' });
const textOf = async (path: string): Promise<string> => {
  const reply = await get(path);
  expect([path, reply.status]).toEqual([path, 200]);
  return reply.text();
};

const PAGES = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => name.replace(/(\/README)?\.md$/, '').replace('/', '-'))
  .concat('client', 'security', 'support', 'contributing');

/** Values of `href` and `src`. */
const targets = (html: string): string[] =>
  [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, to = '']) => to.replaceAll('&amp;', '&'));

describe('the guide', () => {
  it('begins at /guide', async () => {
    const reply = await get('/guide');
    expect([reply.status, reply.headers.get('location')]).toEqual([308, '/guide/']);
    const start = await textOf('/guide/');
    for (const page of PAGES) expect(start).toContain(`href="/guide/${page}"`);
  });

  it('has every page of docs/ as HTML and as Markdown', async () => {
    for (const page of PAGES) {
      const html = await get(`/guide/${page}`);
      expect([page, html.status, html.headers.get('content-type')]).toEqual([page, 200, 'text/html; charset=utf-8']);
      expect(await html.text()).toMatch(/<h1 /);
      const markdown = await get(`/guide/${page}.md`);
      expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      expect(await markdown.text()).toMatch(/^# /m);
    }
  });

  it('asks nothing of other hosts, and every link leads somewhere', async () => {
    const pages = new Map<string, string>();
    for (const page of ['', ...PAGES]) pages.set(`/guide/${page}`, await textOf(`/guide/${page}`));
    const reached = new Set<string>();
    for (const [path, html] of pages) {
      expect(html).not.toMatch(/<(script|link|img)[^>]*(src|href)="(https?:)?\/\//);
      for (const target of targets(html)) {
        if (/^(https?|mailto):/.test(target)) continue;
        const to = new URL(target, `http://service${path}`);
        const anchor = decodeURIComponent(to.hash.slice(1));
        const linked = pages.get(to.pathname);
        if (linked !== undefined && anchor !== '')
          expect([path, target, linked.includes(`id="${anchor}"`)]).toEqual([path, target, true]);
        if (linked === undefined) reached.add(to.pathname);
      }
    }
    for (const path of reached) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  it('has contents that name every section, where a page begins with them', async () => {
    const withContents: string[] = [];
    for (const page of PAGES) {
      const [start = '', ...sections] = (await textOf(`/guide/${page}`)).split('<h2 id="');
      if (!/<li>[^\n]*href="#/.test(start)) continue;
      withContents.push(page);
      const named = targets(start).filter((target) => target.startsWith('#'));
      expect([page, named]).toEqual([page, expect.arrayContaining(sections.map((text) => `#${text.split('"')[0]}`))]);
    }
    expect(withContents).toEqual(expect.arrayContaining(['backups', 'dashboard', 'operating']));
  });

  it('has a source for every cell of its comparison', async () => {
    const html = await textOf('/guide/comparison');
    const cells = [...html.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell);
    const columns = [...html.matchAll(/<th[ >]/g)].length;
    expect(cells.length).toBeGreaterThan(30);
    const unproven = cells.filter((cell, n) => n % columns !== 0 && !cell.includes('href="'));
    expect(unproven).toEqual([]);
    // Dates of reading.
    expect(html).toMatch(/when it was read, on 20\d\d-\d\d-\d\d/);
  });

  it('has scripts from files only, as its policy demands', async () => {
    const reply = await get('/guide/quickstart');
    expect(reply.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    const html = await reply.text();
    expect(html).toMatch(/<script [^>]*src="\/guide\/assets\//);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+="/);
  });

  it('is compressed and revalidated; assets are kept forever', async () => {
    const plain = await get('/guide/api', { 'accept-encoding': 'identity' });
    const br = await get('/guide/api', { 'accept-encoding': 'br' });
    expect([plain, br].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'br']);
    expect(br.headers.get('cache-control')).toBe('public, no-cache');
    const again = await get('/guide/api', { 'accept-encoding': 'br', 'if-none-match': br.headers.get('etag') ?? '' });
    expect((await get('/guide/api', { 'if-none-match': '*' })).status).toBe(304);
    expect(again.status).toBe(304);
    const script = targets(await plain.text()).find((target) => target.endsWith('.js')) ?? '';
    expect((await get(script)).headers.get('cache-control')).toMatch(/immutable/);
  });

  it('tells of a missing page in a page that browsers can read, with the same policy', async () => {
    const { status, headers } = await get('/guide/');
    const conditions = { 'accept-encoding': 'br', 'if-none-match': headers.get('etag') ?? '' };
    const reply = await get('/guide/nothing', conditions);
    expect([status, reply.status]).toEqual([200, 404]);
    expect(await reply.text()).toContain('<!DOCTYPE html>');
    expect(reply.headers.get('content-encoding')).toBe('br');
    expect(reply.headers.get('content-security-policy')).toBe(headers.get('content-security-policy'));
    const known = { ...conditions, 'if-none-match': reply.headers.get('etag') ?? '' };
    expect((await get('/guide/nothing', known)).status).toBe(404);
  });

  it('names the scripts of its pages, which it asks for where one is missing', async () => {
    // The page of a release before finds those of this one so.
    const scripts = JSON.parse(await textOf('/guide/hashmap.json'));
    for (const page of PAGES) await textOf(`/guide/assets/${page}.md.${scripts[`${page}.md`]}.js`);
  });

  it('serves its own files only', async () => {
    for (const path of [
      '/guide/nothing',
      '/guide/..%2Fcli.js',
      '/guide/%2e%2e%2fcli.js',
      '/guide/assets/..%2F404.html',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });
});

describe('for language models', () => {
  it('/llms.txt links to every page as Markdown', async () => {
    const index = await textOf('/llms.txt');
    expect(index).toMatch(/^# Mailvet\n\n> /);
    for (const page of PAGES) expect(index).toContain(`(/guide/${page}.md): `);
  });

  it('/llms-full.txt has all of them', async () => {
    const whole = await textOf('/llms-full.txt');
    for (const page of PAGES) expect(whole).toContain((await textOf(`/guide/${page}.md`)).trim());
  });
});
