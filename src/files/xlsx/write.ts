/** Writes an XLSX file (ECMA-376, transitional) with one sheet, piece by piece. */
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { unreadable } from '../problems.ts';
import type { ResultCell } from '../result-columns.ts';

/** The records of a ZIP file (PKWARE APPNOTE 6.3.10) written here are enough for entries below 4 GiB. */

interface ZipPart {
  readonly name: string;
  readonly crc: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  /** The local header of the part begins at this offset. */
  readonly at: number;
}

const ZIP_VERSION = 20;
const DEFLATED = 8;
/** Sizes and checksum follow the content; names are UTF-8. */
const ZIP_FLAGS = 0x0808;
/** 1 January 1980, the earliest date: the same rows give the same file. */
const DATE = 0x21;

function localHeader(name: string): Buffer {
  const header = Buffer.alloc(30 + name.length);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(ZIP_VERSION, 4);
  header.writeUInt16LE(ZIP_FLAGS, 6);
  header.writeUInt16LE(DEFLATED, 8);
  header.writeUInt16LE(DATE, 12);
  header.writeUInt16LE(name.length, 26);
  header.write(name, 30, 'latin1');
  return header;
}

function dataDescriptor({ crc, packedBytes, sizeBytes }: ZipPart): Buffer {
  const descriptor = Buffer.alloc(16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(crc, 4);
  descriptor.writeUInt32LE(packedBytes, 8);
  descriptor.writeUInt32LE(sizeBytes, 12);
  return descriptor;
}

/** Returns the directory, which is at `at`, and the end of the file. */
function directory(parts: readonly ZipPart[], at: number): Buffer {
  const entries = parts.map((part) => {
    const entry = Buffer.alloc(46 + part.name.length);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(ZIP_VERSION, 4);
    entry.writeUInt16LE(ZIP_VERSION, 6);
    entry.writeUInt16LE(ZIP_FLAGS, 8);
    entry.writeUInt16LE(DEFLATED, 10);
    entry.writeUInt16LE(DATE, 14);
    entry.writeUInt32LE(part.crc, 16);
    entry.writeUInt32LE(part.packedBytes, 20);
    entry.writeUInt32LE(part.sizeBytes, 24);
    entry.writeUInt16LE(part.name.length, 28);
    entry.writeUInt32LE(part.at, 42);
    entry.write(part.name, 46, 'latin1');
    return entry;
  });
  const list = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([list, end]);
}

/**
 * How far the sheet is. Every piece is packed on its own, so another writer can continue from here. `verify --resume`
 * reads it from a file that may be one of an earlier version: its fields keep their names.
 */
export interface XlsxState {
  /** Counts the rows written. */
  readonly rows: number;
  /** Covers the XML of the sheet so far. */
  readonly crc: number;
  /** The size of the sheet's XML is in octets. */
  readonly size: number;
  /** The size of the packed sheet is in octets. */
  readonly packed: number;
}

const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OFFICE = 'http://schemas.openxmlformats.org';
const MAIN = `${OFFICE}/spreadsheetml/2006/main`;
const RELATIONSHIPS = `${OFFICE}/officeDocument/2006/relationships`;
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const rels = (...parts: readonly (readonly [type: string, target: string])[]): string =>
  `${XML_DECLARATION}<Relationships xmlns="${OFFICE}/package/2006/relationships">${parts
    .map(([type, target], i) => `<Relationship Id="rId${i + 1}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

const FIXED_PARTS: readonly (readonly [name: string, xml: string])[] = [
  [
    '[Content_Types].xml',
    `${XML_DECLARATION}<Types xmlns="${OFFICE}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`,
  ],
  ['_rels/.rels', rels(['officeDocument', 'xl/workbook.xml'])],
  ['xl/_rels/workbook.xml.rels', rels(['worksheet', 'worksheets/sheet1.xml'], ['styles', 'styles.xml'])],
  // A cell with the style 1 is a date, one with the style 2 has a time.
  [
    'xl/styles.xml',
    `${XML_DECLARATION}<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf xfId="0"/><xf numFmtId="164" applyNumberFormat="1" xfId="0"/><xf numFmtId="165" applyNumberFormat="1" xfId="0"/></cellXfs></styleSheet>`,
  ],
  [
    'xl/workbook.xml',
    `${XML_DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="Results" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  ],
];
const SHEET = 'xl/worksheets/sheet1.xml';
const SHEET_HEAD = `${XML_DECLARATION}<worksheet xmlns="${MAIN}"><sheetData>`;
const SHEET_END = '</sheetData></worksheet>';

/** The format has these limits. */
const XLSX_CELL_LENGTH = 32_767;
const ZIP_PART_BYTES = 0xffff_ffff;

/** Ends deflate with an empty last block (RFC 1951). */
const DEFLATE_END = Buffer.from([3, 0]);
/** A piece ends at a byte, and refers to nothing before it. */
const PIECE = { finishFlush: constants.Z_SYNC_FLUSH, level: 5 };

/** The parts before the sheet are always the same. */
const PARTS_BEFORE_SHEET = fixedParts();

function fixedParts(): { bytes: Buffer; parts: ZipPart[] } {
  const pieces: Buffer[] = [];
  const parts: ZipPart[] = [];
  let at = 0;
  for (const [name, xml] of FIXED_PARTS) {
    const content = deflateRawSync(xml);
    const part = { name, crc: crc32(xml), packedBytes: content.length, sizeBytes: Buffer.byteLength(xml), at };
    const piece = Buffer.concat([localHeader(name), content, dataDescriptor(part)]);
    pieces.push(piece);
    parts.push(part);
    at += piece.length;
  }
  return { bytes: Buffer.concat(pieces), parts };
}

export interface Written {
  readonly piece: Uint8Array;
  /** The file is in this state behind the piece. */
  readonly state: XlsxState;
}

const START: XlsxState = { rows: 0, crc: 0, size: 0, packed: 0 };

/** Writes the file up to and with the first row. */
export function writeHead(names: readonly string[]): Written {
  const { piece, state } = deflated(START, SHEET_HEAD + rowXml(1, names), 1);
  return { piece: Buffer.concat([PARTS_BEFORE_SHEET.bytes, localHeader(SHEET), piece]), state };
}

/** Computes for some 5 µs per row. Throws FileError for more than an XLSX file can hold. */
export const writeRows = (state: XlsxState, rows: readonly (readonly XlsxCell[])[]): Written =>
  deflated(state, rows.map((cells, i) => rowXml(state.rows + 1 + i, cells)).join(''), rows.length);

/** What follows the last row. */
export function writeEnd(before: XlsxState): Uint8Array {
  const { piece, state } = deflated(before, SHEET_END, 0, DEFLATE_END);
  const part = {
    name: SHEET,
    crc: state.crc,
    sizeBytes: state.size,
    packedBytes: state.packed,
    at: PARTS_BEFORE_SHEET.bytes.length,
  };
  const descriptor = dataDescriptor(part);
  const at = part.at + localHeader(SHEET).length + state.packed + descriptor.length;
  return Buffer.concat([piece, descriptor, directory([...PARTS_BEFORE_SHEET.parts, part], at)]);
}

/** `end` is that of the packed sheet. */
function deflated(before: XlsxState, text: string, rows: number, end: Buffer = Buffer.alloc(0)): Written {
  const xml = Buffer.from(text);
  const size = before.size + xml.length;
  if (size > ZIP_PART_BYTES) throw unreadable('its results are larger than an XLSX file can be; write CSV instead');
  const piece = Buffer.concat([deflateRawSync(xml, PIECE), end]);
  const state = {
    rows: before.rows + rows,
    crc: crc32(xml, before.crc),
    size,
    packed: before.packed + piece.length,
  };
  return { piece, state };
}

const rowXml = (row: number, cells: readonly XlsxCell[]): string =>
  `<row r="${row}">${cells.map((cell, column) => cellXml(cell, `${columnLetters(column)}${row}`)).join('')}</row>`;

/** The date is in days since 30 December 1899. */
interface DateCell {
  readonly days: number;
}
export type XlsxCell = ResultCell | DateCell;

/** Texts are texts, never formulas. */
function cellXml(value: XlsxCell, place: string): string {
  if (value === null || value === '') return '';
  if (typeof value === 'object')
    return `<c r="${place}" s="${Number.isInteger(value.days) ? 1 : 2}"><v>${value.days}</v></c>`;
  if (typeof value === 'number') return `<c r="${place}"><v>${value}</v></c>`;
  if (typeof value === 'boolean') return `<c r="${place}" t="b"><v>${value ? 1 : 0}</v></c>`;
  const text = escapeText(value.length > XLSX_CELL_LENGTH ? value.slice(0, XLSX_CELL_LENGTH) : value);
  return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
}

const LETTERS = 26;
const known: string[] = [];
/** 0 → A, 27 → AB */
const columnLetters = (column: number): string => (known[column] ??= lettersOfColumn(column));
const lettersOfColumn = (column: number): string =>
  (column < LETTERS ? '' : lettersOfColumn(Math.floor(column / LETTERS) - 1)) +
  String.fromCharCode(65 + (column % LETTERS));

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** As XML. Lone surrogates, which UTF-8 cannot have, become U+FFFD. */
function escapeText(text: string): string {
  if (!/[&<>"\p{Cc}\p{Cs}\ufffe\uffff]|_x/u.test(text)) return text;
  return text
    .toWellFormed()
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
    .replaceAll(
      /[\0-\x08\x0b-\x1f\ufffe\uffff]/g,
      (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    );
}
