import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vitepress';
import { sha256Hex } from '../../src/kernel/ids.ts';
import { ROOT } from '../fresh.mjs';
import { type GuidePage, guidePages, OUTSIDE } from './guide-pages.ts';

/** Where VitePress reads the pages; docs/.vitepress/config.ts names it as well. */
const SOURCES = join(ROOT, '.cache/guide');

const SUMMARY =
  'Mailvet is a self-hosted email verification service: one POST with an address, one verdict, the reason, and what it cost.';

const fileOf = ({ name }: GuidePage): string => `${name || 'index'}.md`;

/**
 * Builds the guide into `outDir`: pages as HTML and as Markdown, llms.txt and llms-full.txt. Returns the names of the
 * bundled packages.
 */
export async function buildGuide(outDir: string): Promise<string[]> {
  const { start, sections } = guidePages();
  const pages = [start, ...sections.flatMap((section) => section.pages)];
  rmSync(SOURCES, { recursive: true, force: true });
  mkdirSync(SOURCES, { recursive: true });
  for (const page of pages) writeFileSync(join(SOURCES, fileOf(page)), page.text);
  cpSync(join(ROOT, 'docs/images'), join(SOURCES, 'images'), { recursive: true });
  await build(join(ROOT, 'docs'), { outDir });
  const packages = JSON.parse(readFileSync(join(outDir, 'packages.json'), 'utf8')) as string[];
  rmSync(join(outDir, 'packages.json'));
  for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(html|js)$/.test(name)) continue;
    const text = readFileSync(join(outDir, name), 'utf8');
    if (text.includes(OUTSIDE)) writeFileSync(join(outDir, name), text.replaceAll(OUTSIDE, ''));
  }
  withoutInlineScripts(outDir);
  for (const page of pages) writeFileSync(join(outDir, fileOf(page)), page.text.replaceAll(OUTSIDE, ''));
  const index = sections.map(({ title, pages: ofSection }) =>
    [
      `## ${title}`,
      '',
      ...ofSection.map((page) => `- [${page.title}](/guide/${fileOf(page)}): ${plain(page.covers)}`),
    ].join('\n'),
  );
  writeFileSync(join(outDir, 'llms.txt'), `# Mailvet\n\n> ${SUMMARY}\n\n${index.join('\n\n')}\n`);
  const whole = pages.map((page) => `<!-- /guide/${fileOf(page)} -->\n\n${page.text.replaceAll(OUTSIDE, '').trim()}\n`);
  writeFileSync(join(outDir, 'llms-full.txt'), whole.join('\n'));
  return packages;
}

const plain = (markdown: string): string => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

const INLINE = /<script id="[\w-]+">([\s\S]*?)<\/script>\s*/g;

/** The content security policy allows scripts from files only: the pages' inline ones, the same on each, become one. */
function withoutInlineScripts(outDir: string): void {
  const names = readdirSync(outDir).filter((name) => name.endsWith('.html'));
  const scripts = new Set<string>();
  for (const name of names) {
    const html = readFileSync(join(outDir, name), 'utf8');
    const script = [...html.matchAll(INLINE)].map(([, code = '']) => code).join('\n');
    scripts.add(script);
    const file = `early.${sha256Hex(script).slice(0, 8)}.js`;
    writeFileSync(join(outDir, 'assets', file), script);
    const without = html.replace(INLINE, '').replace('</head>', `<script src="/guide/assets/${file}"></script></head>`);
    writeFileSync(join(outDir, name), without);
  }
  if (scripts.size !== 1 || scripts.has(''))
    throw new Error('the pages of the guide have other inline scripts than expected');
}
