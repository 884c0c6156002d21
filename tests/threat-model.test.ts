import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../scripts/fresh.mjs';

const filesOf = (folder: string): string[] => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });

it('the threat model names tests that exist', () => {
  const page = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8');
  const named = [...page.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(50);
  // Where a cell names several files of a folder, the later ones stand without it.
  const names = new Set([...filesOf('tests'), ...filesOf('src')].map((path) => basename(path)));
  const missing = named.filter((name) => (name.includes('/') ? !existsSync(join(ROOT, name)) : !names.has(name)));
  expect(missing).toEqual([]);
});
