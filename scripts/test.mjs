// `npm test`: installs what the tests need and runs all of them, in stages. Runs on Node 20 without packages.
// `--stage quick` (also check, trials, debian, packages, clients, postgres, browser) runs one stage.
//
// Two stages run at a time, because tests wait as much as they compute; each one's output is printed when it ends.
import { spawn } from 'node:child_process';
import { createReadStream, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { installMissing, isDebianRoot, missingPackages } from './debian-packages.mjs';
import { ensureInstalled, isBuilt, pinnedPath, ROOT, runPinned } from './fresh.mjs';
import { readJunit } from './test/junit.mjs';

const RESULTS = join(ROOT, '.cache/test');

const AT_ONCE = 2;

/** A run takes up to 45 minutes on two busy cores. A hung test must not keep the others from being reported. */
const LIMIT_MINUTES = 60;

const ON_POSTGRES = { MAILVET_TEST_STORE: 'postgres', MAILVET_TEST_POSTGRES: 'required' };
const IN_BROWSER = { MAILVET_TEST_BROWSER: 'required' };

/**
 * HTTP suites about what happens before or beside the store: bodies, connections, headers, DNS, mail hosts, pages,
 * who may do what, fair turns, OpenID providers, metrics, the OpenAPI document. They run on SQLite only; the postgres
 * stage runs the others again.
 */
const WITHOUT_STORE = [
  'access-matrix',
  'bodies',
  'costs',
  'floods',
  'false-dns-answers',
  'mail-host-limits',
  'metrics',
  'one-party',
  'openapi-clients',
  'security-txt',
  'stream',
  'transport',
  'walls',
  'dashboard/oidc',
  'dashboard/oidc-options',
  'dashboard/openapi',
  'dashboard/pages',
  'dashboard/second-factor-required',
  'dashboard/takeover',
  'dashboard/weak-passwords',
].map((name) => `tests/http/${name}.test.ts`);

/** The tests of a folder. */
const testsIn = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((path) => path.endsWith('.test.ts'));

/** Flows with tests that run on PostgreSQL only. */
const FLOWS_OF_POSTGRES = testsIn('tests/flows').filter((path) =>
  /ENGINE [!=]== 'postgres'/.test(readFileSync(join(ROOT, path), 'utf8')),
);
/** Of these, those of whose tests most need one node. */
const FLOWS_OF_TWO_NODES = ['egress-addresses', 'egress-pool'].map((name) => `tests/flows/${name}.test.ts`);

/** Suites of charging, but for those about the statements of one database. */
const CHARGING = ['charging', 'charging-person', 'charging-property', 'shared-holds', 'seen', 'key-limits'].map(
  (name) => `tests/store/${name}.test.ts`,
);

/**
 * By name, in the order in which they start, the longest first. `packages`: of Debian. Each run is one vitest process
 * (`args`), or another command that writes a JUnit report (`junit`), and runs of a stage come one after the other.
 */
const STAGES = {
  browser: {
    packages: true,
    runs: [
      { name: 'browser', project: 'browser', workers: 2, env: IN_BROWSER },
      // A dashboard sees only HTTP, which the postgres stage tests; this is the built service with both.
      {
        name: 'browser-postgres',
        project: 'browser',
        workers: 2,
        args: ['tests/browser/flows/first-start'],
        env: { ...IN_BROWSER, ...ON_POSTGRES },
      },
    ],
  },
  // With more rounds of kill -9 and more made-up files than `npm run test:quick`.
  quick: { runs: [{ name: 'quick', project: 'quick', workers: 3, env: { MAILVET_TEST_ROUNDS: '10' } }] },
  // The store, jobs and HTTP suites and the crashes again, on PostgreSQL.
  postgres: {
    packages: true,
    runs: [
      {
        name: 'postgres',
        project: 'quick',
        workers: 3,
        args: [
          'tests/store',
          'tests/jobs',
          'tests/flows/crash',
          'tests/flows/cli-lists',
          'tests/flows/client-lists',
          ...FLOWS_OF_POSTGRES.filter((path) => !FLOWS_OF_TWO_NODES.includes(path)),
          ...testsIn('tests/http').filter((path) => !WITHOUT_STORE.includes(path)),
        ],
        env: { ...ON_POSTGRES, MAILVET_TEST_ROUNDS: '5' },
      },
      {
        name: 'postgres-nodes',
        project: 'quick',
        workers: 2,
        args: [...FLOWS_OF_TWO_NODES, '--testNamePattern', 'two nodes'],
        env: ON_POSTGRES,
      },
      // Only speed depends on what a node remembers.
      {
        name: 'postgres-no-memory',
        project: 'quick',
        workers: 3,
        args: CHARGING,
        env: { ...ON_POSTGRES, MAILVET_TEST_CHARGE_MEMORY: 'off' },
      },
    ],
  },
  debian: { packages: true, runs: [{ name: 'debian', project: 'debian', workers: 1 }] },
  // The packages from their tarballs, with frameworks, tools and older versions of Node.
  packages: { runs: [{ name: 'packages', project: 'packages', workers: 1 }] },
  // The clients in other languages, on the cases that all of them have in common.
  clients: {
    packages: true,
    runs: [
      {
        name: 'clients-python',
        folder: 'clients/python',
        // Not another Python that comes first on the PATH and lacks Debian's packages.
        junit: (report) => ['/usr/bin/python3', '-m', 'pytest', `--junit-xml=${report}`],
      },
      {
        name: 'clients-php',
        folder: 'clients/php',
        junit: (report) => ['/usr/bin/phpunit', '--log-junit', report],
      },
      {
        name: 'clients-n8n',
        folder: 'clients/n8n',
        junit: (report) => [pinnedPath(), 'test/run.mjs', report],
      },
    ],
  },
  // Checks what compiler and tests report for a new reason, a forgotten table and a changed limit.
  trials: { runs: [{ name: 'trials', project: 'trials', workers: 2 }] },
  // `npm run check`; counts as one test.
  check: { runs: [] },
};

/** @typedef {{ path: string, title: string, message: string }} Failure */

/** Failed and unstable tests of all stages, for the end of the output. */
const notes = [];

/** What tests measured, for the end of the output as well. */
const figures = [];

/** Runs with failed tests, which run once more when all stages are done. */
const again = [];

/** @returns {Promise<{ passed: number, failed: number }>} */
async function runStage(name, stdio) {
  if (name === 'check') {
    const { ok } = await start(pinnedPath(), ['scripts/check.ts'], { stdio });
    if (!ok) notes.push('failed    check: see above');
    return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  }
  const total = { passed: 0, failed: 0 };
  for (const run of STAGES[name].runs) {
    const result = await (run.junit === undefined ? vitest(run, stdio) : junit(run, stdio));
    total.passed += result.passed ?? 0;
    if (result.late !== undefined) {
      total.failed += 1;
      const late = result.late.length > 0 ? result.late.join(', ') : 'no test file; it did not end';
      notes.push(`failed    ${run.name}: ended after ${LIMIT_MINUTES} minutes. Under way: ${late}`);
    } else if (result.failed === undefined) {
      total.failed += 1;
      notes.push(`failed    ${run.name}: no report; see above`);
    } else if (result.failed.length > 0) {
      again.push({ run, failed: result.failed });
      total.failed += result.failed.length;
    } else if (!result.ok) {
      total.failed += 1;
      notes.push(`failed    ${run.name}: ended with an error; see above`);
    }
  }
  return total;
}

/** Processes under way. Each leads a process group, which the signals of a terminal do not reach. */
const started = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    for (const child of started) endGroup(child);
    process.kill(process.pid, signal);
  });

function endGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Runs a command, and ends it with all that it started after LIMIT_MINUTES (`late`). */
function start(command, args, { env = process.env, cwd = ROOT, stdio }) {
  const child = spawn(command, args, { cwd, env, stdio, detached: true });
  started.add(child);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    endGroup(child);
  }, LIMIT_MINUTES * 60_000);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      started.delete(child);
      resolve({ ok: code === 0, late });
    });
  });
}

/**
 * One run: whether all was well, how many tests passed, and the failed tests, which are undefined without a report;
 * `late`: the test files that were under way when it was ended.
 * @returns {Promise<{ ok: boolean, late?: string[], passed?: number, failed?: readonly Failure[] }>}
 */
async function vitest({ name, project, workers, args = [], env = {} }, stdio) {
  const path = join(RESULTS, `${name}.json`);
  const run = join(RESULTS, `${name}.run.json`);
  rmSync(path, { force: true });
  rmSync(run, { force: true });
  const options = ['--project', project, `--maxWorkers=${workers}`];
  const reporters = [
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${path}`,
    '--reporter=./tests/lab/run-reporter.ts',
  ];
  const { ok, late } = await start(
    pinnedPath(),
    ['node_modules/vitest/vitest.mjs', 'run', ...options, ...args, ...reporters],
    { env: { ...process.env, ...env, MAILVET_TEST_RUN: run }, stdio },
  );
  if (late) return { ok, late: JSON.parse(readFileSync(run, 'utf8')).running };
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'));
    const { errors } = JSON.parse(readFileSync(run, 'utf8'));
    const tests = report.testResults.flatMap((file) => file.assertionResults);
    figures.push(...tests.flatMap(({ meta }) => meta?.figure ?? []));
    const failed = [...report.testResults.flatMap(failedTests), ...errors.map(outsideTests)];
    return { ok, passed: report.numPassedTests, failed };
  } catch {
    return { ok: false };
  }
}

/**
 * The same of a run that is not one of vitest.
 * @returns {ReturnType<typeof vitest>}
 */
async function junit({ name, folder, junit: commandOf }, stdio) {
  const report = join(RESULTS, `${name}.xml`);
  rmSync(report, { force: true });
  const [command, ...args] = commandOf(report);
  const { ok, late } = await start(command, args, { cwd: join(ROOT, folder), stdio });
  if (late) return { ok, late: [] };
  try {
    return { ok, ...readJunit(readFileSync(report, 'utf8'), folder) };
  } catch {
    return { ok: false };
  }
}

function failedTests(file) {
  const path = relative(ROOT, file.name);
  const failed = file.assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ path, title: `${path}: ${test.fullName}`, message: firstLine(test.failureMessages[0]) }));
  // A file that fails to load or set up has no failed test.
  if (file.status === 'failed' && failed.length === 0)
    failed.push({ path, title: path, message: firstLine(file.message) });
  return failed;
}

/** Such as a rejection that nothing handled. Vitest names the file that ran at the time, if any did. */
const outsideTests = ({ path, message }) => ({
  path,
  title: `${path ?? 'no test file'}: an error outside tests`,
  message: stripVTControlCharacters(message).replaceAll('\n', '\n          '),
});

const firstLine = (text) => stripVTControlCharacters(text ?? '').split('\n', 1)[0];

/**
 * Files with a failed test run once more, with nothing beside them, and all of a run's files after an error that came
 * from none of them: what then passes is reported as unstable, not as failed. Returns how many are unstable.
 */
async function runAgain({ run, failed }) {
  const files = [...new Set(failed.map(({ path }) => path))];
  const once = files.includes(null) ? {} : { workers: 1, args: files };
  console.log(`\n──── ${run.name}: once more, alone: ${once.args?.join(', ') ?? 'all files'}`);
  const again = { ...run, ...once, name: `${run.name}-again` };
  const second = await (run.junit === undefined ? vitest(again, 'inherit') : junit(again, 'inherit'));
  const still = second.failed ?? failed;
  const unstable = failed.filter((test) => !still.some(({ title }) => title === test.title));
  notes.push(...still.map((test) => `failed    ${run.name}: ${test.title}\n          ${test.message}`));
  notes.push(...unstable.map((test) => `unstable  ${run.name}: ${test.title}\n          ${test.message}`));
  return unstable.length;
}

/** Installs the Debian packages. A reason where their tests cannot run; `leftOut`: which is no failure. */
function withPackages() {
  const missing = missingPackages();
  if (missing.length > 0 && !isDebianRoot()) {
    console.log('Not root on Debian: these packages are not installed, and the tests that need them are skipped:');
    for (const row of missing) console.log(`  ${row.name}: ${row.tests}`);
    return { leftOut: true };
  }
  if (installMissing(missing)) return null;
  console.log('The Debian packages could not be installed; the messages above say why.');
  return { leftOut: false };
}

const { values } = parseArgs({ options: { stage: { type: 'string', multiple: true } } });
const wanted = values.stage ?? Object.keys(STAGES);
const unknown = wanted.filter((name) => !(name in STAGES));
if (unknown.length > 0) {
  console.error(`There is no stage "${unknown[0]}"; the stages are ${Object.keys(STAGES).join(', ')}.`);
  process.exit(2);
}

const total = { passed: 0, failed: 0 };
const lines = [];
const seconds = (began) => `${((Date.now() - began) / 1000).toFixed(1).padStart(7)} s`;
const note = (name, began, what) => lines.push(`${name.padEnd(10)} ${seconds(began)}  ${what}`);

async function stage(name) {
  const began = Date.now();
  const log = join(RESULTS, `${name}.log`);
  const alone = wanted.length === 1;
  if (!alone) console.log(`started    ${name}`);
  const file = alone ? null : openSync(log, 'w');
  const result = await runStage(name, file === null ? 'inherit' : ['ignore', file, file]);
  total.passed += result.passed;
  total.failed += result.failed;
  note(name, began, `${result.passed} passed, ${result.failed} failed`);
  // Whole, so that the outputs of two stages do not mix.
  printing = printing.then(async () => {
    if (file === null) return;
    console.log(`\n════ ${name} (${seconds(began).trim()})`);
    await pipeline(createReadStream(log), process.stdout, { end: false });
  });
}
let printing = Promise.resolve();

const begun = Date.now();
try {
  let began = Date.now();
  ensureInstalled();
  mkdirSync(RESULTS, { recursive: true });
  note('install', began, 'npm packages');
  const need = wanted.filter((name) => STAGES[name].packages);
  began = Date.now();
  const without = need.length > 0 ? withPackages() : null;
  if (need.length > 0) note('packages', began, 'of Debian');
  if (without !== null)
    for (const name of need) {
      if (!without.leftOut) total.failed += 1;
      note(name, Date.now(), without.leftOut ? 'left out' : '0 passed, 1 failed');
    }
  began = Date.now();
  // Once for all stages, which run the built command.
  if (!isBuilt() && !runPinned(['scripts/build.ts'])) throw new Error('npm run build failed; its messages say why.');
  note('build', began, 'dist/, library/dist/ and sdk/dist/');

  const waiting = wanted.filter((name) => without === null || !need.includes(name));
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await stage(name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await printing;
  began = Date.now();
  for (const one of again) {
    const unstable = await runAgain(one);
    total.passed += unstable;
    total.failed -= unstable;
  }
  if (again.length > 0) note('once more', began, 'files with failed tests, alone');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  total.failed += 1;
}
if (notes.length > 0) console.log(`\n${notes.join('\n')}`);
note('all', begun, wanted.length > 1 ? 'two stages at a time' : '');
console.log(`\n${lines.join('\n')}\n`);
if (figures.length > 0) console.log(`${figures.join('\n')}\n`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
