import { execFileSync } from 'node:child_process';
import { isBuilt, ROOT } from '../../scripts/fresh.mjs';

/** Tests run the built command, which starts three times as fast as the sources. */
export default function setup(): void {
  if (!isBuilt()) execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: 'inherit' });
}
