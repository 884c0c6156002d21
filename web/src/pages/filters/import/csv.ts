import { fromRows, hasHeader, type ImportLine, MAX_BYTES, readLines, UnusableText } from './lines.ts';

/** Reads what was typed: lines, or CSV where the first line names its columns. Throws UnusableText. */
export async function readTyped(text: string): Promise<ImportLine[]> {
  return hasHeader(text) ? readCsv(text) : readLines(text);
}

/** Throws UnusableText where the file is too large, not in UTF-8, or no CSV. */
export async function readFile(file: File): Promise<ImportLine[]> {
  if (file.size > MAX_BYTES) {
    const size = (file.size / 1024 / 1024).toFixed(1);
    throw new UnusableText(
      `${file.name} has ${size} MiB; at most ${MAX_BYTES / 1024 / 1024} can be read at once. Split it.`,
    );
  }
  return readCsv(decode(await file.arrayBuffer(), file.name));
}

function decode(bytes: ArrayBuffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnusableText(`${name} is not text in UTF-8. Save it as “CSV UTF-8” and choose it again.`);
  }
}

async function readCsv(text: string): Promise<ImportLine[]> {
  // Not small, and only this needs it.
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
    if (error instanceof CsvError) throw new UnusableText(`This is no well-formed CSV. ${sentence(error)}`);
    throw error;
  }
}

/** What is downloaded here has an apostrophe before what a spreadsheet would take for a formula: one comes off again. */
const unguarded = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell);

/** Spreadsheets write semicolons or tabs in some places; the first line shows which. */
function delimiterOf(text: string): string {
  const [first = ''] = text.split('\n', 1);
  return [',', ';', '\t'].find((one) => first.includes(one)) ?? ',';
}

const sentence = (error: Error): string => {
  const line = /at line (\d+)/.exec(error.message)?.[1];
  return `Look at the quotes${line === undefined ? '' : ` near line ${line}`}: a quoted value ends with a quote, and one inside is doubled.`;
};
