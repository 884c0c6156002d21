import { csvLine } from '../kernel/csv.ts';
import type { PacedReading } from '../service/costs.ts';
import { PacedBody } from './paced-body.ts';
import type { Answer } from './route.ts';

export { csvLine };

export const CSV_TYPE = 'text/csv; charset=utf-8';
/** The format is described at https://jsonlines.org. */
export const JSON_LINES = 'application/jsonl';
export const asDownload = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });

type Pages<Row> = PacedReading<readonly Row[]>;
export type Cell = string | number | null;

/**
 * The head goes with the first page, so that the status still says what prevents an export. A page without rows
 * is an empty text: writing it, the stream notices that the client has disconnected.
 */
async function* csvText<Row>(
  head: string,
  pages: AsyncIterable<readonly Row[]>,
  line: (row: Row) => string,
): AsyncGenerator<string> {
  let text = head;
  for await (const page of pages) {
    yield text + page.map(line).join('');
    text = '';
  }
  if (text !== '') yield text;
}

/** `name` is the file's, without extension. */
export const csvFile = <Row>(
  name: string,
  columns: readonly string[],
  pages: Pages<Row>,
  cells: (row: Row) => readonly Cell[],
): Answer => ({
  body: new PacedBody(pages.as((rows) => csvText(csvLine(columns), rows, (row) => csvLine(cells(row))))),
  type: CSV_TYPE,
  headers: asDownload(`${name}.csv`),
});

export const jsonLinesFile = <Row>(name: string, pages: Pages<Row>, reply: (row: Row) => unknown): Answer => ({
  body: new PacedBody(pages.as((rows) => csvText('', rows, (row) => `${JSON.stringify(reply(row))}\n`))),
  type: `${JSON_LINES}; charset=utf-8`,
  headers: asDownload(`${name}.jsonl`),
});
