// Installs what the nodes are built and tested with, builds them, and runs their tests. Argument: where the report in
// JUnit's form goes.
import { execFileSync, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
const npm = (...args) => execFileSync('npm', args, { cwd, stdio: 'inherit', env: { ...process.env, PATH } });
const timeOf = (path) => statSync(`${cwd}/${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (timeOf('node_modules/.package-lock.json') < timeOf('package-lock.json')) npm('ci', '--ignore-scripts');
npm('run', '--silent', 'build');
const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
reporters.push('--test-reporter=junit', `--test-reporter-destination=${process.argv[2]}`);
const args = ['--test', '--test-timeout=60000', ...reporters, 'test/*.test.mts'];
process.exitCode = spawnSync(process.execPath, args, { cwd, stdio: 'inherit' }).status ?? 1;
