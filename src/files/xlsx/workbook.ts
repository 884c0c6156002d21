/** XLSX files (ECMA-376): their sheets, the texts of cells, number formats and links. */

import { tooLarge, unreadable } from '../problems.ts';
import type { RawBatch } from '../rows.ts';
import type { RandomAccess } from '../spool.ts';
import { type Book, mailtoOf, SheetRating, type SheetSurvey, SURVEYED_SHEETS, withLink } from './book.ts';
import { RowCollector } from './row-collector.ts';
import { type NumberStyle, numberText, styleOf } from './styles.ts';
import type { BookLimits } from './thread-messages.ts';
import { attributeOf, eachAttribute, scanXml, type XmlHandler, XmlScanner } from './xml.ts';
import { openZip, type Zip } from './zip-read.ts';

/** The parts that only say where others are. */
const SMALL_PART_BYTES = 8 << 20;
/** A sheet of a million rows has about 200 MB of XML with five columns. */
const SHEET_BYTES = 2 ** 31;
const STRINGS_BYTES = 2 ** 29;
const STYLES_BYTES = 2 ** 26;
/**
 * Rows are given away when their texts and cells are so large, which is looked at every so many bytes of XML: a cell of
 * a few bytes can refer to a text as long as a row may be.
 */
const SHEET_BATCH_BYTES = 2 ** 18;
const SHEET_SLICE_BYTES = 2 ** 11;
/** As many links a sheet has at most. */
const LINKS_MAX = 65_530;

type BookContext = Omit<SheetContext, 'links' | 'limits'>;

interface Relationship {
  readonly id: string;
  /** The last word of its URI: strict and transitional files differ before it. */
  readonly type: string;
  /** The name of a part, or for what is outside of the file its URI. */
  readonly target: string;
  readonly isExternal: boolean;
}

/** Only what cells show is read, and addresses that they link to; no other parts. */
export async function openXlsx(file: Pick<RandomAccess, 'sizeBytes' | 'read'>, limits: BookLimits): Promise<Book> {
  const zip = await openZip(file);
  const path = await mainPartOf(zip);
  const { named, is1904 } = await sheetsOf(zip, path);
  const related = await relationshipsOf(zip, path);
  const worksheets = related.filter(({ type }) => type === 'worksheet');
  const listed = named.flatMap(({ id, ...sheet }) => {
    const part = worksheets.find((relationship) => relationship.id === id)?.target;
    return part === undefined ? [] : [{ ...sheet, part }];
  });
  const [first] = worksheets;
  const parts = listed.length > 0 || first === undefined ? listed : [{ name: '', isVisible: true, part: first.target }];
  const partOf = (type: string) => zip.find(related.find((relationship) => relationship.type === type)?.target ?? '');
  const [texts, styles] = [partOf('sharedStrings'), partOf('styles')];
  const context: BookContext = {
    strings: texts === undefined ? null : await readSharedStrings(zip.read(texts, STRINGS_BYTES), limits.rowBytes),
    styles: styles === undefined ? [] : await readStyles(zip.read(styles, STYLES_BYTES)),
    is1904,
  };
  const rows = (index: number) => xmlSheetRows(zip, parts[index]?.part ?? '', context, limits, file.sizeBytes);
  const sheets: SheetSurvey[] = [];
  for (const [index, { name, isVisible }] of parts.entries()) {
    const rating = new SheetRating();
    sheets.push({ name, isVisible, rating });
    if (isVisible && parts.length > 1 && index < SURVEYED_SHEETS) await rateSheet(rating, rows(index));
  }
  return { sheets, rows };
}

async function rateSheet(rating: SheetRating, batches: AsyncIterable<RawBatch>): Promise<void> {
  for await (const { rows } of batches) for (const { cells } of rows) if (rating.add(cells)) return;
}

/** The part of the workbook, or whatever document the file is. */
export async function mainPartOf(zip: Zip): Promise<string> {
  const [main] = (await relationshipsOf(zip, '')).filter(({ type }) => type === 'officeDocument');
  return main?.target ?? 'xl/workbook.xml';
}

