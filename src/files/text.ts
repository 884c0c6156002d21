/** Files of text: decoded, and cut into rows. */
import { counted } from '../kernel/format.ts';
import { ListSplitter } from './address-list.ts';
import { type DecodeNotes, decodeText, lineEndOf, type TextBlock } from './decode-text.ts';
import { cutterOf, detectShape, type TextShape } from './dialect.ts';
import { detectEncoding, type Encoding } from './encoding.ts';
import { unreadable } from './problems.ts';
import type { ReadWarning } from './rows.ts';
import { boundsOf, type RawBatch, type RawRow, type RowLimits, type RowSource } from './rows.ts';
import { type RandomAccess, SpooledInput } from './spool.ts';

export interface TextOptions {
  /** The charset of the media type. */
  readonly charset?: string | null;
  /** What counts whatever the bytes are. */
  readonly encoding?: string | null;
}

/** A file of text whose encoding is known. */
export interface DecodedText {
  readonly encoding: Encoding;
  /** Its beginning. */
  readonly head: string;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
  /** All of it. */
  blocks(): AsyncGenerator<TextBlock, void, undefined>;
  /** Rows of lines, from the middle and the end. */
  parts(): Promise<string[]>;
  /** About what was decoded so far. */
  warnings(): ReadWarning[];
}

const HEAD_BYTES = 256 * 1024;
const PART_BYTES = 32 * 1024;

/** Throws FileError for an encoding that is not known, and for nothing but a byte order mark. */
export async function openText(
  file: RandomAccess,
  { charset = null, encoding = null }: TextOptions,
): Promise<DecodedText> {
  const head = await file.read(0, HEAD_BYTES);
  const isWhole = head.length === file.size;
  const places = isWhole ? [] : [file.size >> 1, file.size - PART_BYTES].map((at) => Math.max(HEAD_BYTES, at & ~3));
  const parts = await Promise.all(places.map((at) => file.read(at, PART_BYTES)));
  const found = detectEncoding([head, ...parts], { stated: charset, given: encoding });
  const ascii = await decodedAll(head, found, null);
  const lineEnd = lineEndOf(ascii);
  const notes: DecodeNotes = { invalid: 0 };
  const text = lineEnd === null ? ascii : await decodedAll(head, found, lineEnd);
  if (isWhole && text === '') throw unreadable('it is empty', 1);
  return {
    encoding: found,
    head: text,
    isWhole,
    blocks: () => decodeText(new SpooledInput(file), found, lineEnd, notes),
    parts: () => Promise.all(parts.map((part) => decodedAll(part, { ...found, skip: 0 }, lineEnd))),
    warnings: () => encodingWarnings(found, notes),
  };
}

async function decodedAll(bytes: Buffer, encoding: Encoding, lineEnd: string | null): Promise<string> {
  const one = (async function* () {
    yield bytes;
  })();
  let all = '';
  for await (const { text } of decodeText(one, encoding, lineEnd, { invalid: 0 })) all += text;
  return all;
}

function encodingWarnings({ name, isGuessed }: Encoding, { invalid }: DecodeNotes): ReadWarning[] {
  const warnings: ReadWarning[] = [];
  if (isGuessed)
    warnings.push({ code: 'encoding_guessed', message: `The text was read as ${name}; its encoding is not certain.` });
  if (invalid === 0) return warnings;
  const message =
    name === 'utf-8'
      ? `${counted(invalid, 'line is', 'lines are')} not valid UTF-8 and ${invalid === 1 ? 'was' : 'were'} read as windows-1252.`
      : `${counted(invalid, 'character is', 'characters are')} not valid in ${name}.`;
  return [...warnings, { code: 'invalid_encoding', message }];
}

/** Rows of text that is no JSON. `delimiter`: named by the sender; null: detected. */
export function textRows(text: DecodedText, delimiter: string | null, limits: RowLimits): RowSource {
  const { shape, skip } = detectShape(text.head, text.isWhole, delimiter);
  const line = skip > 0 ? 2 : 1;
  const cutter = shape.kind === 'list' ? new ListSplitter(line) : cutterOf(shape, boundsOf(limits), line);
  return {
    ...describe(shape),
    encoding: text.encoding.name,
    byteOrderMark: text.encoding.byteOrderMark,
    ...{ sheet: null, entry: null, others: [], names: null },
    batches: cutRows(text.blocks(), cutter, skip),
    later: async () => (shape.kind === 'list' ? [] : (await text.parts()).flatMap((part) => wholeRows(part, shape))),
    warnings: text.warnings,
  };
}

function describe(shape: TextShape): Pick<RowSource, 'format' | 'delimiter' | 'isList'> {
  if (shape.kind === 'list') return { format: 'text', delimiter: null, isList: true };
  if (shape.kind === 'fixed') return { format: 'csv', delimiter: null };
  const { delimiter } = shape.dialect;
  if (delimiter === '') return { format: 'text', delimiter: null };
  return { format: 'csv', delimiter };
}

const PART_ROWS = 200;
/** Without the first and the last one, which may be cut off. */
const wholeRows = (part: string, shape: TextShape): RawRow[] =>
  cutterOf(shape, boundsOf({ rowBytes: PART_BYTES, columns: Number.POSITIVE_INFINITY }))
    .push(part, true)
    .slice(1, -1)
    .slice(0, PART_ROWS);

/** Rows of all blocks, but for the first `skip` characters. */
export async function* cutRows(
  blocks: AsyncGenerator<TextBlock, void, undefined>,
  reader: { push(text: string, final: boolean): RawRow[] },
  skip = 0,
): AsyncGenerator<RawBatch, void, undefined> {
  let [bytes, left] = [0, skip];
  for await (const block of blocks) {
    bytes = block.bytes;
    const rows = reader.push(left === 0 ? block.text : block.text.slice(left), false);
    left = Math.max(0, left - block.text.length);
    if (rows.length > 0) yield { rows, bytes };
  }
  const rows = reader.push('', true);
  if (rows.length > 0) yield { rows, bytes };
}
