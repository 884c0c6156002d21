import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type InlineConfig } from 'vite';
import { indexName } from '../../src/http/dashboard/web-files.ts';
import { catalogPath, readCatalog, type Translated } from '../../web/lingui.ts';
import { ROOT } from '../fresh.mjs';
import { TRANSLATED } from '../gen/catalogs.ts';

/** `first-view.js`: one module that the service loads anew for each view. */
const FIRST_VIEW = {
  define: { 'process.env.NODE_ENV': '"production"' },
  ssr: { noExternal: true },
  build: {
    ssr: 'src/first-view.tsx',
    emptyOutDir: false,
    copyPublicDir: false,
    minify: true,
    target: 'node24',
    rolldownOptions: {
      output: { entryFileNames: 'first-view.js', codeSplitting: false },
    },
  },
} satisfies InlineConfig;

/** Texts of index.html, which is shown before there are scripts: those of two attributes, and within `noscript`. */
const PAGE_TEXT = /(?<=(?:aria-label|placeholder)=")[^"]+|(?<=<noscript>)[^<]+(?=<)/g;

/** The page in a language. It loads the catalog with the first scripts. */
async function translatedPage(page: string, language: Translated, catalog: string): Promise<string> {
  const translations = new Map(
    Object.entries(await readCatalog(ROOT, language)).map(([id, { message = id, translation }]) => [
      message,
      translation,
    ]),
  );
  return page
    .replace('<html lang="en"', `<html lang="${language}"`)
    .replaceAll(PAGE_TEXT, (text) => translations.get(text) || text)
    .replace(/^ *<script type="module"/m, `    <link rel="modulepreload" crossorigin href="/${catalog}">\n$&`);
}

/**
 * Builds the dashboard into `outDir`, with each asset also precompressed, and the script that renders first views.
 * Returns the names of the bundled packages.
 */
export async function buildWeb(outDir: string): Promise<string[]> {
  const configFile = join(ROOT, 'web/vite.config.ts');
  // Otherwise a build started by the test runner would contain React's development version.
  process.env.NODE_ENV = 'production';
  const made = await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
  await build({ configFile, logLevel: 'warn', ...FIRST_VIEW, build: { ...FIRST_VIEW.build, outDir } });
  const outputs = [made].flat().flatMap((result) => ('output' in result ? result.output : []));
  const chunks = outputs.flatMap((output) => (output.type === 'chunk' ? [output] : []));
  for (const language of TRANSLATED) {
    const catalog = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(catalogPath(language))));
    if (catalog === undefined) throw new Error(`no chunk has ${catalogPath(language)}`);
    const page = await translatedPage(readFileSync(join(outDir, 'index.html'), 'utf8'), language, catalog.fileName);
    writeFileSync(join(outDir, indexName(language)), page);
  }
  const folder = join(outDir, 'assets');
  for (const name of readdirSync(folder)) {
    // Compressed already.
    if (name.endsWith('.woff2')) continue;
    const bytes = readFileSync(join(folder, name));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
  const modules = chunks.flatMap((chunk) => Object.keys(chunk.modules));
  return [...new Set(modules.flatMap((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []))].sort();
}
