/** Workbooks that are one document with their tables one after the other: OpenDocument, XML of Excel 2003, HTML. */

import { tooLarge, unreadable } from '../problems.ts';
import type { RawBatch } from '../rows.ts';
import { type Book, SheetRating, type SheetSurvey, SURVEYED_SHEETS, withMailto } from './book.ts';
import { RowCollector } from './row-collector.ts';
import { dateCell } from './styles.ts';
import type { BookLimits } from './thread-messages.ts';
import { attributeOf, type Markup, type XmlHandler, XmlScanner } from './xml.ts';

/** What reads a document: it tells the rows of all tables. */
interface DocumentReader extends XmlHandler {
  readonly tables: DocumentTables;
}

const READERS = {
  ods: (tables: DocumentTables) => new OpenDocument(tables),
  spreadsheetml: (tables: DocumentTables) => new SpreadsheetMl(tables),
  html: (tables: DocumentTables) => new HtmlTables(tables),
} as const satisfies Record<string, (tables: DocumentTables) => DocumentReader>;
type DocumentFormat = keyof typeof READERS;

const DOCUMENT_BATCH_BYTES = 2 ** 18;
const DOCUMENT_SLICE_BYTES = 2 ** 12;
const TABLES_MAX = 1_000;

/**
 * `read` yields the document from its beginning; `bytesOf` says how many bytes of the file belong to so many of the
 * document.
 */
export async function openDocument(
  format: DocumentFormat,
  read: () => AsyncIterable<Buffer>,
  limits: BookLimits,
  bytesOf: (read: number) => number,
): Promise<Book> {
  const markup: Markup = format === 'html' ? 'html' : 'xml';
  const survey = new DocumentTables(limits, null);
  const scanner = new XmlScanner(READERS[format](survey), markup);
  for await (const piece of read()) scanner.push(piece);
  scanner.end();
  survey.end();
  if (format === 'html' && survey.sheets.every(({ rating }) => rating.rank === 0))
    throw unreadable('it is a web page (HTML) without a table of addresses; copy the addresses into a CSV file');
  return { sheets: survey.sheets, rows: (index) => rowsOf(index) };

  async function* rowsOf(index: number): AsyncGenerator<RawBatch, void, undefined> {
    const tables = new DocumentTables(limits, index);
    const reader = new XmlScanner(READERS[format](tables), markup);
    let bytes = 0;
    for await (const piece of read()) {
      for (let at = 0; at < piece.length; at += DOCUMENT_SLICE_BYTES) {
        const slice = piece.subarray(at, at + DOCUMENT_SLICE_BYTES);
        reader.push(slice);
        bytes += slice.length;
        if (tables.rows.bytes >= DOCUMENT_BATCH_BYTES) yield { rows: tables.rows.take(), bytes: bytesOf(bytes) };
        if (tables.isOver) {
          yield { rows: tables.rows.take(), bytes: bytesOf(bytes) };
          return;
        }
      }
      yield { rows: tables.rows.take(), bytes: bytesOf(bytes) };
    }
    tables.end();
    yield { rows: tables.rows.take(), bytes: bytesOf(bytes) };
  }
}

interface DocumentTable extends SheetSurvey {
  name: string;
  isVisible: boolean;
}

/** Where a table is. */
interface TablePlace {
  readonly index: number;
  line: number;
  column: number;
}

/** The tables of a document; of one of them the rows are collected, otherwise all are rated. */
class DocumentTables {
  readonly sheets: DocumentTable[] = [];
  readonly rows: RowCollector;
  readonly #limits: BookLimits;
  readonly #wanted: number | null;
  /** Tables may be in cells of others. */
  readonly #open: TablePlace[] = [];
  #cells: string[][] = [];
  isOver = false;

  /** `wanted`: index of the table whose rows are collected; null: all are rated. */
  constructor(limits: BookLimits, wanted: number | null) {
    this.#limits = limits;
    this.#wanted = wanted;
    this.rows = new RowCollector(limits);
  }

  get depth(): number {
    return this.#open.length;
  }