async function* xmlSheetRows(
  zip: Zip,
  part: string,
  context: BookContext,
  limits: BookLimits,
  fileBytes: number,
): AsyncGenerator<RawBatch, void, undefined> {
  const sheet = zip.find(part);
  if (sheet === undefined) throw unreadable('the XLSX file lacks one of its sheets');
  const read = (at?: (packedBytes: number) => void) => zip.read(sheet, SHEET_BYTES, at);
  const handler = new SheetRows({ ...context, links: await linksOf(zip, part, read), limits });
  const { rows } = handler;
  let packedBytes = 0;
  const scanner = new XmlScanner(handler);
  for await (const piece of read((count) => (packedBytes = count))) {
    const bytes = (packedBytes / Math.max(1, sheet.packedBytes)) * fileBytes;
    for (let at = 0; at < piece.length; at += SHEET_SLICE_BYTES) {
      scanner.push(piece.subarray(at, at + SHEET_SLICE_BYTES));
      if (rows.bytes >= SHEET_BATCH_BYTES) yield { rows: rows.take(), bytes };
    }
    yield { rows: rows.take(), bytes };
  }
  scanner.end();
}

const IGNORE_XML = { wantsText: false, open: () => undefined, close: () => undefined, text: () => undefined };

/** Addresses that cells of a sheet link to. They are behind its rows, so a sheet with such links is read twice. */
async function linksOf(
  zip: Zip,
  part: string,
  read: () => AsyncIterable<Buffer>,
): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, string>();
  for (const { id, isExternal, target } of await relationshipsOf(zip, part)) {
    const address = isExternal ? mailtoOf(target) : null;
    if (address !== null && targets.size < LINKS_MAX) targets.set(id, address);
  }
  const links = new Map<string, string>();
  if (targets.size === 0) return links;
  await scanXml(read(), {
    ...IGNORE_XML,
    open(name, tag) {
      if (name !== 'hyperlink' || links.size >= LINKS_MAX) return;
      const [place = ''] = (attributeOf(tag, 'ref') ?? '').split(':');
      const address = targets.get(attributeOf(tag, 'id') ?? '');
      if (place !== '' && address !== undefined) links.set(place, address);
    },
  });
  return links;
}

/** The relationships of a part; an empty path stands for the whole file. */
async function relationshipsOf(zip: Zip, path: string): Promise<Relationship[]> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const entry = zip.find(`${folder}_rels/${path.slice(folder.length)}.rels`);
  const found: Relationship[] = [];
  if (entry === undefined) return found;
  await scanXml(zip.read(entry, SMALL_PART_BYTES), {
    ...IGNORE_XML,
    open(name, tag) {
      if (name !== 'Relationship') return;
      const isExternal = attributeOf(tag, 'TargetMode') === 'External';
      const [id, type = '', target = ''] = ['Id', 'Type', 'Target'].map(
        (attribute) => attributeOf(tag, attribute) ?? '',
      );
      if (!id || !target) return;
      const place = isExternal ? target : join(folder, target);
      found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: place, isExternal });
    },
  });
  return found;
}

