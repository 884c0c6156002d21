import { copyFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ROOT } from '../fresh.mjs';
import { writeDeclarations } from './declarations.ts';

/** What the client can be imported as: the package itself, and the adapters. */
export const CLIENT_ENTRIES = [
  'index',
  'express',
  'fastify',
  'hono',
  'next',
  'nest',
  'better-auth',
  'zod',
  'testing',
] as const;

const SOURCES = 'sdk/src';
const TYPES_ONLY = /^(schema|types|.*\.d)\.ts$/;

/**
 * sdk/dist: the published client for Node 20 and browsers, in both module formats, with declarations. One file for each
 * source, so that the adapters and the package share their classes. Built in a temporary folder and moved into place,
 * like dist/.
 */
export async function buildSdk(): Promise<void> {
  const place = join(ROOT, 'sdk/dist');
  const folder = join(ROOT, `.cache/sdk-${process.pid}`);
  const files = readdirSync(join(ROOT, SOURCES)).filter((name) => !TYPES_ONLY.test(name));
  const shared = {
    absWorkingDir: ROOT,
    entryPoints: files.map((name) => `${SOURCES}/${name}`),
    outdir: folder,
    bundle: true,
    packages: 'external',
    platform: 'neutral',
    target: 'es2022',
    sourcemap: true,
    logLevel: 'warning',
  } as const;
  await build({ ...shared, format: 'esm', plugins: [siblings('.js')] });
  await build({ ...shared, format: 'cjs', outExtension: { '.js': '.cjs' }, plugins: [siblings('.cjs')] });
  writeDeclarations(folder, {
    project: ['-p', 'sdk', '--noEmit', 'false', '--emitDeclarationOnly', '--rootDir', SOURCES],
    entries: CLIENT_ENTRIES,
  });
  for (const name of ['LICENSE', 'NOTICE']) copyFileSync(join(ROOT, name), join(folder, name));
  rmSync(place, { recursive: true, force: true });
  renameSync(folder, place);
}

/** Leaves imports of other sources as imports of their outputs. */
const siblings = (extension: string): Plugin => ({
  name: 'siblings',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/.*\.ts$/ }, ({ kind, path }) =>
      kind === 'entry-point' ? null : { path: path.replace(/\.ts$/, extension), external: true },
    );
  },
});
