import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Coding, type SharedBytes, sharedBytes } from '../shared-bytes.ts';

/** One file of `assets/`, in the coding that is sent. */
interface Asset extends SharedBytes {
  readonly type: string;
  /** Its name holds a hash of its contents: it never changes. */
  readonly hashed: boolean;
}

/** The output of `npm run build` for web/. */
export interface WebFiles {
  /** The HTML page, with `__CSP_NONCE__` placeholders; null if it was not built. */
  index(): Promise<string | null>;
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
/** Vite's names for bundles: `index-BdYc3x_1.js`. */
const HASHED = /-[\w-]{8}\.\w+$/;

/**
 * `folders`: candidates for dist/web; the first with an index.html is used. Requested names are looked up in a
 * directory listing, never joined to a path directly; an unknown name re-reads the listing, so that a new build is
 * picked up.
 */
export function createWebFiles(folders: readonly string[]): WebFiles {
  let listed: { folder: string; names: ReadonlySet<string> } | null = null;
  const kept = new Map<string, { version: string; bytes: Promise<SharedBytes> }>();

  /** The bytes of a file, read once for each of its versions; null where it is gone. */
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

  async function listing(): Promise<typeof listed> {
    for (const folder of folders) {
      const names = await readdir(join(folder, 'assets')).catch(missingIsNull);
      if (names !== null) return { folder, names: new Set(names) };
    }
    return null;
  }

  return {
    async index() {
      for (const folder of folders) {
        const page = await readFile(join(folder, 'index.html'), 'utf8').catch(missingIsNull);
        if (page !== null) return page;
      }
      return null;
    },
    async asset(name, accepts) {
      const type = TYPES[extname(name)];
      if (type === undefined) return null;
      if (!listed?.names.has(name)) {
        listed = await listing();
        kept.clear();
      }
      if (!listed?.names.has(name)) return null;
      const { folder, names } = listed;
      const [coding, suffix] = CODINGS.find(([c, s]) => names.has(name + s) && accepts(c)) ?? [null, ''];
      const file = await bytesOf(join(folder, 'assets', name + suffix), coding);
      return file && { ...file, type, hashed: HASHED.test(name) };
    },
  };
}

/** For `catch`: null where there is no such file. */
export function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
