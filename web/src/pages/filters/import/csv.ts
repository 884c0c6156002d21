import { fromRows, hasHeader, type ImportLine, MAX_BYTES, readLines, UnusableText } from './lines.ts';

/** Parses text as lines, or as CSV if the first line names columns. Throws UnusableText. */
export async function readTyped(text: string): Promise<ImportLine[]> {
  return hasHeader(text) ? readCsv(text) : readLines(text);
}

/** Throws UnusableText if the file is too large, not UTF-8 or not CSV. */
export async function readFile(file: File): Promise<ImportLine[]> {
  if (file.size > MAX_BYTES) {
    const size = (file.size / 1024 / 1024).toFixed(1);
    throw new UnusableText(`${file.name} is ${size} MiB; the limit is ${MAX_BYTES / 1024 / 1024} MiB. Split the file.`);
  }
  return readCsv(decode(await file.arrayBuffer(), file.name));
}

function decode(bytes: ArrayBuffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnusableText(`${name} is not UTF-8 text. Save it as “CSV UTF-8” and choose it again.`);
  }
}

async function readCsv(text: string): Promise<ImportLine[]> {
  // Loaded on demand: it is large and only imports need it.
  const { parse, CsvError } = await import('csv-parse/browser/esm/sync');
  try {
    const rows = parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      info: true,
      max_record_size: 64 * 1024,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as readonly { record: string[]; info: { lines: number } }[];
    return fromRows(rows.map(({ record, info }) => ({ record: record.map(unguarded), line: info.lines })));
  } catch (error) {
    if (error instanceof CsvError) throw new UnusableText(`This is not valid CSV. ${sentence(error)}`);
    throw error;
  }
}

/** Our CSV export prefixes spreadsheet formulas with an apostrophe; this removes it again. */
const unguarded = (cell: string): string => (/^'+[=+\-@\t\r\n＝＋－＠]/.test(cell) ? cell.slice(1) : cell);

/** Some spreadsheet locales export semicolons or tabs. */
function delimiterOf(text: string): string {
  const [first = ''] = text.split('\n', 1);
  return [',', ';', '\t'].find((one) => first.includes(one)) ?? ',';
}

const sentence = (error: Error): string => {
  const line = /at line (\d+)/.exec(error.message)?.[1];
  return `Check the quotes${line === undefined ? '' : ` near line ${line}`}: a quoted value must end with a quote, and a quote inside it must be doubled.`;
};
