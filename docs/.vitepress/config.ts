/** The site of these pages, served at `/guide`; scripts/build/guide.ts builds it. */
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { guidePages, OUTSIDE } from '../../scripts/build/guide-pages.ts';

const ROOT = join(import.meta.dirname, '../..');

const { sections } = guidePages();

/** Anchors as on GitHub, so that a link works in both places. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** The one HTML element of the pages: a place to link to. What else looks like HTML, such as `<name>`, is text. */
const onlyAnchors = (tokens: readonly { readonly content: string }[], at: number): string => {
  const { content = '' } = tokens[at] ?? {};
  const isAnchor = /^<a id="[\w-]+">$|^<\/a>$/.test(content);
  return isAnchor ? content : content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
};

export default defineConfig({
  srcDir: '../.cache/guide',
  cacheDir: '../.cache/vitepress',
  base: '/guide/',
  lang: 'en-US',
  title: 'Mailvet',
  description: 'The documentation of Mailvet, a self-hosted email verification service.',
  head: [['link', { rel: 'icon', href: '/assets/favicon.svg' }]],
  cleanUrls: true,
  metaChunk: true,
  markdown: {
    attrs: { disable: true },
    anchor: { slugify },
    config(markdown) {
      markdown.renderer.rules.html_inline = onlyAnchors;
      markdown.renderer.rules.html_block = onlyAnchors;
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      // What stands in a title comes before what mentions it often.
      options: {
        miniSearch: {
          searchOptions: {
            combineWith: 'AND',
            fuzzy: 0.2,
            prefix: true,
            // Of "port", "post" is a misspelling, and "portable" begins with it: neither is as good as the word itself.
            weights: { fuzzy: 0.05, prefix: 0.2 },
            boost: { title: 16, titles: 4, text: 1 },
          },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'API reference', link: `${OUTSIDE}/docs`, target: '_self' },
      { text: 'Dashboard', link: `${OUTSIDE}/verify`, target: '_self' },
    ],
    sidebar: sections.map(({ title, pages }) => ({
      text: title,
      items: pages.map((page) => ({ text: page.title, link: `/${page.name}` })),
    })),
  },
  vite: {
    build: { assetsInlineLimit: 0 },
    server: { fs: { allow: [ROOT] } },
    plugins: [
      {
        name: 'mailvet:tokens',
        enforce: 'pre',
        // The dashboard's tokens; this site marks its color scheme in another way.
        transform: (code, id) =>
          /tokens\.css$/.test(id)
            ? code.replaceAll(':root[data-mantine-color-scheme="dark"]', ':root.dark')
            : undefined,
      },
      {
        name: 'mailvet:packages',
        // For the list of licenses.
        generateBundle(_options, bundle) {
          const modules = Object.values(bundle).flatMap((file) =>
            file.type === 'chunk' ? Object.keys(file.modules) : [],
          );
          const names = modules.flatMap((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
          this.emitFile({
            type: 'asset',
            fileName: 'packages.json',
            source: JSON.stringify([...new Set(names)].sort()),
          });
        },
      },
    ],
  },
});
