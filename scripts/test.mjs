// `npm test`: installs what the tests need and runs all of them, in stages. Runs on Node 20 without packages.
// `--stage quick` (also check, trials, debian, postgres, browser) runs one stage.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { installMissing, isDebianRoot, missingPackages } from './debian-packages.mjs';
import { ensureInstalled, ROOT, runPinned } from './fresh.mjs';

const RESULTS = join(ROOT, '.cache/test');

const STAGES = {
  // Counts as one test; its parts are printed above.
  check: () => (runPinned(['scripts/check.ts']) ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }),
  // With all rounds of kill -9; `npm run test:quick` runs a few.
  quick: () => vitest('quick', ['--project', 'quick'], { MAILVET_TEST_ROUNDS: '30' }),
  // Checks what compiler and tests report for a new reason, a forgotten table and a changed limit.
  trials: () => vitest('trials', ['--project', 'trials']),
  debian: () => withPackages(() => vitest('debian', ['--project', 'debian'])),
  // The store, jobs and HTTP suites and the crashes again, on PostgreSQL.
  postgres: () =>
    withPackages(() =>
      vitest('postgres', ['--project', 'quick', 'tests/store', 'tests/jobs', 'tests/http', 'tests/flows/crash'], {
        MAILVET_TEST_ROUNDS: '10',
        MAILVET_TEST_STORE: 'postgres',
        MAILVET_TEST_POSTGRES: 'required',
      }),
    ),
  // All browser tests, then the flows again on PostgreSQL.
  browser: () =>
    withPackages(() => {
      const required = { MAILVET_TEST_BROWSER: 'required' };
      const other = { MAILVET_TEST_STORE: 'postgres', MAILVET_TEST_POSTGRES: 'required' };
      return sum(
        vitest('browser', ['--project', 'browser'], required),
        vitest('browser-postgres', ['--project', 'browser', 'tests/browser/flows'], { ...required, ...other }),
      );
    }),
};

const sum = (...results) => ({
  passed: results.reduce((all, { passed }) => all + passed, 0),
  failed: results.reduce((all, { failed }) => all + failed, 0),
});

/**
 * Runs vitest; the counts come from its JSON report, and no report is a failure. Files with a failed test run once more,
 * one at a time: a test that fails only beside others is reported as unstable, not as failed.
 */
function vitest(name, args, extra = {}) {
  const first = runVitest(name, args, extra);
  if (first === null) return { passed: 0, failed: 1 };
  const files = first.files.filter((file) => file.failed.length > 0).map((file) => file.path);
  if (files.length === 0) {
    if (!first.ok) notes.push(`failed    ${name}: an error outside tests; see above`);
    return { passed: first.passed, failed: first.ok ? 0 : 1 };
  }
  console.log(`\n──── ${name}: once more, alone: ${files.join(', ')}`);
  const project = args.slice(0, 2);
  const again = runVitest(`${name}-again`, [...project, '--maxWorkers=1', ...files], extra);
  const failed =
    again === null ? first.files.flatMap((file) => file.failed) : again.files.flatMap((file) => file.failed);
  const failedBefore = first.files.flatMap((file) => file.failed);
  const unstable = failedBefore.filter((test) => !failed.some(({ title }) => title === test.title));
  notes.push(...failed.map((test) => `failed    ${name}: ${test.title}\n          ${test.message}`));
  notes.push(...unstable.map((test) => `unstable  ${name}: ${test.title}\n          ${test.message}`));
  return { passed: first.passed + unstable.length, failed: Math.max(failed.length, again === null ? 1 : 0) };
}

/** Failed and unstable tests of all stages, for the end of the output. */
const notes = [];

/** One run: whether all was well, how many tests passed, and the failed tests by file; null without a report. */
function runVitest(name, args, extra) {
  const path = join(RESULTS, `${name}.json`);
  rmSync(path, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`];
  const ok = runPinned(['node_modules/vitest/vitest.mjs', 'run', ...args, ...reporters], { ...process.env, ...extra });
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'));
    return { ok, passed: report.numPassedTests, files: report.testResults.map(fileResult) };
  } catch {
    return null;
  }
}

function fileResult(file) {
  const path = relative(ROOT, file.name);
  const failed = file.assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ title: `${path}: ${test.fullName}`, message: firstLine(test.failureMessages[0]) }));
  // A file that fails to load or set up has no failed test.
  if (file.status === 'failed' && failed.length === 0) failed.push({ title: path, message: firstLine(file.message) });
  return { path, failed };
}

const firstLine = (text) => stripVTControlCharacters(text ?? '').split('\n', 1)[0];

/** Installs the Debian packages; if that is impossible, prints which tests are skipped. */
function withPackages(run) {
  const missing = missingPackages();
  if (missing.length > 0 && !isDebianRoot()) {
    console.log('Not root on Debian: these packages are not installed, and the tests that need them are skipped:');
    for (const row of missing) console.log(`  ${row.name}: ${row.tests}`);
    return { passed: 0, failed: 0, note: 'left out' };
  }
  if (!installMissing(missing)) {
    console.log('The Debian packages could not be installed; the messages above say why.');
    return { passed: 0, failed: 1 };
  }
  return run();
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
let began = Date.now();
const note = (name, what) => {
  lines.push(`${name.padEnd(10)} ${((Date.now() - began) / 1000).toFixed(1).padStart(7)} s  ${what}`);
  began = Date.now();
};
try {
  ensureInstalled();
  mkdirSync(RESULTS, { recursive: true });
  note('install', 'npm packages');
  for (const name of wanted) {
    console.log(`\n════ ${name}`);
    const result = STAGES[name]();
    total.passed += result.passed;
    total.failed += result.failed;
    note(name, result.note ?? `${result.passed} passed, ${result.failed} failed`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  total.failed += 1;
}
if (notes.length > 0) console.log(`\n${notes.join('\n')}`);
console.log(`\n${lines.join('\n')}\n`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
