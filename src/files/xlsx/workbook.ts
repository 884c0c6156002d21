/** Where an XLSX file (ECMA-376) has its first sheet, the texts of its cells and its number formats. */
import { unreadable } from '../problems.ts';
import { attributeOf, scanXml } from './xml.ts';
import type { Zip } from './zip-read.ts';

interface Workbook {
  /** Names of parts. */
  readonly sheet: string;
  readonly sharedStrings: string | null;
  readonly styles: string | null;
  /** Days are counted from 1904 instead of 1900. */
  readonly is1904: boolean;
}

/** The parts that only say where others are. */
const SMALL_BYTES = 8 << 20;

interface Relationship {
  readonly id: string;
  /** The last word of its URI: strict and transitional files differ before it. */
  readonly type: string;
  readonly target: string;
}

export async function openWorkbook(zip: Zip): Promise<Workbook> {
  const [main] = (await relationshipsOf(zip, '')).filter(({ type }) => type === 'officeDocument');
  const path = main?.target ?? 'xl/workbook.xml';
  const { sheetId, is1904 } = await sheetsOf(zip, path);
  const related = await relationshipsOf(zip, path);
  const sheet = related.find(({ id }) => id === sheetId) ?? related.find(({ type }) => type === 'worksheet');
  if (sheet === undefined) throw unreadable('the XLSX file has no sheet');
  const targetOf = (wanted: string) => related.find(({ type }) => type === wanted)?.target ?? null;
  return { sheet: sheet.target, sharedStrings: targetOf('sharedStrings'), styles: targetOf('styles'), is1904 };
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
      if (name !== 'Relationship' || attributeOf(tag, 'TargetMode') === 'External') return;
      const [id, type = '', target] = ['Id', 'Type', 'Target'].map((attribute) => attributeOf(tag, attribute) ?? '');
      if (id && target) found.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: join(folder, target) });
    },
  });
  return found;
}

const NOTHING = { wantsText: false, open: () => undefined, close: () => undefined, text: () => undefined };

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

async function sheetsOf(zip: Zip, path: string): Promise<{ sheetId: string | null; is1904: boolean }> {
  const entry = zip.find(path);
  if (entry === undefined) throw unreadable('it is a ZIP archive, but not an XLSX file');
  let sheetId: string | null = null;
  let is1904 = false;
  await scanXml(zip.read(entry, SMALL_BYTES), {
    ...NOTHING,
    open(name, tag) {
      if (name === 'sheet') sheetId ??= attributeOf(tag, 'id');
      if (name === 'workbookPr') is1904 = /^(1|true)$/.test(attributeOf(tag, 'date1904') ?? '');
    },
  });
  return { sheetId, is1904 };
}
