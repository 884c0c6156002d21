import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** From src/engine/ and from dist/ (where the bundles lie) to the package's data/. */
const FOLDERS = ['../../data/', '../data/', '../../../data/'];

/**
 * Path of a file of the package's `data/` folder, whether the program runs from its sources or from a bundle.
 * A file that is nowhere gives the first place looked at, so that opening it names the path in the error.
 */
export function dataFile(name: string): string {
  const places = FOLDERS.map((folder) => fileURLToPath(new URL(folder + name, import.meta.url)));
  return places.find((place) => existsSync(place)) ?? places[0]!;
}
