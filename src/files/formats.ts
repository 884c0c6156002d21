/** What a file is, by its bytes: opened for its form. */
import { type Delimiter, detectDelimiter, RowSplitter } from '../kernel/csv.ts';
import { decodeText, type TextBlock } from './decode-text.ts';
import { type FileForm, formOf, jsonFormOf } from './forms.ts';
import { type InputBlocks, inputBlocks } from './input-blocks.ts';
import { readJsonArray, readNdjson } from './json-rows.ts';
import { tooLarge, unreadable } from './problems.ts';
import type { ReadLimits } from './read-file.ts';
import { boundsOf, type RawBatch, type RawRow, type RowSource } from './rows.ts';
import { SpooledInput, spool } from './spool.ts';
import { readXlsx } from './xlsx/read.ts';

export interface OpenedFile {
  readonly source: RowSource;
  /** Bytes of the file that have arrived so far. */
  received(): number;
}

/** `claimed`: what the sender says it is; null: detected. Throws FileError. */
export async function openFile(
  source: AsyncIterable<Uint8Array>,
  claimed: FileForm | null,
  limits: ReadLimits,
): Promise<OpenedFile> {
  const input = inputBlocks(source, limits.bytes);
  const first = await input.blocks.next();
  if (first.done) throw unreadable('it is empty', 1);
  const blocks = withFirst(first.value, input.blocks);
  const received = source instanceof SpooledInput ? () => source.file.size : input.received;
  try {
    const form = formOf(first.value, claimed);
    if (form === 'xlsx') return { source: openXlsx(source, blocks, limits), received };
    return { source: await openText(decodeText(blocks), form, limits, input), received };
  } catch (error) {
    await input.blocks.return();
    throw error;
  }
}

/** What was spooled already is read where it is, and closed by whom it belongs to. */
function openXlsx(
  source: AsyncIterable<Uint8Array>,
  blocks: AsyncGenerator<Buffer, void, undefined>,
  limits: ReadLimits,
): RowSource {
  if (!(source instanceof SpooledInput)) return readXlsx(() => spool(blocks), limits);
  const { file } = source;
  if (file.size > limits.bytes) throw tooLarge(limits.bytes, 'bytes');
  return readXlsx(() => Promise.resolve({ ...file, close: () => Promise.resolve() }), limits);
}

const TEXT = { encoding: 'utf-8', byteOrderMark: false, sheet: null, entry: null } as const;

async function openText(
  texts: AsyncGenerator<TextBlock, void, undefined>,
  claimed: FileForm | null,
  limits: ReadLimits,
  input: InputBlocks,
): Promise<RowSource> {
  const first = await texts.next();
  if (first.done) throw unreadable('it is empty', 1);
  const { text } = first.value;
  const form = claimed ?? jsonFormOf(text) ?? 'csv';
  if (form === 'json') input.lowerLimit(limits.jsonBytes);
  if (form === 'json' || form === 'ndjson') {
    const reader = form === 'json' ? readJsonArray(limits) : readNdjson(limits);
    const batches = textRows(withFirst(first.value, texts), reader);
    return { ...TEXT, format: form, delimiter: null, names: reader.names, batches };
  }
  const { delimiter, skip } = delimiterOf(form, text);
  const splitter = new RowSplitter(delimiter, boundsOf(limits), skip > 0 ? 2 : 1);
  const rest = withFirst({ ...first.value, text: text.slice(skip) }, texts);
  const batches = textRows(rest, splitter);
  if (delimiter === 'none') return { ...TEXT, format: 'text', delimiter: null, names: null, batches };
  return { ...TEXT, format: form, delimiter, names: null, batches };
}

function delimiterOf(form: 'csv' | 'tsv' | 'text' | 'xlsx', text: string): { delimiter: Delimiter; skip: number } {
  if (form === 'csv') return detectDelimiter(text);
  return { delimiter: form === 'tsv' ? '\t' : 'none', skip: 0 };
}

async function* withFirst<T>(first: T, rest: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}

async function* textRows(
  texts: AsyncGenerator<TextBlock, void, undefined>,
  reader: { push(text: string, final: boolean): RawRow[] },
): AsyncGenerator<RawBatch, void, undefined> {
  let bytes = 0;
  for await (const block of texts) {
    bytes = block.bytes;
    const rows = reader.push(block.text, false);
    if (rows.length > 0) yield { rows, bytes };
  }
  const rows = reader.push('', true);
  if (rows.length > 0) yield { rows, bytes };
}
