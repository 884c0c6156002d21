/** The reader and the writers of address files, next to a bare line reader of the same bytes. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readAddressFile } from '../src/files/read-file.ts';
import { createResultWriter } from '../src/files/write-results.ts';
import type { ResultFormat } from '../src/kernel/facts/lists.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';

const ROUNDS = 5;
const ROWS = 100_000;
const CHUNK = 1 << 16;

const row = (i: number): string[] => [
  `${i}`,
  `user${i}@domain-${i % 5000}.example`,
  `Name ${i}`,
  i % 3 ? 'Köln' : '"Ulm"',
];
const HEAD = ['id', 'Contact Email', 'name', 'town'];

async function* chunksOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
}

/** CPU seconds, all threads. */
async function cpuOf(work: () => Promise<number>): Promise<number> {
  const before = process.cpuUsage();
  const rows = await work();
  if (rows !== ROWS) throw new Error(`${rows} rows`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

const reading = (bytes: Buffer) =>
  cpuOf(async () => {
    let rows = 0;
    const file = await readAddressFile(chunksOf(bytes));
    for await (const batch of file.batches) rows += batch.rows.filter(({ addresses }) => addresses.length > 0).length;
    return rows;
  });

/** Lines cut at commas, whatever is in them. */
const bareLines = (bytes: Buffer) =>
  cpuOf(async () => {
    let rows = -1;
    let rest = '';
    for await (const chunk of chunksOf(bytes)) {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.split(',').length > 1) rows += 1;
    }
    return rows;
  });

const writing = (format: ResultFormat) =>
  cpuOf(async () => {
    const result = { status: 'good', deliverability: 'unknown', is_free: false, credits_used: 1 };
    const writer = createResultWriter(format, HEAD);
    let bytes = writer.head().length;
    for (let from = 0; from < ROWS; from += 500) {
      const rows = Array.from({ length: 500 }, (_, i) => ({ cells: row(from + i), extra: [], result, json: result }));
      bytes += (await writer.rows(rows)).length;
    }
    return bytes + writer.end().length > 0 ? ROWS : 0;
  });

async function xlsxFile(): Promise<Buffer> {
  const writer = createResultWriter('xlsx', HEAD);
  const pieces = [writer.head()];
  for (let from = 0; from < ROWS; from += 500)
    pieces.push(
      await writer.rows(
        Array.from({ length: 500 }, (_, i) => ({ cells: row(from + i), extra: [], result: null, json: {} })),
      ),
    );
  return Buffer.concat([...pieces, writer.end()]);
}

const JSON_MB = 89;
/** The most that reading it may add to RSS. */
const MOST_MB = 100;
/** As `mailvet serve` sets it. */
const YOUNG = '--max-semi-space-size=8';

/** What reading `text`, many times over, adds to the RSS of a process at most, in MB. */
async function grownMb(begin: string, line: (i: number) => string, end: string): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'mailvet-bench-'));
  try {
    const path = join(dir, 'list');
    const pieces = (function* () {
      yield begin;
      for (let [i, bytes] = [0, 0]; bytes < JSON_MB * 1e6; i += 500) {
        const piece = Array.from({ length: 500 }, (_, n) => line(i + n)).join('');
        bytes += Buffer.byteLength(piece);
        yield piece;
      }
      yield end;
    })();
    await writeFile(path, pieces);
    const reader = fileURLToPath(new URL('apparatus/read-process.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [YOUNG, reader, path]);
    const { before, most } = JSON.parse(stdout) as { before: number; most: number };
    return most - before;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const person = (i: number) => ({
  id: i,
  name: { first: `Ada${i}`, last: `Lovelace ${i}` },
  email: `user${i}@domain-${i % 5000}.example`,
  tags: ['a', 'b'],
  active: i % 2 === 0,
  town: 'Köln',
  created: '2026-01-01T00:00:00Z',
});

const cellsOf = ({ id, name, email, active, town, created }: ReturnType<typeof person>) =>
  [id, name.first, name.last, email, active, town, created].map(String);

async function memoryFigure(): Promise<Figure> {
  const samples = await interleave(3, {
    floor: () => grownMb('id,first,last,email,active,town,created\n', (i) => `${cellsOf(person(i)).join(',')}\n`, ''),
    json: () => grownMb('[', (i) => `${i === 0 ? '' : ','}${JSON.stringify(person(i))}`, ']'),
  });
  const [floor, most] = [Math.max(...samples.floor), Math.max(...samples.json)];
  return {
    what: `Reading ${JSON_MB} MB of JSON on one line: RSS at most, beyond the start; the floor is CSV of the same size`,
    value: `${number(most)} MB`,
    floor: `${number(floor)} MB`,
    ratio: ratio(most / floor),
    aim: { text: `≤ ${MOST_MB} MB`, met: most <= MOST_MB },
  };
}

const perSecond = (seconds: readonly number[]): string => `${number(ROWS / median(seconds))} rows/s`;

export const files: Bench = {
  name: 'files',
  title: 'Address files',
  async run() {
    const quoted = (cell: string): string => (cell.includes('"') ? `"${cell.replaceAll('"', '""')}"` : cell);
    const line = (cells: readonly string[]): string => `${cells.map(quoted).join(',')}\n`;
    const csv = Buffer.from(line(HEAD) + Array.from({ length: ROWS }, (_, i) => line(row(i))).join(''));
    const xlsx = await xlsxFile();
    const samples = await interleave(ROUNDS, {
      floor: () => bareLines(csv),
      csv: () => reading(csv),
      xlsx: () => reading(xlsx),
      toCsv: () => writing('csv'),
      toXlsx: () => writing('xlsx'),
    });
    const figure = (what: string, seconds: readonly number[]): Figure => ({
      what,
      value: perSecond(seconds),
      floor: perSecond(samples.floor),
      ratio: ratio(medianRatio(samples.floor, seconds)),
    });
    return {
      how:
        `Rows per second of CPU time, for ${ROWS.toLocaleString('en-US')} rows of four columns, a third with quotes. ` +
        `The floor cuts the same CSV at line ends and commas; ${ROUNDS} rounds.`,
      figures: [
        figure('Reading CSV', samples.csv),
        figure('Reading XLSX', samples.xlsx),
        figure('Writing CSV', samples.toCsv),
        figure('Writing XLSX', samples.toXlsx),
        await memoryFigure(),
      ],
    };
  },
};
