// The Debian packages that tests need. Plain JavaScript for Node 20 without packages.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './fresh.mjs';

const BROWSER = 'the dashboard in a browser';
const CLIENTS = 'the clients in other languages';
export const LABORATORY = 'the laboratory of real mail servers';

/** `unpack`: conflicting packages, which are only unpacked into a folder of ours, not installed. */
export const PACKAGES = [
  { name: 'postgresql', tests: 'the store and HTTP suites on PostgreSQL' },
  { name: 'faketime', tests: 'clocks that are wrong' },
  // Fonts for the screenshots.
  ...['chromium-headless-shell', 'fonts-dejavu-core'].map((name) => ({ name, tests: BROWSER })),
  ...['nsd', 'unbound', 'postfix', 'postgrey', 'util-linux'].map((name) => ({ name, tests: LABORATORY })),
  { name: 'mmdebstrap', tests: 'the container images' },
  ...['dbus', 'procps'].map((name) => ({ name, tests: 'the service unit' })),
  ...['iproute2', 'openssl'].map((name) => ({ name, tests: 'a relay on a host of its own' })),
  ...['python3', 'python3-venv', 'python3-pip', 'python3-hatchling', 'python3-httpx', 'python3-trio'].map((name) => ({
    name,
    tests: CLIENTS,
  })),
  ...['python3-pytest', 'mypy', 'python3-django', 'python3-flaskext.wtf', 'python3-pydantic'].map((name) => ({
    name,
    tests: CLIENTS,
  })),
  ...['php-cli', 'php-curl', 'php-intl', 'php-mbstring', 'php-xml', 'composer', 'phpunit', 'php-codesniffer'].map(
    (name) => ({
      name,
      tests: CLIENTS,
    }),
  ),
  ...['php-nyholm-psr7', 'php-symfony-http-client', 'php-symfony-http-foundation', 'php-symfony-validator'].map(
    (name) => ({
      name,
      tests: CLIENTS,
    }),
  ),
  ...['php-psr-http-client', 'php-psr-simple-cache', 'php-illuminate-validation'].map((name) => ({
    name,
    tests: CLIENTS,
  })),
  { name: 'nginx', unpack: true, tests: 'the files for deployment' },
  { name: 'caddy', unpack: true, tests: 'the files for deployment' },
  { name: 'prometheus', unpack: true, tests: 'the files for deployment' },
  { name: 'exim4-daemon-light', unpack: true, tests: LABORATORY },
  { name: 'opensmtpd', unpack: true, tests: LABORATORY },
  // Libraries for the previous two.
  ...['libevent-2.1-7', 'libgnutls-dane0', 'libidn12', 'libnsl2'].map((name) => ({ name, tests: LABORATORY })),
];

/** Contains a folder for each unpacked package, by name. */
export const UNPACKED = join(ROOT, '.cache/debian');

/** The rows that are not installed; all rows if there is no dpkg. */
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

/** Installs non-interactively without starting any service; retries once if the mirror fails. */
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

/** Downloads and unpacks a package without installing it: none of its scripts run. */
function unpack(name) {
  const fresh = join(UNPACKED, `.${name}`);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  // apt downloads as its own user if possible, which may not write here.
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
