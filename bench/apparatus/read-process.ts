/** Reads a file of addresses in a process of its own: `node read-process.ts FILE`. Prints rows, and MB of RSS. */
import { createReadStream } from 'node:fs';
import { readAddressFile } from '../../src/files/read-file.ts';

const MB = 1e6;
/** The program is loaded and compiled before. */
const WARM = '[{"name":"Ada","email":"ada@example.com"},{"name":"Bo","email":"bo@example.com"}]';

async function rowsOf(input: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await readAddressFile(input);
  let rows = 0;
  for await (const batch of file.batches) rows += batch.rows.length;
  return rows;
}

await rowsOf(
  (async function* () {
    yield Buffer.from(WARM);
  })(),
);
const before = process.memoryUsage.rss();
let most = before;
const timer = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 5);
const rows = await rowsOf(createReadStream(process.argv[2] ?? ''));
clearInterval(timer);
process.stdout.write(`${JSON.stringify({ rows, before: before / MB, most: most / MB })}\n`);
