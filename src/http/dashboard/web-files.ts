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
export function createWebFiles(folders: readonly string[]) {
  const bytesOf = madeOfFiles<SharedBytes>();
  const listingOf = listingWith(async () => {
    for (const folder of folders) {
      const names = await readdir(join(folder, 'assets')).catch(missingIsNull);
      if (names !== null) return { folder, names: new Set(names) };
    }
    return null;
  });

  return {
    /** The HTML page in a language, with `__CSP_NONCE__` placeholders; null if it was not built. */
    async index(language: Language) {
      for (const folder of folders) {
        const page = await readFile(join(folder, indexName(language)), 'utf8').catch(missingIsNull);
        if (page !== null) return page;
      }
      return null;
    },
    /** Path of the script that renders first views; null if it was not built. */
    firstViewScript: () => folders.map((folder) => join(folder, 'first-view.js')).find(existsSync) ?? null,
    /** Null if there is no such file, or its type is not one that the page uses. */
    async asset(name: string, accepts: (coding: Coding) => boolean): Promise<Asset | null> {
      const type = TYPES[extname(name)];
      if (type === undefined) return null;
      const listed = await listingOf(name);
      if (listed === null) return null;
      const { folder, names } = listed;
      const [coding, suffix] = CODINGS.find(([c, s]) => names.has(name + s) && accepts(c)) ?? [null, ''];
      const path = join(folder, 'assets', name + suffix);
      const file = await bytesOf(path, (bytes) => sharedBytes(bytes, coding));
      return file && { ...file, type, hashed: HASHED.test(name) };
    },
  };
}

export type WebFiles = ReturnType<typeof createWebFiles>;

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

/** What is made of the bytes of files, once for each of their versions; null where there is no such file. */
export function madeOfFiles<T>(): (path: string, make: (bytes: Buffer) => T) => Promise<T | null> {
  const kept = new Map<string, { readonly version: string; readonly made: Promise<T> }>();
  return async (path, make) => {
    const found = await stat(path).catch(missingIsNull);
    if (found === null) return null;
    const version = `${found.mtimeMs} ${found.size}`;
    const known = kept.get(path);
    if (known?.version === version) return known.made;
    const made = readFile(path).then(make);
    kept.set(path, { version, made });
    made.catch(() => kept.delete(path));
    return made;
  };
}

/** For `catch`: null where there is no such file. */
export function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