/** Targets are relative to the folder of their part. */
function join(folder: string, target: string): string {
  if (target.startsWith('/')) return target.slice(1);
  const parts: string[] = [];
  for (const part of `${folder}${target}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

interface NamedSheet {
  readonly name: string;
  readonly id: string;
  readonly isVisible: boolean;
}

/** `is1904`: days are counted from 1904 instead of 1900. */
async function sheetsOf(zip: Zip, path: string): Promise<{ named: NamedSheet[]; is1904: boolean }> {
  const entry = zip.find(path);
  if (entry === undefined) throw unreadable('it is a ZIP archive, but not an XLSX file');
  const named: NamedSheet[] = [];
  let is1904 = false;
  await scanXml(zip.read(entry, SMALL_PART_BYTES), {
    ...IGNORE_XML,
    open(name, tag) {
      if (name === 'sheet') {
        const isVisible = (attributeOf(tag, 'state') ?? 'visible') === 'visible';
        named.push({ name: attributeOf(tag, 'name') ?? '', id: attributeOf(tag, 'id') ?? '', isVisible });
      }
      if (name === 'workbookPr') is1904 = /^(1|true)$/.test(attributeOf(tag, 'date1904') ?? '');
    },
  });
  return { named, is1904 };
}

interface SheetContext {
  readonly strings: SharedStrings | null;
  readonly styles: readonly NumberStyle[];
  readonly is1904: boolean;
  /** Addresses that cells link to, by their place, such as `A2`. */
  readonly links: ReadonlyMap<string, string>;
  readonly limits: BookLimits;
}

/** Collects rows with text. Rows that only have a format are left out like those that the sheet leaves out. */
class SheetRows implements XmlHandler {
  wantsText = false;
  readonly rows: RowCollector;
  readonly #context: SheetContext;
  #line = 0;
  #column = 0;
  #place = '';
  #type = '';
  #style = 0;
  #value = '';
  #formula = '';
  #inFormula = false;
  #phonetic = 0;

  constructor(context: SheetContext) {
    this.#context = context;
    this.rows = new RowCollector(context.limits);
  }

  open(name: string, tag: string): void {
    if (name === 'c') this.#openCell(tag);
    else if (name === 'v') this.wantsText = true;
    else if (name === 't') this.wantsText = this.#phonetic === 0;
    else if (name === 'f') this.wantsText = this.#inFormula = true;
    else if (name === 'rPh') this.#phonetic += 1;
    else if (name === 'row') this.#openRow(tag);
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.wantsText = false;
    else if (name === 'f') this.wantsText = this.#inFormula = false;
    else if (name === 'c') this.#closeCell();
    else if (name === 'rPh') this.#phonetic -= 1;
    else if (name === 'row') this.rows.endRow();
  }

  text(piece: string): void {
    if (this.#inFormula) {
      if (this.#formula.length <= FORMULA_LENGTH) this.#formula += piece;
      return;
    }
    // What is longer than a row may be makes the row too large, however long it is.
    if (this.#value.length <= this.#context.limits.rowBytes) this.#value += piece;
  }

  #openRow(tag: string): void {
    const given = attributeOf(tag, 'r');
    const line = given === null ? this.#line + 1 : Number(given);
    if (!Number.isSafeInteger(line) || line < 1) throw unreadable('a row has no valid number', this.#line + 1);
    this.#line = line;
    this.#column = 0;
    this.rows.startRow(line);
  }

  #openCell(tag: string): void {
    const { at, place, type, style } = cellTag(tag);
    this.#column = at ?? this.#column + 1;
    this.#place = place;
    this.#type = type;
    this.#style = style;
    this.#value = '';
    this.#formula = '';
  }

  #closeCell(): void {
    let text = this.#textOf(this.#value);
    if (this.#formula !== '') text = this.#withFormula(text);
    const link = this.#context.links.get(this.#place);
    if (link !== undefined) text = withLink(text, link);
    this.#value = '';
    this.#formula = '';
    // A cell may have only a format.
    if (text !== '') this.rows.setCell(this.#column, text);
  }

  #textOf(value: string): string {
    if (this.#type === 's') return this.#context.strings?.at(value === '' ? -1 : Number(value)) ?? '';
    if (this.#type === 'b') return value === '1' ? 'TRUE' : value === '0' ? 'FALSE' : value;
    if (this.#type === 'inlineStr' || this.#type === 'str') return unescapeText(value);
    if (this.#type === 'e' || this.#type === 'd' || value.trim() === '') return value;
    const number = Number(value);
    if (!Number.isFinite(number)) return value;
    return numberText(number, this.#context.styles[this.#style] ?? null, this.#context.is1904);
  }

  /** Programs may leave it to Excel to calculate: what cannot be read without it is shown as it is. */
  #withFormula(text: string): string {
    const isLink = /^\s*(_xlfn\.)?HYPERLINK\s*\(/i.test(this.#formula);
    if (text !== '' && !isLink) return text;
    const found = evaluateFormula(this.#formula, (place) => this.#cellAt(place));
    if (found === null) return text === '' ? `=${this.#formula}` : text;
    const shown = text === '' ? found.text : text;
    const address = found.link === null ? null : mailtoOf(found.link);
    return address === null ? shown : withLink(shown, address);
  }

  /** It looks at cells of the same row. */
  #cellAt(place: string): string | null {
    const column = columnOf(place);
    return column !== null && place.replace(/^[A-Z]+/, '') === String(this.#line) ? this.rows.cell(column) : null;
  }
}

interface CellTag {
  /** Counts columns from 1; null: the next one. */
  at: number | null;
  place: string;
  type: string;
  style: number;
}

function cellTag(tag: string): CellTag {
  const cell: CellTag = { at: null, place: '', type: '', style: 0 };
  eachAttribute(tag, (name, value) => {
    if (name === 'r') {
      cell.at = columnOf(value);
      cell.place = value;
    } else if (name === 't') cell.type = value === 'n' ? '' : value;
    else if (name === 's') cell.style = Number(value);
  });
  return cell;
}

const LETTER_A = 65;
const LETTERS = 26;

/** `A5` → 1, `AB7` → 28; no sheet has more than three letters. */
function columnOf(reference: string): number | null {
  let column = 0;
  for (let at = 0; at < 3; at++) {
    const letter = (reference.charCodeAt(at) & ~0x20) - LETTER_A;
    if (!(letter >= 0 && letter < LETTERS)) break;
    column = column * LETTERS + letter + 1;
  }
  return column === 0 ? null : column;
}

// Formulas that make text, where a program wrote them without their values.

/** Longer ones are not evaluated. */
const FORMULA_LENGTH = 8_192;
const FORMULA_DEPTH_MAX = 20;

interface FormulaValue {
  readonly text: string;
  /** HYPERLINK gives the target. */
  readonly link: string | null;
}

/**
 * Texts and cells joined by `&` and a few functions; null for everything else. `cellAt`: the text of a cell such as
 * `$A2`, null where it is not known.
 */
function evaluateFormula(formula: string, cellAt: (reference: string) => string | null): FormulaValue | null {
  if (formula.length > FORMULA_LENGTH) return null;
  const tokens = formulaTokens(formula);
  if (tokens === null) return null;
  let at = 0;
  const value = joined(0);
  return value !== null && at === tokens.length ? value : null;

  function take(wanted: string): boolean {
    if (tokens?.[at] !== wanted) return false;
    at += 1;
    return true;
  }

  function joined(depth: number): FormulaValue | null {
    let value = operand(depth);
    while (value !== null && take('&')) {
      const next = operand(depth);
      value = next === null ? null : { text: value.text + next.text, link: null };
    }
    return value;
  }

  function operand(depth: number): FormulaValue | null {
    const token = tokens?.[at];
    if (token === undefined || depth > FORMULA_DEPTH_MAX) return null;
    at += 1;
    if (token.startsWith('"')) return { text: token.slice(1, -1).replaceAll('""', '"'), link: null };
    if (/^[\d.]/.test(token)) return { text: token, link: null };
    if (token === '(') {
      const inner = joined(depth + 1);
      return take(')') ? inner : null;
    }
    if (take('(')) return called(token.toUpperCase(), depth + 1);
    const text = cellAt(token.replaceAll('$', '').toUpperCase());
    return text === null ? null : { text, link: null };
  }

  function called(name: string, depth: number): FormulaValue | null {
    const values: FormulaValue[] = [];
    do {
      const value = joined(depth);
      if (value === null) return null;
      values.push(value);
    } while (take(',') || take(';'));
    return take(')') ? (FUNCTIONS[name.replace(/^_XLFN\./, '')]?.(values.map(({ text }) => text)) ?? null) : null;
  }
}

const plainValue = (text: string): FormulaValue => ({ text, link: null });
const FUNCTIONS: Readonly<Record<string, (texts: readonly string[]) => FormulaValue>> = {
  CONCATENATE: (texts) => plainValue(texts.join('')),
  CONCAT: (texts) => plainValue(texts.join('')),
  LOWER: ([text = '']) => plainValue(text.toLowerCase()),
  UPPER: ([text = '']) => plainValue(text.toUpperCase()),
  TRIM: ([text = '']) => plainValue(text.trim().replaceAll(/ +/g, ' ')),
  T: ([text = '']) => plainValue(text),
  HYPERLINK: ([link = '', text = link]) => ({ text, link }),
};

/** Null: it has something that is none. */
function formulaTokens(formula: string): string[] | null {
  const tokens: string[] = [];
  const token = /\s*("(?:[^"]|"")*"|[A-Za-z_$][\w.$]*|\d[\d.]*|[&(),;])/y;
  const text = formula.trim().replace(/^=/, '');
  while (token.lastIndex < text.length) {
    const [, found] = token.exec(text) ?? [];
    if (found === undefined) return null;
    tokens.push(found);
  }
  return tokens;
}

