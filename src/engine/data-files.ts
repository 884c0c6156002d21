import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package's data/ is here, relative to src/engine/ and to dist/ (bundles). */
const NEAREST = '../../data/';
const FOLDERS = [NEAREST, '../data/', '../../../data/'];

/** Begins the paths of files that are part of the program. */
const EMBEDDED = 'embedded:';
let embeddedFiles: Readonly<Record<string, string>> | null = null;

/**
 * From now on, the files of `data/` are these texts by name. For the library, whose code may be bundled into a program
 * that is installed without its packages.
 */
export function embedData(files: Readonly<Record<string, string>>): void {
  embeddedFiles = files;
}

/**
 * Path of a file in the package's `data/` folder, whether the program runs from sources or from a bundle. For a missing
 * file it is the first candidate, so that opening it fails with a path in the error.
 */
export function dataFile(name: string): string {
  if (embeddedFiles !== null) return `${EMBEDDED}/${name}`;
  const inFolder = (folder: string): string => fileURLToPath(new URL(folder + name, import.meta.url));
  return FOLDERS.map(inFolder).find((path) => existsSync(path)) ?? inFolder(NEAREST);
}

/** The text of a file at a path that `dataFile` gave, or at any other. */
export function readData(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  if (embeddedFiles === null || !path.startsWith(EMBEDDED)) return readFileSync(path, encoding);
  const text = embeddedFiles[basename(path)];
  if (text === undefined) throw new Error(`${basename(path)} is not part of this build`);
  return text;
}
