// `npm run up`: installs, builds and starts the service. Runs on Node 20 without packages, any number of times.
import { join } from 'node:path';
import { ensureInstalled, failureOf, isBuilt, ROOT } from './fresh.mjs';

try {
  ensureInstalled();
  if (!isBuilt()) {
    console.log('Building …');
    const failure = failureOf(['scripts/build.ts']);
    if (failure !== null) throw new Error(`The build failed. ${failure}`);
  }
  // From here on, this is `mailvet serve`, in this process if its Node is new enough.
  const command = join(ROOT, 'bin/mailvet.mjs');
  process.argv = [process.execPath, command, 'serve', '--first-account', ...process.argv.slice(2)];
  await import('../bin/mailvet.mjs');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
