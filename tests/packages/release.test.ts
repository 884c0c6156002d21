import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { pythonWithHatchling } from '../../scripts/release/clients.ts';

const canBuild = pythonWithHatchling() !== null;
if (!canBuild) console.warn('LEFT OUT: the files of a release, as no python3 has the module "hatchling".');

it.skipIf(!canBuild)('`npm run release -- --dry-run` makes the files of a release', () => {
  const out = mkdtempSync(join(tmpdir(), 'mailvet-release-'));
  try {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const args = ['run', 'release', '--', '--dry-run', '--out', out];
    const printed = execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
    expect(printed).toContain('This was a dry run.');
    const tarballs = ['mailvet', 'mailvet-client', 'mailvet-engine', 'n8n-nodes-mailvet'].map(
      (name) => `${name}-${version}.tgz`,
    );
    const python = [`mailvet-${version}-py3-none-any.whl`, `mailvet-${version}.tar.gz`];
    const php = `mailvet-php-${version}.tar.gz`;
    const boms = ['sbom.cdx.json', 'sbom-python.cdx.json', 'sbom-php.cdx.json', 'sbom-n8n.cdx.json'];
    const names = ['NOTES.md', 'SHA256SUMS', ...tarballs, ...python, php, ...boms];
    expect(readdirSync(out).sort()).toEqual(names.sort());
    // Exits with 1 where a sum does not fit.
    expect(
      execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' }).match(/: OK$/gm),
    ).toHaveLength(names.length - 1);
    expect(JSON.parse(readFileSync(join(out, 'sbom.cdx.json'), 'utf8'))).toMatchObject({ bomFormat: 'CycloneDX' });
    const dependencies = JSON.parse(readFileSync(join(out, 'sbom-python.cdx.json'), 'utf8')).components;
    expect(dependencies.map(({ purl }: { purl: string }) => purl)).toContain('pkg:pypi/httpx');
    expect(readFileSync(join(out, 'NOTES.md'), 'utf8')).toMatch(/^# Mailvet \d+\.\d+\.\d+\n\n### /);
    for (const name of tarballs) {
      const published = execFileSync('npm', ['publish', `./${name}`, '--dry-run', '--access', 'public', '--json'], {
        cwd: out,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      expect(published).toContain(version);
    }
    const manifest = execFileSync('tar', ['-xOf', join(out, tarballs[2]!), 'package/package.json'], {
      encoding: 'utf8',
    });
    expect(JSON.parse(manifest)).toMatchObject({ name: '@mailvet/engine', version });
    const nodes = execFileSync('tar', ['-tf', join(out, tarballs[3]!)], { encoding: 'utf8' });
    for (const name of ['credentials/MailvetApi.credentials.js', 'nodes/Mailvet/Mailvet.node.js', 'icons/mailvet.svg'])
      expect(nodes).toContain(`package/dist/${name}\n`);
    const sources = execFileSync('tar', ['-tf', join(out, python[1]!)], { encoding: 'utf8' });
    for (const name of ['src/mailvet/py.typed', 'src/mailvet/models.py', 'README.md', 'LICENSE'])
      expect(sources).toContain(`mailvet-${version}/${name}\n`);
    const composer = ['-xOf', join(out, php), `mailvet-php-${version}/composer.json`];
    expect(JSON.parse(execFileSync('tar', composer, { encoding: 'utf8' }))).toMatchObject({ name: 'mailvet/mailvet' });
  } finally {
    rmSync(out, { recursive: true });
  }
});
