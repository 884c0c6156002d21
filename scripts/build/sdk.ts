import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from '../fresh.mjs';
import { writeDeclarations } from './declarations.ts';

/**
 * sdk/dist: the published client, one file for Node 20 and browsers, with declarations. Built in a temporary folder and
 * moved into place, like dist/.
 */
export async function buildSdk(): Promise<void> {
  const place = join(ROOT, 'sdk/dist');
  const folder = join(ROOT, `.cache/sdk-${process.pid}`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['sdk/src/index.ts'],
    outfile: join(folder, 'index.js'),
    bundle: true,
    platform: 'neutral',
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
  writeDeclarations(folder, ['-p', 'sdk', '--noEmit', 'false', '--emitDeclarationOnly', '--rootDir', 'sdk/src']);
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  rmSync(place, { recursive: true, force: true });
  renameSync(folder, place);
}
