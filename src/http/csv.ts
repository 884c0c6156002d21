import { csvLine } from '../kernel/csv.ts';
import { keysOf } from '../kernel/facts/keys-of.ts';
import type { PacedReading } from '../service/costs.ts';
import { PacedBody } from './paced-body.ts';
import type { RawAnswer, Route } from './route.ts';

export { csvLine };

export const CSV_TYPE = 'text/csv; charset=utf-8';
/** The format is described at https://jsonlines.org. */
const JSON_LINES = 'application/jsonl';
export const asDownload = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });

type Pages<Row> = PacedReading<readonly Row[]>;
export type Cell = string | number | null;
/** Each cell is found by the name of its column. */
export type CsvColumns<Shown> = Readonly<Record<string, (shown: Shown) => Cell>>;

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
export function csvFile<Row, Shown>(
  name: string,
  columns: CsvColumns<Shown>,
  pages: Pages<Row>,
  shownOf: (row: Row) => Shown,
): RawAnswer {
  const cells = Object.values(columns);
  const line = (row: Row) => {
    const shown = shownOf(row);
    return csvLine(cells.map((cell) => cell(shown)));
  };
  return {
    body: new PacedBody(pages.as((rows) => csvText(csvLine(Object.keys(columns)), rows, line))),
    type: CSV_TYPE,
    headers: asDownload(`${name}.csv`),
  };
}

/** The forms of a file with all rows, by its extension. `id`: ends the operationId of the route. */
const FILE_FORMS = {
  csv: { content: 'text/csv', id: 'Csv', title: 'CSV' },
  jsonl: { content: JSON_LINES, id: 'JsonLines', title: 'JSON Lines' },
} as const;
type FileForm = keyof typeof FILE_FORMS;

/** Makes a row of the table of routes for each form. */
export const inEachForm = (row: (form: FileForm, facts: (typeof FILE_FORMS)[FileForm]) => Route): readonly Route[] =>
  keysOf(FILE_FORMS).map((form) => row(form, FILE_FORMS[form]));

interface RowForms<Row, Shown> {
  readonly columns: CsvColumns<Shown>;
  /** The columns are those of what this returns. */
  readonly shownOf: (row: Row) => Shown;
  /** Returns an object for a line of JSON. */
  readonly reply: (row: Row) => unknown;
}

/** `name` is the file's, without extension. */
export const rowsFile = <Row, Shown>(
  form: FileForm,
  name: string,
  pages: Pages<Row>,
  { columns, shownOf, reply }: RowForms<Row, Shown>,
): RawAnswer =>
  form === 'csv'
    ? csvFile(name, columns, pages, shownOf)
    : {
        body: new PacedBody(pages.as((rows) => csvText('', rows, (row) => `${JSON.stringify(reply(row))}\n`))),
        type: `${JSON_LINES}; charset=utf-8`,
        headers: asDownload(`${name}.jsonl`),
      };
