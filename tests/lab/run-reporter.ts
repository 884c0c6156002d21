import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { env } from 'node:process';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

type UnhandledError = Parameters<NonNullable<Reporter['onTestRunEnd']>>[1][number];

/**
 * Writes what vitest's JSON report does not have to the file that MAILVET_TEST_RUN names: `running`, the test files
 * that are under way, so that scripts/test.mjs can say which of them hung, and `errors`, those outside of tests, such
 * as rejections that nothing handled, with the file that ran at the time.
 */
export default class RunReporter implements Reporter {
  #root = '';
  readonly #running = new Set<string>();

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root;
  }

  onTestRunStart(): void {
    this.#write([]);
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(module.relativeModuleId);
    this.#write([]);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.relativeModuleId);
    this.#write([]);
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly UnhandledError[]): void {
    this.#write(errors);
  }

  #write(errors: readonly UnhandledError[]): void {
    const run = {
      running: [...this.#running],
      errors: errors.map((error) => ({
        path: error['VITEST_TEST_PATH'] === undefined ? null : relative(this.#root, String(error['VITEST_TEST_PATH'])),
        message: textOf(error),
      })),
    };
    if (env.MAILVET_TEST_RUN !== undefined) writeFileSync(env.MAILVET_TEST_RUN, JSON.stringify(run));
  }
}

function textOf({ stack, message, cause }: UnhandledError): string {
  const lines = (stack ?? message).split('\n').filter((line) => !line.includes('/node_modules/vitest/'));
  return cause === undefined ? lines.join('\n') : `${lines.join('\n')}\nCaused by: ${textOf(cause)}`;
}
