/** Files of all formats with bytes changed, removed, doubled or cut off: read, or refused with a FileError. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openFile } from '../../src/files/formats.ts';
import { FileError } from '../../src/files/problems.ts';
import { CASES } from '../lab/file-formats.ts';

const RUNS = Number(process.env.MAILVET_TEST_ROUNDS ?? 1) * 600;
/** Small, so that small files reach them. */
const LIMITS = { bytes: 400_000, rows: 500, rowBytes: 2_000, columns: 30, party: '' };

const damage = fc.record({
  kind: fc.nat(4),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  byte: fc.nat(255),
  length: fc.nat(40),
});

function damaged(
  bytes: Buffer,
  { kind, at: place, byte, length }: { kind: number; at: number; byte: number; length: number },
): Buffer {
  const at = Math.floor(place * (bytes.length - 1));
  if (kind === 0) return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at + 1)]);
  if (kind === 1) return bytes.subarray(0, at);
  if (kind === 2) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
  if (kind === 3) return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
  return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(length, byte), bytes.subarray(at)]);
}

async function outcome(bytes: Buffer): Promise<'read' | 'refused'> {
  async function* input() {
    if (bytes.length > 0) yield bytes;
  }
  try {
    const { source } = await openFile(input(), { claimed: null, sheet: null, entry: null }, LIMITS);
    for await (const { rows } of source.batches)
      for (const { line, cells, problem } of rows) {
        const text = cells.join('');
        // Empty cells at the end count as nothing.
        const width = cells.findLastIndex((cell) => cell !== '') + 1;
        if (line < 1 || width > LIMITS.columns || (problem === null && text.length > LIMITS.rowBytes))
          expect.fail(JSON.stringify({ line, cells, problem }));
      }
    return 'read';
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    expect(error.message).toMatch(/^.+\.$/s);
    return 'refused';
  }
}

it(`${RUNS} damaged files are read or refused`, { timeout: 600_000 }, async () => {
  const seen = { read: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...CASES),
      fc.array(damage, { minLength: 1, maxLength: 4 }),
      async ({ bytes }, changes) => {
        seen[await outcome(changes.reduce(damaged, bytes))] += 1;
      },
    ),
    { numRuns: RUNS },
  );
  expect(seen.read).toBeGreaterThan(RUNS / 10);
  expect(seen.refused).toBeGreaterThan(RUNS / 10);
});
