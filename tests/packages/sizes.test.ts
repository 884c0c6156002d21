/** The sizes that the pages name, within a tenth: what the packages unpack to, the Node beside them, a clone. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { tarball } from './packed.ts';

/** Of the files in a tarball, in bytes. */
const unpacked = (file: string): number =>
  execFileSync('tar', ['-tvzf', file], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[2]), 0);

const installed = (folder: string): number =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

const packages = (): number => {
  const { packages: locked } = JSON.parse(readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8'));
  return Object.keys(locked).length;
};

const MB = 1e6;
it.each([
  ['README.md', /one package of (\d+) MB beside Node/, () => unpacked(tarball('mailvet')) / MB],
  ['docs/install.md', /1 package of (\d+) MB, and \d+ MB of Node/, () => unpacked(tarball('mailvet')) / MB],
  ['docs/install.md', /and (\d+) MB of Node/, () => installed(`node_modules/node-linux-${process.arch}`) / MB],
  ['docs/library.md', /takes (\d+) MB; the lists are included/, () => unpacked(tarball('@mailvet/engine')) / MB],
  ['README.md', /some (\d+) packages of \d+ MB/, packages],
  ['docs/install.md', /\| (\d+) packages, \d+ MB \|/, packages],
  ['README.md', /some \d+ packages of (\d+) MB/, () => installed('node_modules') / MB],
  ['docs/install.md', /\| \d+ packages, (\d+) MB \|/, () => installed('node_modules') / MB],
])('%s: %s', (page, sentence, measure) => {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/\s+/g, ' ');
  const [, named] = sentence.exec(text) ?? [];
  const measured = measure();
  expect(Number(named), `${page} should say ${measured}`).toBeGreaterThan(measured * 0.9);
  expect(Number(named), `${page} should say ${measured}`).toBeLessThan(measured * 1.1);
});
