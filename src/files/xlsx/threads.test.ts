/** XLSX files are read and written in threads. */
import { expect, it, vi } from 'vitest';
import { workbookOf } from '../../../tests/lab/zip.ts';
import { inputBlocks } from '../input-blocks.ts';
import { type AddressFile, readAddressFile } from '../read-file.ts';
import { SpooledInput, spool } from '../spool.ts';
import { createResultWriter } from '../write-results.ts';

const rowOf = (n: number, line = n): string => `<row r="${line}"><c t="str"><v>a${n}@example.com</v></c></row>`;
const sheetOf = (rows: readonly string[]): Buffer =>
  workbookOf(`<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`);
const manyRows = (count: number): Buffer => sheetOf(Array.from({ length: count }, (_, i) => rowOf(i + 1)));

async function* bytesOf(bytes: Buffer) {
  yield bytes;
}

async function addressesOf({ batches }: AddressFile): Promise<string[]> {
  const found: string[] = [];
  for await (const { rows } of batches)
    found.push(...rows.flatMap(({ addresses }) => addresses.map(({ text }) => text)));
  return found;
}

it('more files than there are threads are all read', async () => {
  const counts = [1, 700, 3_000, 2, 5_000, 900];
  const read = await Promise.all(
    counts.map(async (count) => addressesOf(await readAddressFile(bytesOf(manyRows(count))))),
  );
  for (const [i, count] of counts.entries())
    expect(read[i]).toEqual(Array.from({ length: count }, (_, n) => `a${n + 1}@example.com`));
});

it('files of one party keep no other waiting, however long they are read', async () => {
  const large = manyRows(20_000);
  const reading = Array.from({ length: 6 }, () => readAddressFile(bytesOf(large), { limits: { party: 'greedy' } }));
  await Promise.race(reading);
  expect(await addressesOf(await readAddressFile(bytesOf(manyRows(3)), { limits: { party: 'other' } }))).toHaveLength(
    3,
  );
  for (const file of reading) await (await file).close();
});

it('small files of others are read while large ones are, whoever holds them', async () => {
  const row = '<row><c t="str"><v>a@example.com</v></c></row>';
  const large = workbookOf({
    before: '<worksheet><sheetData>',
    text: row.repeat(100),
    times: 8_000,
    after: '</sheetData></worksheet>',
  });
  const held = ['one', 'two', 'three'].map((party) => readAddressFile(bytesOf(large), { limits: { party } }));
  for (const file of held) await (await file).batches.next();
  // A fourth large one waits for a thread, and a small one does not.
  let hasBegun = false;
  const fourth = readAddressFile(bytesOf(large), { limits: { party: 'four' } }).finally(() => (hasBegun = true));
  for (const party of ['four', 'five', 'six'])
    expect(await addressesOf(await readAddressFile(bytesOf(manyRows(900)), { limits: { party } }))).toHaveLength(900);
  expect(hasBegun).toBe(false);
  for (const file of held) await (await file).close();
  await (await fourth).close();
});

it('files that are given up make room for others', async () => {
  const large = manyRows(20_000);
  for (let n = 0; n < 5; n++) {
    const file = await readAddressFile(bytesOf(large));
    if (n % 2 === 0) await file.batches.next();
    await file.close();
  }
  expect(await addressesOf(await readAddressFile(bytesOf(manyRows(3))))).toHaveLength(3);
});

it('a file that was spooled is read where it is, and stays open', async () => {
  const file = await spool(inputBlocks(bytesOf(manyRows(10)), 1 << 20).blocks);
  const close = vi.fn(() => file.close());
  const input = new SpooledInput({ ...file, close });
  expect(await addressesOf(await readAddressFile(input))).toHaveLength(10);
  expect(close).not.toHaveBeenCalled();
  await expect(readAddressFile(input, { limits: { bytes: file.sizeBytes - 1 } })).rejects.toThrow('too large');
});

it('rows that a sheet leaves out are blank, and come a few at a time', async () => {
  const { batches } = await readAddressFile(bytesOf(sheetOf([rowOf(1), rowOf(2, 200_000), rowOf(3, 200_002)])));
  const found: [row: number, address: string][] = [];
  let [count, most] = [0, 0];
  for await (const { rows } of batches) {
    most = Math.max(most, rows.length);
    count += rows.length;
    for (const { row, addresses } of rows) for (const { text } of addresses) found.push([row, text]);
  }
  expect(most).toBeLessThanOrEqual(500);
  expect(count).toBe(200_002);
  expect(found).toEqual([
    [1, 'a1@example.com'],
    [200_000, 'a2@example.com'],
    [200_002, 'a3@example.com'],
  ]);
});

it.each([
  [
    'rows',
    sheetOf([
      `<row r="1"><c r="A1" t="str"><v>email</v></c></row>`,
      ...Array.from({ length: 51 }, (_, i) => rowOf(i + 2)),
    ]),
  ],
  ['rows that are left out', sheetOf([rowOf(1), rowOf(2, 52)])],
])('a sheet with one of its %s too many is refused with the limit of rows', async (_title, content) => {
  const read = async () => addressesOf(await readAddressFile(bytesOf(content), { limits: { rows: 50 } }));
  await expect(read()).rejects.toMatchObject({ problem: { code: 'list_too_large', limit: 50 } });
});

it('a row that is too large is a problem of its own', async () => {
  const long = `<row><c t="str"><v>b@example.com</v></c><c t="str"><v>${'x'.repeat(70_000)}</v></c></row>`;
  const { batches } = await readAddressFile(bytesOf(sheetOf([rowOf(1), long, rowOf(3)])));
  const found: unknown[] = [];
  for await (const { rows } of batches) found.push(...rows.map((row) => row.problem ?? row.addresses[0]?.text));
  expect(found).toEqual(['a1@example.com', 'too_large', 'a3@example.com']);
});

it('files that are written at the same time do not mix', async () => {
  const written = await Promise.all(
    [1, 2, 3].map(async (who) => {
      const writer = createResultWriter('xlsx', ['email']);
      const pieces = [writer.head()];
      for (let row = 0; row < 20; row++) {
        const cells = [`a${row}@${who}.example.com`];
        pieces.push(await writer.rows([{ cells, extra: [], result: null, json: {} }]));
      }
      return Buffer.concat([...pieces, writer.end()]);
    }),
  );
  for (const [i, bytes] of written.entries()) {
    const addresses = await addressesOf(await readAddressFile(bytesOf(bytes)));
    expect(addresses).toEqual(Array.from({ length: 20 }, (_, row) => `a${row}@${i + 1}.example.com`));
  }
});

it('a file that is too large to write is reported as the problem it is', async () => {
  const writer = createResultWriter('xlsx', ['email'], { state: { rows: 9, crc: 0, size: 0xffff_fff0, packed: 9 } });
  const row = { cells: ['a@example.com'], extra: [], result: null, json: {} };
  await expect(writer.rows([row])).rejects.toMatchObject({ problem: { code: 'unreadable_file' } });
});
