// `npm test`: installs what the tests need and runs all of them, in stages. Runs on Node 20 without packages.
// `--stage quick` (also check, trials, debian, postgres, browser) runs one stage.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
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

/** Runs vitest with its own report on the terminal; the counts come from its JSON. No JSON is a failure. */
function vitest(name, args, extra = {}) {
  const file = join(RESULTS, `${name}.json`);
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const ok = runPinned(['node_modules/vitest/vitest.mjs', 'run', ...args, ...reporters], { ...process.env, ...extra });
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    // A file that fails to load or set up has no failed test; an unhandled error has no file.
    const broken = report.testResults.filter(
      (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    ).length;
    const failed = report.numFailedTests + broken;
    return { passed: report.numPassedTests, failed: failed === 0 && !ok ? 1 : failed };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

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
console.log(`\n${lines.join('\n')}\n`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
