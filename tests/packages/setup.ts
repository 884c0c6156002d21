/** Packs the three packages, and installs what they are used with, once for all files. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../scripts/fresh.mjs';
import { CONSUMER, PACKAGES, PACKED } from './packed.ts';

export default function setup(): void {
  rmSync(PACKED, { recursive: true, force: true });
  mkdirSync(PACKED, { recursive: true });
  // Built before, so that each is not built again.
  for (const { folder } of Object.values(PACKAGES))
    npm(ROOT, 'pack', `./${folder}`, '--ignore-scripts', '--pack-destination', PACKED);
  const wanted = join(import.meta.dirname, 'consumer');
  const lock = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const installed = join(CONSUMER, 'node_modules/.package-lock.json');
  if (existsSync(installed) && lock(CONSUMER) === lock(wanted)) return;
  rmSync(CONSUMER, { recursive: true, force: true });
  cpSync(wanted, CONSUMER, { recursive: true });
  npm(CONSUMER, 'ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
}

function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
