import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../scripts/fresh.mjs';
import { COSTS } from '../src/kernel/costs.ts';

const filesOf = (folder: string): string[] => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });

const page = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8');

/** The rows of the table under a heading, each as its cells. */
function tableUnder(heading: string): string[][] {
  const [, section = ''] = page.split(`### ${heading}\n`);
  const lines = section.split(/^##/m, 1)[0]?.split('\n') ?? [];
  const [, , ...rows] = lines.filter((line) => line.startsWith('|'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

it('the threat model names tests that exist', () => {
  const named = [...page.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(50);
  // Where a cell names several files of a folder, the later ones stand without it.
  const names = new Set([...filesOf('tests'), ...filesOf('src')].map((path) => basename(path)));
  const missing = named.filter((name) => (name.includes('/') ? !existsSync(join(ROOT, name)) : !names.has(name)));
  expect(missing).toEqual([]);
});

it.each([
  'What a request may cost after it has arrived',
  'What is concluded for all',
])('each row of the table "%s" says what, by which bound, and names its test', (heading) => {
  const rows = tableUnder(heading);
  expect(rows.length).toBeGreaterThan(0);
  for (const [what = '', bound = '', test = '', ...more] of rows) {
    expect(more).toEqual([]);
    expect(what).not.toBe('');
    expect(bound).not.toBe('');
    expect(test).toMatch(/`[\w./-]+\.test\.ts`/);
  }
  expect(new Set(rows.map(([what]) => what)).size).toBe(rows.length);
});

it('each row of the table of costs is in the threat model, with its numbers', () => {
  const rows = new Map(
    tableUnder('What a request may cost after it has arrived').map(([what, bound]) => [what, bound]),
  );
  for (const [name, cost] of Object.entries(COSTS)) {
    const bound = rows.get(`\`${name}\``);
    const numbers =
      cost.kind === 'turn'
        ? `${cost.atOnce} at once in a process`
        : `${cost.perAccount} of an account, ${cost.atOnce} of a process; ${cost.pace.bytes / 1024} KiB in ${cost.pace.seconds} s`;
    expect(bound, name).toContain(numbers);
    if ('forFirst' in cost) expect(bound, name).toContain(`; ${cost.forFirst} more for accounts that have none`);
  }
  const named = [...rows.keys()].filter((what) => what?.startsWith('`'));
  expect(named).toEqual(Object.keys(COSTS).map((name) => `\`${name}\``));
});
