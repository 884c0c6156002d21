/** XLSX files (ECMA-376): their sheets, the texts of cells, number formats and links. */
import { unreadable } from '../problems.ts';
import type { RawBatch, RowLimits } from '../rows.ts';
import type { RandomAccess } from '../spool.ts';
import { type Book, mailtoOf, SheetRating, type SheetSurvey, SURVEYED_SHEETS } from './book.ts';
import { readSharedStrings } from './shared-strings.ts';
import { SheetRows } from './sheet.ts';
import { readStyles } from './styles.ts';
import { attributeOf, scanXml, XmlScanner } from './xml.ts';
import { openZip, type Zip } from './zip-read.ts';

/** The parts that only say where others are. */
const SMALL_BYTES = 8 << 20;
/** A sheet of a million rows has about 200 MB of XML with five columns. */
const SHEET_BYTES = 2 ** 31;
const STRINGS_BYTES = 2 ** 29;
const STYLES_BYTES = 2 ** 26;
/**
 * Rows are given away when their texts and cells are so large, which is looked at every so many bytes of XML: a cell of
 * a few bytes can refer to a text as long as a row may be.
 */
const BATCH_BYTES = 2 ** 18;
const SLICE_BYTES = 2 ** 11;
/** As many links a sheet has at most. */
const LINKS_MAX = 65_530;

type Limits = RowLimits & { readonly rows: number };
type SheetContext = Omit<ConstructorParameters<typeof SheetRows>[0], 'links' | 'limits'>;

interface Relationship {
  readonly id: string;
  /** The last word of its URI: strict and transitional files differ before it. */
  readonly type: string;
  /** The name of a part, or for what is outside of the file its URI. */
  readonly target: string;
  readonly isExternal: boolean;
}

/** Only what cells show is read, and addresses that they link to; no other parts. */
export async function openXlsx(file: Pick<RandomAccess, 'size' | 'read'>, limits: Limits): Promise<Book> {
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
  const context: SheetContext = {
    strings: texts === undefined ? null : await readSharedStrings(zip.read(texts, STRINGS_BYTES), limits.rowBytes),
    styles: styles === undefined ? [] : await readStyles(zip.read(styles, STYLES_BYTES)),
    is1904,
  };
  const rows = (index: number) => sheetRows(zip, parts[index]?.part ?? '', context, limits, file.size);
  const sheets: SheetSurvey[] = [];
  for (const [index, { name, isVisible }] of parts.entries()) {
    const rating = new SheetRating();
    sheets.push({ name, isVisible, rating });
    if (isVisible && parts.length > 1 && index < SURVEYED_SHEETS) await rate(rating, rows(index));
  }
  return { sheets, rows };
}

async function rate(rating: SheetRating, batches: AsyncIterable<RawBatch>): Promise<void> {
  for await (const { rows } of batches) for (const { cells } of rows) if (rating.add(cells)) return;
}

/** The part of the workbook, or whatever document the file is. */
export async function mainPartOf(zip: Zip): Promise<string> {
  const [main] = (await relationshipsOf(zip, '')).filter(({ type }) => type === 'officeDocument');
  return main?.target ?? 'xl/workbook.xml';
}

async function* sheetRows(
  zip: Zip,
  part: string,
  context: SheetContext,
  limits: Limits,
  fileBytes: number,
): AsyncGenerator<RawBatch, void, undefined> {
  const sheet = zip.find(part);
  if (sheet === undefined) throw unreadable('the XLSX file lacks one of its sheets');
  const read = (at?: (packed: number) => void) => zip.read(sheet, SHEET_BYTES, at);
  const handler = new SheetRows({ ...context, links: await linksOf(zip, part, read), limits });
  const { rows } = handler;
  let packed = 0;
  const scanner = new XmlScanner(handler);
  for await (const piece of read((count) => (packed = count))) {
    const bytes = (packed / Math.max(1, sheet.packed)) * fileBytes;
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      scanner.push(piece.subarray(at, at + SLICE_BYTES));
      if (rows.bytes >= BATCH_BYTES) yield { rows: rows.take(), bytes };
    }
    yield { rows: rows.take(), bytes };
  }
  scanner.end();
}

const NOTHING = { wantsText: false, open: () => undefined, close: () => undefined, text: () => undefined };

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
    ...NOTHING,
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
  await scanXml(zip.read(entry, SMALL_BYTES), {
    ...NOTHING,
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
  await scanXml(zip.read(entry, SMALL_BYTES), {
    ...NOTHING,
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
