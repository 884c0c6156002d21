/** Parts of archives, small ones and those that are streamed. */
import { describe, expect, it, vi } from 'vitest';
import { zipOf } from '../../../tests/lab/zip.ts';
import { readShared } from '../spool.ts';
import { openZip } from './zip-read.ts';

const MOST = 1 << 20;

async function contentOf(bytes: Buffer, most = MOST, progress?: () => void): Promise<string> {
  const zip = await openZip(readShared({ bytes }));
  const entry = zip.find('part') ?? expect.fail();
  const pieces: Buffer[] = [];
  for await (const piece of zip.read(entry, most, progress)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `jane${i}@example.com\n`).join('');

describe.each([
  ['no bytes', ''],
  ['a few bytes', lines(10)],
  ['many bytes', lines(10_000)],
])('a part of %s', (_title, part) => {
  it('is read', async () => {
    expect(await contentOf(zipOf({ part }))).toBe(part);
  });

  it.each([
    [{ size: 1 }, 'the checksum of an entry does not match'],
    [{ crc: 1 }, 'the checksum of an entry does not match'],
  ])('is refused where the directory lies: %o', async (lie, cause) => {
    await expect(contentOf(zipOf({ part }, lie))).rejects.toThrow(cause);
  });

  it.skipIf(part === '')('is refused where it is longer than the directory says, or damaged', async () => {
    const bytes = zipOf({ part });
    await expect(contentOf(zipOf({ part }, { size: -1 }))).rejects.toThrow('longer than its directory says');
    // A block of a type that deflate does not have.
    bytes[34] = 0xff;
    await expect(contentOf(bytes)).rejects.toThrow('cannot be unpacked');
  });
});

it('a part that unpacks to far more than its bytes is refused before any of it is unpacked', async () => {
  const bomb = zipOf({ part: 'x'.repeat(17 << 20) });
  const progress = vi.fn();
  await expect(contentOf(bomb, 1 << 30, progress)).rejects.toThrow('unpacked for each byte');
  expect(progress).not.toHaveBeenCalled();
});
