import { execFileSync } from 'node:child_process';
import { buildSync } from 'esbuild';
import { isBuilt, ROOT } from '../../scripts/fresh.mjs';

/** Tests run the built command, which starts three times as fast as the sources; one-kysely.mjs has the other file. */
export default function setup(): void {
  const outfile = '.cache/test/kysely.mjs';
  buildSync({ entryPoints: ['kysely'], bundle: true, platform: 'node', format: 'esm', outfile, absWorkingDir: ROOT });
  if (!isBuilt()) execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: 'inherit' });
}
