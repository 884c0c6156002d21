import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { texts } from './web/lingui.ts';

// Threads and processes of the sources start in half the time.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('.cache/compiled', import.meta.url));

/** Threads of stores, which the tests start by the thousand, read one file of Kysely instead of 255. */
const ONE_KYSELY = { NODE_OPTIONS: `--import ${new URL('tests/lab/one-kysely.mjs', import.meta.url)}` };

const DEBIAN = 'tests/debian/**/*.test.ts';
const BROWSER = 'tests/browser/**/*.test.ts';
const TRIALS = 'tests/trials/*.test.ts';
const PACKAGES = 'tests/packages/*.test.ts';

export default defineConfig({
  // For tests of the dashboard's modules.
  plugins: [texts()],
  test: {
    pool: 'forks',
    globalSetup: 'tests/lab/built.ts',
    // More than cores, because tests wait for about a third of their time.
    maxWorkers: 3,
    // Against hangs only: on a busy machine everything takes longer.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          // Files share processes: importing the service costs more CPU time than most files' tests.
          isolate: false,
          include: ['{src,tests,scripts,bench}/**/*.test.ts', 'web/src/**/*.test.ts'],
          exclude: [DEBIAN, BROWSER, TRIALS, PACKAGES, '**/node_modules/**'],
          // A database to copy, and the server of MAILVET_TEST_STORE=postgres.
          globalSetup: ['tests/lab/stores-setup.ts'],
          env: ONE_KYSELY,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: [BROWSER],
          env: ONE_KYSELY,
          globalSetup: ['tests/lab/stores-setup.ts'],
          // One goes through every page at three widths.
          testTimeout: 1_800_000,
        },
      },
      {
        extends: true,
        // Each compiles a copy of the sources several times.
        test: { name: 'trials', include: [TRIALS], testTimeout: 600_000 },
      },
      {
        extends: true,
        test: {
          name: 'packages',
          include: [PACKAGES],
          globalSetup: ['tests/lab/stores-setup.ts', 'tests/packages/setup.ts'],
          // npm installs, compilers and bundlers.
          testTimeout: 600_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        // Clean clones, npm installs, real servers: minutes, one after the other.
        test: { name: 'debian', include: [DEBIAN], testTimeout: 600_000, hookTimeout: 600_000, fileParallelism: false },
      },
    ],
  },
});
