/** What a file is, by its bytes: opened for its form. */
import type { FileForm } from '../kernel/facts/lists.ts';
import { gunzipped, openArchive } from './archives.ts';
import { readLdif, readVCards } from './contacts.ts';
import { RECOGNIZED_BYTES, recognize } from './forms.ts';
import { inputBlocks } from './input-blocks.ts';
import { openJson } from './json-rows.ts';
import { tooLarge, unreadable } from './problems.ts';
import type { ReadLimits, RowSource } from './rows.ts';
import { type RandomAccess, SpooledInput, spool } from './spool.ts';
import { cutRows, type DecodedText, openText, type TextOptions, textRows } from './text.ts';
import { readSheet } from './xlsx/threads.ts';

export interface OpenedFile {
  readonly source: RowSource;
  /** Bytes of the file that have arrived so far. */
  received(): number;
}

/** Of what a file is, as far as its sender or the user says. */
interface FormatChoice extends TextOptions {
  readonly claimed: FileForm | null;
  /** Of a workbook, by name or number. */
  readonly sheet: string | null;
  /** Of an archive, by name; of JSON, by path. */
  readonly entry: string | null;
  /** Between the cells of a row; null or missing: detected. */
  readonly delimiter?: string | null;
  /** What strings of JSON are read for: missing: addresses. */
  readonly isWanted?: (cell: string) => boolean;
}

/** The content decides; what is claimed counts where text may be of several forms. Throws FileError. */
export async function openFile(
  source: AsyncIterable<Uint8Array>,
  choice: FormatChoice,
  limits: ReadLimits,
): Promise<OpenedFile> {
  if (source instanceof SpooledInput) {
    const { file } = source;
    if (file.size > limits.bytes) throw tooLarge(limits.bytes, 'bytes');
    return { source: await openSpooled(file, choice, limits), received: () => file.size };
  }
  const { blocks, received } = inputBlocks(source, limits.bytes);
  const file = await spool(blocks);
  return { source: await owning(file, () => openSpooled(file, choice, limits)), received };
}

/** The file is closed behind the last batch. */
async function owning(file: RandomAccess, open: () => Promise<RowSource>): Promise<RowSource> {
  try {
    const source = await open();
    return { ...source, batches: closing(source.batches, file) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* closing(batches: RowSource['batches'], file: RandomAccess): RowSource['batches'] {
  try {
    yield* batches;
  } finally {
    await file.close();
  }
}

/** `isPacked`: it comes out of an archive. */
async function openSpooled(
  file: RandomAccess,
  choice: FormatChoice,
  limits: ReadLimits,
  isPacked = false,
): Promise<RowSource> {
  if (file.size === 0) throw unreadable('it is empty', 1);
  const form = recognize(await file.read(0, RECOGNIZED_BYTES));
  const { claimed, sheet, entry } = choice;
  switch (form) {
    case 'gzip':
      return openPacked(gunzipped(file, limits.bytes), null, choice, limits, isPacked);
    case 'zip': {
      const content = await openArchive(file, isPacked ? null : entry, limits.bytes);
      if (content.kind === 'workbook') return openBook(file, { ...content, sheet }, limits);
      return openPacked(content.pieces, content.name, choice, limits, isPacked);
    }
    case 'xls':
    case 'ods':
    case 'html':
    case 'spreadsheetml':
      return openBook(file, { format: form, unpacked: file.size, sheet }, limits);
    case 'vcard':
    case 'ldif': {
      const text = await openText(file, choice);
      const reader = form === 'vcard' ? readVCards(limits) : readLdif(limits);
      const batches = cutRows(text.blocks(), reader);
      return { ...aboutText(text), format: form, others: [], names: reader.names, batches };
    }
    case 'json':
    case 'ndjson':
      return openJsonText(await openText(file, choice), isPacked ? null : entry, choice, limits);
    case 'text':
      if (claimed === 'json' || claimed === 'ndjson')
        return openJsonText(await openText(file, choice), isPacked ? null : entry, choice, limits);
      return textRows(await openText(file, choice), choice.delimiter ?? null, limits);
  }
}

async function openPacked(
  pieces: AsyncGenerator<Buffer, void, undefined>,
  name: string | null,
  choice: FormatChoice,
  limits: ReadLimits,
  isPacked: boolean,
): Promise<RowSource> {
  if (isPacked) throw unreadable('it is an archive in an archive; unpack it first');
  const file = await spool(pieces);
  const source = await owning(file, () => openSpooled(file, choice, limits, true));
  return { ...source, entry: name ?? source.entry };
}

async function openBook(
  file: RandomAccess,
  choice: Parameters<typeof readSheet>[1],
  limits: ReadLimits,
): Promise<RowSource> {
  const { name, others, batches } = await readSheet(file.shared, choice, limits);
  return {
    ...{ format: choice.format, delimiter: null, encoding: null, byteOrderMark: false, entry: null, names: null },
    ...{ sheet: name, others, batches },
  };
}

async function openJsonText(
  text: DecodedText,
  entry: string | null,
  { isWanted }: FormatChoice,
  limits: ReadLimits,
): Promise<RowSource> {
  return { ...aboutText(text), ...(await openJson(() => text.blocks(), limits, entry, isWanted)) };
}

const aboutText = ({ encoding: { name, byteOrderMark }, warnings }: DecodedText) => ({
  ...{ delimiter: null, encoding: name, byteOrderMark, sheet: null, entry: null, warnings },
});
