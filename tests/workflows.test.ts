/** The workflows of GitHub Actions: what they run exists, and they get no more rights than they use. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../scripts/fresh.mjs';

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Workflow {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, { readonly 'timeout-minutes'?: number; readonly steps: readonly Step[] }>>;
}

const FOLDER = join(ROOT, '.github/workflows');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

describe.each(readdirSync(FOLDER))('%s', (name) => {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  const workflow: Workflow = parse(text);
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  it('runs scripts and builds files that there are', () => {
    const named = steps.flatMap(({ run = '' }) => [...run.matchAll(/npm (?:run )?(test|release|check|build)\b/g)]);
    expect(named.map(([, script = '']) => script).filter((script) => !Object.hasOwn(scripts, script))).toEqual([]);
    const files = steps.flatMap((step) => (typeof step.with?.file === 'string' ? [step.with.file] : []));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
  });

  it('reads by default, ends in time, and leaves no token to what it checks out', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(workflow.jobs)) expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
    for (const step of steps)
      if (step.uses?.startsWith('actions/checkout@')) expect(step.with).toMatchObject({ 'persist-credentials': false });
    // It would run the code of a pull request with the secrets of the repository.
    expect(text).not.toContain('pull_request_target');
    // Names that others choose, such as of branches, are variables of a shell and no part of its text.
    for (const { run = '' } of steps) expect(run).not.toMatch(/\$\{\{/);
  });
});
