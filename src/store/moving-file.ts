/** Writes the lines of moving.ts into a compressed file, and reads them. */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { messageOf } from '../kernel/errors.ts';
import { DAMAGED, MoveRefused } from './moving.ts';

/** No line of ours is as long: texts of 4 MB, or one row. */
const LINE_BYTES = 256_000_000;
const NEWLINE = 0x0a;

/** Creates the file, for its owner only. `from` is called with what writes a line. */
export async function writeLines<T>(
  path: string,
  from: (write: (line: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const written = pipeline(gzip, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  // Awaited below; meanwhile what fails reaches whoever writes.
  written.catch(() => undefined);
  try {
    const result = await from(async (line) => {
      if (!gzip.write(`${line}\n`)) await Promise.race([once(gzip, 'drain'), written]);
    });
    gzip.end();
    await written;
    return result;
  } finally {
    gzip.destroy();
  }
}

/** Throws MoveRefused where the file ends too early or is none of ours. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const gunzip = createGunzip();
  pipeline(createReadStream(path), gunzip).catch(() => undefined);
  let [pieces, bytes]: [Buffer[], number] = [[], 0];
  try {
    for await (const chunk of gunzip) {
      let rest = Buffer.from(chunk);
      for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
        yield Buffer.concat([...pieces, rest.subarray(0, end)]).toString('utf8');
        [pieces, bytes] = [[], 0];
        rest = rest.subarray(end + 1);
      }
      bytes += rest.length;
      if (bytes > LINE_BYTES) throw new MoveRefused(DAMAGED);
      pieces.push(rest);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && /^Z_/.test(String(error.code)))) throw error;
    throw new MoveRefused(`${DAMAGED} (${messageOf(error)})`, { cause: error });
  }
  if (bytes > 0) throw new MoveRefused(DAMAGED);
}