  startTable(name: string | null, isVisible: boolean): void {
    const index = this.sheets.length;
    if (index === TABLES_MAX) throw tooLarge(TABLES_MAX, 'tables in the file');
    this.sheets.push({ name: name ?? `Table ${index + 1}`, isVisible, rating: new SheetRating() });
    this.#open.push({ index, line: 0, column: 0 });
    this.#cells.push([]);
  }

  /** Hides the table that ended last. */
  hide(): void {
    const table = this.sheets.at(-1);
    if (table !== undefined) table.isVisible = false;
  }

  endTable(): void {
    const place = this.#open.pop();
    this.#cells.pop();
    if (place !== undefined && place.index === this.#wanted) this.isOver = true;
  }

  /** `line` is counted from 1; null is the next one. */
  startRow(line: number | null): void {
    const place = this.#open.at(-1);
    if (place === undefined) return;
    place.line = line !== null && Number.isSafeInteger(line) && line > place.line ? line : place.line + 1;
    place.column = 0;
    this.#cells[this.#cells.length - 1] = [];
  }

  /** Moves on; `column`: from 1. */
  toColumn(column: number): void {
    const place = this.#open.at(-1);
    if (place !== undefined && Number.isSafeInteger(column) && column > place.column) place.column = column - 1;
  }

  addCell(text: string, times: number): void {
    const place = this.#open.at(-1);
    const cells = this.#cells.at(-1);
    if (place === undefined || cells === undefined) return;
    const count = Number.isSafeInteger(times) && times > 0 ? times : 1;
    if (text !== '') {
      if (place.column + count > this.#limits.columns) throw tooLarge(this.#limits.columns, 'columns', place.line);
      while (cells.length < place.column) cells.push('');
      for (let n = 0; n < count; n++) cells.push(text);
    }
    place.column += count;
  }

  endRow(times: number): void {
    const place = this.#open.at(-1);
    const cells = this.#cells.at(-1);
    if (place === undefined || cells === undefined) return;
    const count = Number.isSafeInteger(times) && times > 0 ? times : 1;
    if (cells.length > 0) {
      if (place.index === this.#wanted) this.#collect(place.line, cells, count);
      else if (this.#wanted === null && place.index < SURVEYED_SHEETS) this.sheets[place.index]?.rating.add(cells);
    }
    place.line += count - 1;
    this.#cells[this.#cells.length - 1] = [];
  }

  /** A document that ends within its tables, as HTML may. */
  end(): void {
    while (this.#open.length > 0) {
      this.endRow(1);
      this.endTable();
    }
  }

  #collect(line: number, cells: readonly string[], times: number): void {
    this.rows.startRow(line);
    for (const [i, text] of cells.entries()) if (text !== '') this.rows.setCell(i + 1, text);
    this.rows.endRow(times);
  }
}

/** Text of a cell, in bounds. */
class CellText {
  readonly #limit: number;
  text = '';
  constructor(limit: number) {
    this.#limit = limit;
  }
  add(piece: string): void {
    if (this.text.length <= this.#limit) this.text += piece;
  }
}
const DOCUMENT_CELL_LENGTH = 65_536;

/** Reads `content.xml` of OpenDocument 1.3, part 3, and the same in one file. */
class OpenDocument implements DocumentReader {
  wantsText = false;
  readonly tables: DocumentTables;
  readonly #hidden = new Set<string>();
  #style = '';
  #cell: CellText | null = null;
  #value: string | null = null;
  #times = 1;
  #rowTimes = 1;
  #paragraphs = 0;
  /** Comments are inside of cells. */
  #notes = 0;

  constructor(tables: DocumentTables) {
    this.tables = tables;
  }

  open(name: string, tag: string): void {
    if (name === 'p' || name === 'h') this.#startParagraph();
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#openCell(tag);
    else if (name === 'annotation') this.#note(1);
    else if (name === 's' && this.wantsText)
      this.text(' '.repeat(Math.min(100, Number(attributeOf(tag, 'c') ?? 1) || 1)));
    else if (name === 'tab' && this.wantsText) this.text('\t');
    else if (name === 'line-break' && this.wantsText) this.text('\n');
    else if (name === 'table-row') {
      this.#rowTimes = Number(attributeOf(tag, 'number-rows-repeated') ?? 1);
      this.tables.startRow(null);
    } else if (name === 'table' && this.#cell === null) {
      const style = attributeOf(tag, 'style-name') ?? '';
      this.tables.startTable(attributeOf(tag, 'name'), !this.#hidden.has(style));
    } else if (name === 'style') this.#style = attributeOf(tag, 'name') ?? '';
    else if (name === 'table-properties' && attributeOf(tag, 'display') === 'false') this.#hidden.add(this.#style);
  }

  close(name: string): void {
    if (name === 'p' || name === 'h') this.wantsText = false;
    else if (name === 'table-cell' || name === 'covered-table-cell') {
      const text = this.#cell?.text ?? '';
      this.tables.addCell(this.#value === null || SHOWN_DIGITS.test(text) ? text : this.#value, this.#times);
      this.#cell = null;
    } else if (name === 'annotation') this.#note(-1);
    else if (name === 'table-row') this.tables.endRow(this.#rowTimes);
    else if (name === 'table' && this.#cell === null) this.tables.endTable();
  }

  text(piece: string): void {
    // White space is one blank, as in HTML.
    this.#cell?.add(piece.replaceAll(/\s+/g, (run) => (run.includes('\n') ? ' ' : run)));
  }

  #openCell(tag: string): void {
    this.#times = Number(attributeOf(tag, 'number-columns-repeated') ?? 1);
    this.#cell = new CellText(DOCUMENT_CELL_LENGTH);
    this.#paragraphs = 0;
    this.#value = typedValue(tag);
  }

  #startParagraph(): void {
    if (this.#cell === null || this.#notes > 0) return;
    if (this.#paragraphs > 0) this.#cell.add('\n');
    this.#paragraphs += 1;
    this.wantsText = true;
  }

  #note(step: number): void {
    this.#notes += step;
  }
}

/** Zip codes and telephone numbers, which are kept as they are shown. */
const SHOWN_DIGITS = /^[0+][\d ()+-]+$/;

/** Dates and numbers as such, however they are shown; null: the text. */
function typedValue(tag: string): string | null {
  const type = attributeOf(tag, 'value-type');
  if (type === 'date') return dateCell(attributeOf(tag, 'date-value') ?? '');
  if (type === 'boolean') return attributeOf(tag, 'boolean-value')?.toUpperCase() ?? null;
  if (type === 'float' || type === 'percentage' || type === 'currency') return attributeOf(tag, 'value');
  return null;
}

/** `urn:schemas-microsoft-com:office:spreadsheet` */
class SpreadsheetMl implements DocumentReader {
  wantsText = false;
  readonly tables: DocumentTables;
  #name: string | null = null;
  #inData = false;
  #inComment = false;
  #inVisible = false;
  #visible = '';
  #text = new CellText(DOCUMENT_CELL_LENGTH);
  #type = '';
  #link: string | null = null;

  constructor(tables: DocumentTables) {
    this.tables = tables;
  }

  open(name: string, tag: string): void {
    if (name === 'Worksheet') this.#name = attributeOf(tag, 'Name');
    else if (name === 'Table') this.tables.startTable(this.#name, true);
    else if (name === 'Row') this.tables.startRow(numberOf(tag, 'Index'));
    else if (name === 'Cell') {
      this.tables.toColumn(numberOf(tag, 'Index') ?? 0);
      this.#text = new CellText(DOCUMENT_CELL_LENGTH);
      this.#type = '';
      this.#link = attributeOf(tag, 'HRef');
    } else if (name === 'Comment') this.#inComment = true;
    else if (name === 'Data' && !this.#inComment) {
      this.wantsText = this.#inData = true;
      this.#type = attributeOf(tag, 'Type') ?? '';
    } else if (name === 'Visible') {
      this.wantsText = this.#inVisible = true;
      this.#visible = '';
    }
  }

  close(name: string): void {
    if (name === 'Data') this.wantsText = this.#inData = false;
    else if (name === 'Comment') this.#inComment = false;
    else if (name === 'Cell') this.tables.addCell(this.#cellText(), 1);
    else if (name === 'Row') this.tables.endRow(1);
    else if (name === 'Table') this.tables.endTable();
    else if (name === 'Visible') {
      this.wantsText = this.#inVisible = false;
      if (/hidden/i.test(this.#visible)) this.tables.hide();
    }
  }

  text(piece: string): void {
    if (this.#inVisible && this.#visible.length < 100) this.#visible += piece;
    if (this.#inData) this.#text.add(piece);
  }

  #cellText(): string {
    const { text } = this.#text;
    if (this.#type === 'DateTime') return dateCell(text);
    if (this.#type === 'Boolean') return text === '1' ? 'TRUE' : 'FALSE';
    return this.#link === null ? text : withMailto(text, this.#link);
  }
}

const numberOf = (tag: string, name: string): number | null => {
  const value = attributeOf(tag, name);
  return value === null ? null : Number(value);
};

/** Elements whose content is no text. */
const HIDDEN: ReadonlySet<string> = new Set(['style', 'script', 'xml', 'template', 'head', 'select']);
const BLOCK_TAGS: ReadonlySet<string> = new Set(['br', 'p', 'div', 'li']);

/** Reads as leniently as browsers: cells and rows end where the next one begins. */
class HtmlTables implements DocumentReader {
  readonly tables: DocumentTables;
  /** Each open table has its open cell here. */
  readonly #cells: (CellText | null)[] = [];
  readonly #inRow: boolean[] = [];
  #spans: number[] = [];
  #hidden = '';
  #link: string | null = null;

  constructor(tables: DocumentTables) {
    this.tables = tables;
  }

  get wantsText(): boolean {
    return this.#hidden === '' && this.#cells.at(-1) != null;
  }

  open(given: string, tag: string): void {
    const name = given.toLowerCase();
    if (this.#hidden !== '') return;
    // A head may have no end.
    if (HIDDEN.has(name) && name !== 'head') this.#hidden = name;
    else if (name === 'table') {
      this.tables.startTable(null, true);
      this.#cells.push(null);
      this.#inRow.push(false);
      this.#spans.push(1);
    } else if (name === 'tr') this.#startRow();
    else if (name === 'td' || name === 'th') this.#startCell(tag);
    else if (name === 'a') this.#link = attributeOf(tag, 'href');
    else if (BLOCK_TAGS.has(name) && this.#cells.at(-1)?.text.trim()) this.#cells.at(-1)?.add('\n');
  }

  close(given: string): void {
    const name = given.toLowerCase();
    if (name === this.#hidden) this.#hidden = '';
    if (this.#hidden !== '') return;
    if (name === 'td' || name === 'th') this.#endCell();
    else if (name === 'tr') this.#endRow();
    else if (name === 'table' && this.#cells.length > 0) {
      this.#endRow();
      this.#cells.pop();
      this.#inRow.pop();
      this.#spans.pop();
      this.tables.endTable();
    }
  }

  text(piece: string): void {
    this.#cells.at(-1)?.add(piece.replaceAll(/\s+/g, ' '));
  }

  #startRow(): void {
    if (this.#inRow.length === 0) return;
    this.#endRow();
    this.#inRow[this.#inRow.length - 1] = true;
    this.tables.startRow(null);
  }

  #endRow(): void {
    this.#endCell();
    if (this.#inRow.at(-1) !== true) return;
    this.#inRow[this.#inRow.length - 1] = false;
    this.tables.endRow(1);
  }

  #startCell(tag: string): void {
    if (this.#cells.length === 0) return;
    if (this.#inRow.at(-1) !== true) this.#startRow();
    this.#endCell();
    this.#link = null;
    this.#cells[this.#cells.length - 1] = new CellText(DOCUMENT_CELL_LENGTH);
    this.#spans[this.#spans.length - 1] = Math.min(1_000, numberOf(tag, 'colspan') || 1);
  }

  #endCell(): void {
    const cell = this.#cells.at(-1);
    if (cell == null) return;
    const lines = cell.text.replaceAll('\u00a0', ' ').split('\n');
    const text = lines
      .map((line) => line.trim())
      .join('\n')
      .trim();
    this.tables.addCell(this.#link === null ? text : withMailto(text, this.#link), 1);
    const span = this.#spans.at(-1) ?? 1;
    if (span > 1) this.tables.addCell('', span - 1);
    this.#cells[this.#cells.length - 1] = null;
    this.#link = null;
  }
}
