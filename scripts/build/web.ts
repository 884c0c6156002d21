import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type InlineConfig } from 'vite';
import { ROOT } from '../fresh.mjs';

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
  const folder = join(outDir, 'assets');
  for (const name of readdirSync(folder)) {
    // Compressed already.
    if (name.endsWith('.woff2')) continue;
    const bytes = readFileSync(join(folder, name));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
  const outputs = [made].flat().flatMap((result) => ('output' in result ? result.output : []));
  const modules = outputs.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []));
  return [...new Set(modules.flatMap((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []))].sort();
}
