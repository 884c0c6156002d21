import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { listingWith, madeOfFiles, missingIsNull, TYPES } from './dashboard/web-files.ts';
import type { HttpRequest } from './exchange.ts';
import { compressedOnce, type SharedBytes, sharedBytes } from './shared-bytes.ts';

interface GuideFile {
  readonly type: string;
  readonly bytes: (request: HttpRequest) => Promise<SharedBytes>;
}

const TYPES_HERE: Readonly<Record<string, string>> = {
  ...TYPES,
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
};
/** Files that are compressed already. */
const AS_THEY_ARE: readonly string[] = ['.png', '.woff2'];

/**
 * `folders`: candidates for dist/guide; the first that exists is used. Names are looked up in a directory listing,
 * never joined to a path directly. Files are read, and compressed, at their first request.
 */
export function createGuideFiles(folders: readonly string[]) {
  const fileOf = madeOfFiles<GuideFile>();
  const listingOf = listingWith(async () => {
    for (const folder of folders) {
      const names = await readdir(folder, { recursive: true }).catch(missingIsNull);
      if (names !== null) return { folder, names: new Set(names.map((name) => name.replaceAll('\\', '/'))) };
    }
    return null;
  });

  return {
    /** Null if there is no such file, or its type is not one that the guide uses. */
    async file(path: string) {
      const type = TYPES_HERE[extname(path)];
      if (type === undefined) return null;
      const listed = await listingOf(path);
      if (listed === null) return null;
      return fileOf(join(listed.folder, path), (bytes) => ({ type, bytes: guideBytes(bytes, extname(path)) }));
    },
  };
}

export type GuideFiles = ReturnType<typeof createGuideFiles>;

function guideBytes(bytes: Buffer, extension: string): GuideFile['bytes'] {
  if (!AS_THEY_ARE.includes(extension)) return compressedOnce(bytes);
  const plain = sharedBytes(bytes, null);
  return async () => plain;
}