// The texts that cells refer to by number.

const TEXTS_BYTES = 128 << 20;
const TEXTS_MAX = 4_000_000;
/** Both are powers of two. */
const CHUNK_BYTES = 1 << 20;
const PAGE_TEXTS = 1 << 15;

/**
 * Texts as UTF-8 in a few buffers, and four bytes for the place of each: a million strings would take three times the
 * memory.
 */
export class SharedStrings {
  readonly #chunks: { readonly bytes: Buffer; used: number }[] = [];
  /**
   * Where each text begins: the number of its chunk times its size, and the place in it. It ends where the next one
   * begins.
   */
  readonly #pages: Uint32Array[] = [];
  readonly #rowBytes: number;
  #count = 0;
  #bytes = 0;

  constructor(rowBytes: number) {
    this.#rowBytes = rowBytes;
  }

  at(index: number): string {
    if (!(index >= 0 && index < this.#count)) return '';
    const place = this.#placeOf(index);
    const number = Math.floor(place / CHUNK_BYTES);
    const chunk = this.#chunks[number];
    const next = index + 1 < this.#count ? this.#placeOf(index + 1) - number * CHUNK_BYTES : CHUNK_BYTES;
    return chunk?.bytes.toString('utf8', place % CHUNK_BYTES, Math.min(next, chunk.used)) ?? '';
  }

  /** One that is longer than a row may be is cut to a length that still is. */
  add(given: string): void {
    const text = given.length > this.#rowBytes ? given.slice(0, this.#rowBytes + 1) : given;
    const bytes = Buffer.byteLength(text);
    this.#bytes += bytes;
    if (this.#bytes > TEXTS_BYTES) throw tooLarge(TEXTS_BYTES, 'bytes of text in the XLSX file');
    if (this.#count === TEXTS_MAX) throw tooLarge(TEXTS_MAX, 'texts in the XLSX file');
    const chunk = this.#chunkFor(bytes);
    const at = this.#count % PAGE_TEXTS;
    if (at === 0) this.#pages.push(new Uint32Array(PAGE_TEXTS));
    this.#pages.at(-1)?.fill((this.#chunks.length - 1) * CHUNK_BYTES + chunk.used, at, at + 1);
    chunk.bytes.write(text, chunk.used);
    chunk.used += bytes;
    this.#count += 1;
  }

  #chunkFor(bytes: number): { readonly bytes: Buffer; used: number } {
    const last = this.#chunks.at(-1);
    // A place at the very end would be one of the next chunk.
    if (last !== undefined && last.used + bytes < CHUNK_BYTES) return last;
    const chunk = { bytes: Buffer.allocUnsafeSlow(CHUNK_BYTES), used: 0 };
    this.#chunks.push(chunk);
    return chunk;
  }

  #placeOf(index: number): number {
    return this.#pages[Math.floor(index / PAGE_TEXTS)]?.[Math.trunc(index) % PAGE_TEXTS] ?? 0;
  }
}

/** `<si><t>Jane</t></si>`, or several `<t>` in runs; those in `<rPh>` are only how to pronounce it. */
async function readSharedStrings(pieces: AsyncIterable<Buffer>, rowBytes: number): Promise<SharedStrings> {
  const strings = new SharedStrings(rowBytes);
  let text = '';
  let phonetic = 0;
  const handler = {
    wantsText: false,
    open(name: string) {
      if (name === 'si') text = '';
      else if (name === 'rPh') phonetic += 1;
      else if (name === 't') handler.wantsText = phonetic === 0;
    },
    close(name: string) {
      if (name === 't') handler.wantsText = false;
      else if (name === 'rPh') phonetic -= 1;
      else if (name === 'si') strings.add(unescapeText(text));
    },
    text(piece: string) {
      if (text.length <= rowBytes) text += piece;
    },
  };
  await scanXml(pieces, handler);
  return strings;
}

// Texts of cells. ECMA-376 22.9.2.19: `_x000D_` stands for a character that XML cannot have.

const ESCAPE = /_x([0-9A-Fa-f]{4})_/g;

const unescapeText = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(ESCAPE, (whole, hex: string) =>
        hex === '0000' ? whole : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;

/** ECMA-376 18.8.30: formats that files need not define; those of East Asian locales are dates, too. */
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
/** As many cell formats has a workbook at most. */
const STYLES_MAX = 65_490;

/** Reads them by the number of the style of a cell. */
async function readStyles(pieces: AsyncIterable<Buffer>): Promise<readonly NumberStyle[]> {
  const ofFile = new Map<number, NumberStyle>();
  const styles: NumberStyle[] = [];
  let inCells = false;
  await scanXml(pieces, {
    wantsText: false,
    open(name, tag) {
      if (name === 'numFmt' && ofFile.size < STYLES_MAX)
        ofFile.set(Number(attributeOf(tag, 'numFmtId')), styleOf(attributeOf(tag, 'formatCode') ?? ''));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells && styles.length < STYLES_MAX) {
        const id = Number(attributeOf(tag, 'numFmtId'));
        const given = ofFile.get(id);
        styles.push(given !== undefined ? given : isBuiltInDate(id) ? 'date' : null);
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
    text: () => undefined,
  });
  return styles;
}
