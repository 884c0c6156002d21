// The Debian packages that tests need. Plain JavaScript for Node 20 without packages.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

export const PACKAGES = [{ name: 'postgresql', tests: 'the store and HTTP suites on PostgreSQL' }];

/** The rows that are not installed; all of them where there is no dpkg. */
export function missingPackages() {
  return PACKAGES.filter(({ name }) => {
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
  const names = missing.map((row) => row.name);
  console.log(`Installing Debian packages: ${names.join(' ')} …`);
  const POLICY = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return attempt(names) || attempt(names);
  } finally {
    if (ours) rmSync(POLICY);
  }
}

function attempt(names) {
  const quiet = ['-q', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300'];
  return [
    [...quiet, 'update'],
    [...quiet, 'install', '-y', '--no-install-recommends', ...names],
  ].every((args) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return spawnSync('apt-get', args, { env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
  });
}
