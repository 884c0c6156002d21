/** Workflows of GitHub Actions, ours and that of docs/testing.md, by actionlint. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { samplesOf } from '../lab/samples.ts';
import { CONSUMER, run } from './packed.ts';

const FOLDER = join(ROOT, '.github/workflows');
const WORKFLOWS: readonly (readonly [name: string, text: string])[] = [
  ...readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const),
  ['docs/testing.md', samplesOf('docs/testing.md').find(({ language }) => language === 'yaml')?.code ?? ''],
];

/** Runners that this version of actionlint does not know yet. */
const NEWER_RUNNER = /^label "ubuntu-24\.04" is unknown/;

/** What actionlint says of a workflow, as `line: message`. */
async function faultsOf(name: string, text: string): Promise<string[]> {
  const actionlint = createRequire(join(CONSUMER, 'package.json')).resolve('actionlint');
  const program = `require(${JSON.stringify(actionlint)}).createLinter().then((lint) =>
    console.log(JSON.stringify(lint(${JSON.stringify(text)}, ${JSON.stringify(name)}))))`;
  const { code, stdout, stderr } = await run(CONSUMER, process.execPath, ['-e', program]);
  expect([code, stderr]).toEqual([0, '']);
  const found: readonly { readonly line: number; readonly message: string }[] = JSON.parse(stdout);
  return found.filter(({ message }) => !NEWER_RUNNER.test(message)).map(({ line, message }) => `${line}: ${message}`);
}

it.each(WORKFLOWS)('%s has no faults', async (name, text) => {
  expect(await faultsOf(name, text)).toEqual([]);
});

it('one with a title of others in its shell has', async () => {
  const [[name = '', text = ''] = []] = WORKFLOWS;
  const title = ['$', '{{ github.event.pull_request.title }}'].join('');
  const wrong = text.replace('run: npm test', () => `run: echo ${title}`);
  expect(await faultsOf(name, wrong)).toEqual([expect.stringContaining('potentially untrusted')]);
});
