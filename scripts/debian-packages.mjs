// The Debian packages that tests need. Plain JavaScript for Node 20 without packages.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './fresh.mjs';

const BROWSER = 'the dashboard in a browser';
export const LABORATORY = 'the laboratory of real mail servers';

/** `unpack`: packages that exclude one another; these are not installed, only unpacked into a folder of ours. */
export const PACKAGES = [
  { name: 'postgresql', tests: 'the store and HTTP suites on PostgreSQL' },
  // The fonts so that the pictures have letters.
  ...['chromium', 'fonts-dejavu-core'].map((name) => ({ name, tests: BROWSER })),
  ...['nsd', 'unbound', 'postfix', 'postgrey', 'util-linux'].map((name) => ({ name, tests: LABORATORY })),
  { name: 'exim4-daemon-light', unpack: true, tests: LABORATORY },
  { name: 'opensmtpd', unpack: true, tests: LABORATORY },
  // Libraries of those two.
  ...['libevent-2.1-7', 'libgnutls-dane0', 'libidn12', 'libnsl2'].map((name) => ({ name, tests: LABORATORY })),
];

/** Where packages are unpacked: a folder for each, by its name. */
export const UNPACKED = join(ROOT, '.cache/debian');

/** The rows that are not installed; all of them where there is no dpkg. */
export function missingPackages() {
  return PACKAGES.filter(({ name, unpack }) => {
    if (unpack) return !existsSync(join(UNPACKED, name));
    const query = spawnSync('dpkg-query', ['-W', '-f', `\${db:Status-Status}`, name], { encoding: 'utf8' });
    return query.stdout?.trim() !== 'installed';
  });
}

export function isDebianRoot() {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return process.getuid?.() === 0 && /^ID(_LIKE)?=.*\bdebian\b/m.test(release);
}

/** Installs without a question and without starting any service; one more try for a mirror in trouble. */
export function installMissing(missing) {
  if (missing.length === 0) return true;
  console.log(`Installing Debian packages: ${missing.map((row) => row.name).join(' ')} …`);
  const POLICY = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return attempt(missing) || attempt(missing);
  } finally {
    if (ours) rmSync(POLICY);
  }
}

function attempt(missing) {
  const quiet = ['-q', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300'];
  const names = missing.filter((row) => !row.unpack).map((row) => row.name);
  return (
    run('apt-get', [...quiet, 'update']) &&
    (names.length === 0 || run('apt-get', [...quiet, 'install', '-y', '--no-install-recommends', ...names])) &&
    missing.filter((row) => row.unpack).every((row) => unpack(row.name))
  );
}

/** Fetches a package and unpacks its files without installing it: no script of it runs. */
function unpack(name) {
  const fresh = join(UNPACKED, `.${name}`);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  // apt fetches as a user of its own where it can, and that one may not write here.
  if (!run('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', 'download', name], fresh)) return false;
  const archive = readdirSync(fresh).find((file) => file.endsWith('.deb'));
  if (!archive || !run('dpkg-deb', ['-x', archive, '.'], fresh)) return false;
  renameSync(fresh, join(UNPACKED, name));
  return true;
}

function run(command, args, cwd = ROOT) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}
