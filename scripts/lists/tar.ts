const BLOCK = 512;

/**
 * The regular files of a tar archive (POSIX ustar, as packed by npm): path → bytes. Uses only names and sizes and
 * writes nothing. Throws if a header is truncated.
 */
export function readTar(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    if (header[0] === 0) break;
    const size = Number.parseInt(text(header, 124, 12), 8);
    if (!Number.isInteger(size) || at + BLOCK + size > archive.length) throw new Error('damaged tar archive');
    const prefix = text(header, 345, 155);
    const name = text(header, 0, 100);
    const type = String.fromCharCode(header[156]!);
    if (type === '0' || type === '\0') {
      files.set(prefix === '' ? name : `${prefix}/${name}`, archive.subarray(at + BLOCK, at + BLOCK + size));
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function text(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end === -1 ? length : end).trim();
}
