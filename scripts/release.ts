/**
 * `npm run release -- --dry-run`: everything of a release but publishing, in release/ (or `--out FOLDER`): the
 * tarballs, the notes from CHANGELOG.md, the software bill of materials and SHA-256 checksums. Without `--dry-run` the
 * working tree has to be committed and the changelog has to have a dated section. It publishes nothing: it prints the
 * commands that do.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isBuilt, ROOT } from './fresh.mjs';
import { n8nSbom, phpSbom, pythonSbom, pythonVersion, pythonWithHatchling } from './release/clients.ts';
import { releaseNotes, releaseProblems } from './release/notes.ts';
import { N8N, PUBLISHED, REPOSITORY } from './release/project.ts';

/** The client in Python, which hatchling builds. */
const PYTHON = 'clients/python';
const PHP = 'clients/php';
const MANIFESTS = [
  'package.json',
  'library/package.json',
  'sdk/package.json',
  'web/package.json',
  `${N8N}/package.json`,
];

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false }, out: { type: 'string' } } });
const dryRun = values['dry-run'];
const out = resolve(values.out ?? join(ROOT, 'release'));

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const run = (command: string, ...args: string[]): string => runIn(ROOT, command, ...args);
const runIn = (cwd: string, command: string, ...args: string[]): string =>
  execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const versions: Record<string, string | undefined> = {};
for (const path of MANIFESTS) versions[path] = JSON.parse(read(path)).version;
const lock = JSON.parse(read('package-lock.json'));
for (const path of ['', 'sdk', 'web']) versions[`package-lock.json, "${path}"`] = lock.packages[path].version;
const pyproject = read(`${PYTHON}/pyproject.toml`);
versions[`${PYTHON}/pyproject.toml`] = pythonVersion(pyproject);
const version = JSON.parse(read('package.json')).version as string;
const changelog = read('CHANGELOG.md');

const problems = releaseProblems({ versions, changelog, repository: REPOSITORY, dryRun });
if (!dryRun && run('git', 'status', '--porcelain') !== '') problems.push('There are changes that are not committed.');
const python = pythonWithHatchling();
if (python === null)
  problems.push('No python3 has the module hatchling: apt-get install python3-hatchling, or pip install hatchling.');
if (problems.length > 0 || python === null) {
  console.error(problems.join('\n'));
  process.exit(1);
}

if (!isBuilt()) execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: 'inherit' });
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
// Built above, once for all.
for (const folder of PUBLISHED) run('npm', 'pack', `./${folder}`, '--ignore-scripts', '--pack-destination', out);
packNodes();
execFileSync(python, ['-m', 'hatchling', 'build', '-d', out], {
  cwd: join(ROOT, PYTHON),
  stdio: ['ignore', 'ignore', 'inherit'],
});
// Composer takes the version from the tag.
const php = `mailvet-php-${version}`;
const below = ['--transform', `s,^,${php}/,`, '-C', join(ROOT, PHP)];
run('tar', '-czf', join(out, `${php}.tar.gz`), ...below, 'LICENSE', 'README.md', 'composer.json', 'src');
writeFileSync(join(out, 'NOTES.md'), `# Mailvet ${version}\n\n${releaseNotes(changelog, version, dryRun)}\n`);
writeFileSync(join(out, 'sbom.cdx.json'), run('npm', 'run', '--silent', 'sbom'));
writeFileSync(join(out, 'sbom-python.cdx.json'), `${JSON.stringify(pythonSbom(pyproject), null, 2)}\n`);
writeFileSync(join(out, 'sbom-php.cdx.json'), `${JSON.stringify(phpSbom(version), null, 2)}\n`);
writeFileSync(join(out, 'sbom-n8n.cdx.json'), `${JSON.stringify(n8nSbom(version), null, 2)}\n`);
const sums = readdirSync(out)
  .sort()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex')}  ${name}`,
  );
writeFileSync(join(out, 'SHA256SUMS'), `${sums.join('\n')}\n`);

console.log(`Mailvet ${version} in ${out}:\n${sums.join('\n')}`);
const tarballs = readdirSync(out).filter((name) => name.endsWith('.tgz'));
if (dryRun) console.log('\nThis was a dry run. The commands of a release would be:');
else console.log('\nNothing is published yet. The commands are:');
console.log(`git tag -a v${version} -F ${join(out, 'NOTES.md')} && git push origin v${version}`);
const distributions = readdirSync(out).filter((name) => /\.(whl|tar\.gz)$/.test(name) && !name.startsWith(php));
console.log(`python3 -m twine upload ${distributions.map((name) => join(out, name)).join(' ')}`);
console.log(`git push ${REPOSITORY}-php.git "$(git subtree split -q --prefix ${PHP})":refs/tags/v${version}`);
for (const name of tarballs) console.log(`npm publish ${join(out, name)} --access public --provenance`);

/** The nodes for n8n have packages of their own: they are built in a copy, so that a run of their tests goes on. */
function packNodes(): void {
  const copy = mkdtempSync(join(tmpdir(), 'mailvet-n8n-'));
  try {
    const isSource = (path: string) => !['node_modules', 'dist'].includes(basename(path));
    cpSync(join(ROOT, N8N), copy, { recursive: true, filter: isSource });
    runIn(copy, 'npm', 'ci', '--ignore-scripts');
    runIn(copy, 'npm', 'run', 'build');
    runIn(copy, 'npm', 'pack', '--ignore-scripts', '--pack-destination', out);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
