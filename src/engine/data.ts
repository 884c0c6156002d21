import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The package's data/, relative to src/engine/ and to dist/ (bundles). */
const NEAREST = '../../data/';
const FOLDERS = [NEAREST, '../data/', '../../../data/'];

/**
 * Path of a file in the package's `data/` folder, whether the program runs from sources or from a bundle. For a missing
 * file it is the first candidate, so that opening it fails with a path in the error.
 */
export function dataFile(name: string): string {
  const inFolder = (folder: string): string => fileURLToPath(new URL(folder + name, import.meta.url));
  return FOLDERS.map(inFolder).find((path) => existsSync(path)) ?? inFolder(NEAREST);
}
