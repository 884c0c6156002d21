import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { sha256Hex } from '../../kernel/ids.ts';

/** One file of `assets/`, in the coding that is sent. */
export interface Asset {
  readonly bytes: Buffer;
  readonly type: string;
  readonly coding: 'br' | 'gzip' | null;
  /** Its name holds a hash of its contents: it never changes. */
  readonly hashed: boolean;
  readonly etag: string;
}

/** What `npm run build` made of web/. */
export interface WebFiles {
  /** The page, with `__CSP_NONCE__` in it; null where it was not built. */
  index(): Promise<string | null>;
  /** Null where there is no such file, or it is of no type that the page uses. */
  asset(name: string, accepts: (coding: string) => boolean): Promise<Asset | null>;
}

const TYPES: Readonly<Record<string, string>> = {
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
/** As Vite names what it bundles: `index-BdYc3x_1.js`. */
const HASHED = /-[\w-]{8}\.\w+$/;

/**
 * `folders`: where dist/web may be; the first that has an index.html is it. Names are looked up in a listing of the folder and
 * never put together to a path unseen; a name that is not in it makes it read again, so that a new build is seen.
 */
export function createWebFiles(folders: readonly string[]): WebFiles {
  let listed: { folder: string; names: ReadonlySet<string> } | null = null;

  async function listing(): Promise<typeof listed> {
    for (const folder of folders) {
      const names = await readdir(join(folder, 'assets')).catch(orMissing);
      if (names !== null) return { folder, names: new Set(names) };
    }
    return null;
  }

  return {
    async index() {
      for (const folder of folders) {
        const page = await readFile(join(folder, 'index.html'), 'utf8').catch(orMissing);
        if (page !== null) return page;
      }
      return null;
    },
    async asset(name, accepts) {
      const type = TYPES[extname(name)];
      if (type === undefined) return null;
      if (!listed?.names.has(name)) listed = await listing();
      if (!listed?.names.has(name)) return null;
      const { folder, names } = listed;
      const [coding, suffix] = CODINGS.find(([c, s]) => names.has(name + s) && accepts(c)) ?? [null, ''];
      const bytes = await readFile(join(folder, 'assets', name + suffix)).catch(orMissing);
      if (bytes === null) return null;
      return { bytes, type, coding, hashed: HASHED.test(name), etag: `"${sha256Hex(bytes).slice(0, 20)}"` };
    },
  };
}

function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
