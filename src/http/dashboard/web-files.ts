import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import { type Language, SOURCE_LANGUAGE } from '../../kernel/facts/languages.ts';
import { type Coding, type SharedBytes, sharedBytes } from '../shared-bytes.ts';

/** One file of `assets/`, in the coding that is sent. */
interface Asset extends SharedBytes {
  readonly type: string;
  /** Its name holds a hash of its contents: it never changes. */
  readonly hashed: boolean;
}

/** `npm run build` makes them of web/. */
export interface WebFiles {
  /** The HTML page in a language, with `__CSP_NONCE__` placeholders; null if it was not built. */
  index(language: Language): Promise<string | null>;
  /** Path of the script that renders first views; null if it was not built. */
  firstViewScript(): string | null;
  /** Null if there is no such file, or its type is not one that the page uses. */
  asset(name: string, accepts: (coding: Coding) => boolean): Promise<Asset | null>;
}

export const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
/** Vite gives bundles such names: `index-BdYc3x_1.js`. */
const HASHED = /-[\w-]{8}\.\w+$/;

/**
 * `folders`: candidates for dist/web; the first with an index.html is used. Requested names are looked up in a
 * directory listing, never joined to a path directly; an unknown name re-reads the listing, so that a new build is
 * picked up; what is kept is compared with the file's time and size.
 */
export function createWebFiles(folders: readonly string[]): WebFiles {
  const kept = new Map<string, { version: string; bytes: Promise<SharedBytes> }>();

  /** The bytes of a file, read once for each of its versions; null where it was deleted. */
  async function bytesOf(path: string, coding: Coding | null): Promise<SharedBytes | null> {
    const found = await stat(path).catch(missingIsNull);
    if (found === null) return null;
    const version = `${found.mtimeMs} ${found.size}`;
    let file = kept.get(path);
    if (file?.version !== version) {
      file = { version, bytes: readFile(path).then((bytes) => sharedBytes(bytes, coding)) };
      kept.set(path, file);
    }
    try {
      return await file.bytes;
    } catch (error) {
      kept.delete(path);
      throw error;
    }
  }

  const listingOf = listingWith(async () => {
    for (const folder of folders) {
      const names = await readdir(join(folder, 'assets')).catch(missingIsNull);
      if (names !== null) return { folder, names: new Set(names) };
    }
    return null;
  });

  return {
    async index(language) {
      for (const folder of folders) {
        const page = await readFile(join(folder, indexName(language)), 'utf8').catch(missingIsNull);
        if (page !== null) return page;
      }
      return null;
    },
    firstViewScript: () => folders.map((folder) => join(folder, 'first-view.js')).find(existsSync) ?? null,
    async asset(name, accepts) {
      const type = TYPES[extname(name)];
      if (type === undefined) return null;
      const listed = await listingOf(name);
      if (listed === null) return null;
      const { folder, names } = listed;
      const [coding, suffix] = CODINGS.find(([c, s]) => names.has(name + s) && accepts(c)) ?? [null, ''];
      const file = await bytesOf(join(folder, 'assets', name + suffix), coding);
      return file && { ...file, type, hashed: HASHED.test(name) };
    },
  };
}

/** `index.html`, `index.de.html` */
export const indexName = (language: Language): string =>
  language === SOURCE_LANGUAGE ? 'index.html' : `index.${language}.html`;

interface Listing {
  readonly folder: string;
  readonly names: ReadonlySet<string>;
}

/** How often a listing is read again for names that are not in it, ms: anybody may ask for as many as they like. */
const RELIST_MS = 1_000;

/** Finds the listing that has a name; null: none. An unknown name has it read again, so that a new build is found. */
export function listingWith(read: () => Promise<Listing | null>): (name: string) => Promise<Listing | null> {
  let listed: Listing | null = null;
  let reading: Promise<void> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  return async (name) => {
    if (!listed?.names.has(name)) {
      const now = systemClock.elapsed();
      if (now - readAt >= RELIST_MS) {
        readAt = now;
        reading = read().then((found) => {
          listed = found;
        });
      }
      await reading;
    }
    return listed?.names.has(name) ? listed : null;
  };
}

/** This is for `catch`, and returns null where there is no such file. */
export function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
