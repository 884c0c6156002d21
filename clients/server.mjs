/**
 * `node clients/server.mjs`: starts what the suites of all clients run their cases against, and prints one line of JSON
 * when it is ready, such as {"url": "http://127.0.0.1:40001"}. Ends with its standard input, or on SIGTERM. Any Node
 * from 20 can run it: the service itself runs on the Node that npm installed. What it answers is in README.md.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { pinnedPath } from '../scripts/fresh.mjs';

const child = spawn(pinnedPath(), [fileURLToPath(new URL('stage.ts', import.meta.url))], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.once('error', (error) => {
  throw error;
});
child.once('exit', (code) => process.exit(code ?? 1));
