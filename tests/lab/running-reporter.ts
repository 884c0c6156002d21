import { writeFileSync } from 'node:fs';
import { env } from 'node:process';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Writes the test files that are under way to the file that MAILVET_TEST_RUNNING names, so that scripts/test.mjs can
 * say which of them hung.
 */
export default class RunningReporter implements Reporter {
  readonly #running = new Set<string>();

  onTestRunStart(): void {
    this.#write();
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(module.relativeModuleId);
    this.#write();
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module.relativeModuleId);
    this.#write();
  }

  #write(): void {
    const path = env.MAILVET_TEST_RUNNING;
    if (path !== undefined) writeFileSync(path, JSON.stringify([...this.#running]));
  }
}
