/** JSON of any shape to rows: what is nested becomes columns, named by the way to it. */
import type { RowProblem } from '../kernel/csv.ts';
import type { TextBlock } from './decode-text.ts';
import { type JsonCutter, type JsonRecord, LineCutter, PathCutter } from './json-cut.ts';
import { JsonSurvey, shownPath } from './json-survey.ts';
import type { RawBatch, RawRow, RowLimits } from './rows.ts';
import { isAddressCell } from './xlsx/book.ts';

interface JsonReading {
  readonly format: 'json' | 'ndjson';
  /** Path to the records, such as `hits.hits`; null: the document is the list. */
  readonly entry: string | null;
  /** Paths to further lists with addresses. */
  readonly others: readonly string[];
  /** Complete only after the first batch; empty: the records are plain addresses; null: they are rows. */
  readonly names: readonly string[] | null;
  readonly batches: AsyncGenerator<RawBatch, void, undefined>;
}

/** So much of a document is looked at, or all of it where that has no address. */
const SURVEYED_LENGTH = 2 << 20;
/** A record has so many times the length of its row at most: names and brackets. */
const RECORD_FACTOR = 4;

/**
 * `texts`: the document from its beginning; called twice. `wanted`: path to the list; null: that with the most
 * addresses, or whatever `isWanted` says strings are read for. Throws FileError.
 */
export async function openJson(
  texts: () => AsyncGenerator<TextBlock, void, undefined>,
  limits: RowLimits,
  wanted: string | null,
  isWanted: (cell: string) => boolean = isCellWithAddress,
): Promise<JsonReading> {
  const { survey, isByLine } = await surveyed(texts(), isWanted);
  const { path, isMap, others } = survey.lists(wanted);
  const isLines = isByLine && path.length === 0;
  const max = RECORD_FACTOR * limits.rowBytes;
  const cutter = isLines ? new LineCutter(max) : new PathCutter(path, max);
  const columns = new JsonColumns(limits, isMap);
  const entry = shownPath(path);
  const batches = jsonRows(texts(), cutter, columns);
  const first = await batches.next();
  return {
    format: path.length === 0 ? 'ndjson' : 'json',
    entry: entry === '' ? null : entry,
    others,
    names: columns.hasArrays && columns.names.length === 0 ? null : columns.names,
    batches: withFirst(first.done ? null : first.value, batches),
  };
}

async function* withFirst(
  first: RawBatch | null,
  rest: AsyncGenerator<RawBatch, void, undefined>,
): AsyncGenerator<RawBatch, void, undefined> {
  try {
    if (first !== null) yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}

const isCellWithAddress = (cell: string): boolean => cell.includes('@') && isAddressCell(cell);

async function surveyed(texts: AsyncGenerator<TextBlock, void, undefined>, isWanted: (cell: string) => boolean) {
  const survey = new JsonSurvey(isWanted);
  let rest = '';
  let length = 0;
  let isByLine: boolean | null = null;
  for await (const { text } of texts) {
    length += text.length;
    rest += text;
    isByLine ??= isValuePerLine(rest);
    rest = rest.slice(survey.push(rest, false));
    if (length > SURVEYED_LENGTH && survey.addresses > 0) break;
  }
  survey.push(rest, true);
  return { survey, isByLine: isByLine ?? false };
}

/** Whether the first line is a value of its own; null: it is not there to its end. */
function isValuePerLine(text: string): boolean | null {
  const [, first = '', second = ''] = /^(.*)\r?\n\s*(\S?)/.exec(text.trimStart()) ?? [];
  if (second === '') return null;
  try {
    JSON.parse(first);
  } catch {
    return false;
  }
  return '{["'.includes(second);
}

async function* jsonRows(
  texts: AsyncGenerator<TextBlock, void, undefined>,
  cutter: JsonCutter,
  columns: JsonColumns,
): AsyncGenerator<RawBatch, void, undefined> {
  let bytes = 0;
  for await (const block of texts) {
    bytes = block.bytes;
    const rows = cutter.push(block.text, false).map((record) => columns.row(record));
    if (rows.length > 0) yield { rows, bytes };
  }
  const rows = cutter.push('', true).map((record) => columns.row(record));
  if (rows.length > 0) yield { rows, bytes };
}

/** What is at a path, and the column that has it. */
interface JsonPlace {
  readonly name: string;
  /** -1: only what is within has columns. */
  index: number;
  readonly within: Map<string, JsonPlace>;
}

const JSON_DEPTH_MAX = 8;
/** Elements of an array of objects that have columns of their own. */
const ELEMENTS_MAX = 10;
/** Places beside those that are columns. */
const PLACES_PER_COLUMN = 4;
const OVERFLOW = 'other_fields';
const KEY_COLUMN = 'key';
const PLAIN_COLUMN = 'email';

/** Turns records into rows; the columns are in the order in which they first appear. */
class JsonColumns {
  readonly names: string[] = [];
  /** Some records are arrays: their elements are cells. */
  hasArrays = false;
  readonly #limits: RowLimits;
  readonly #isMap: boolean;
  readonly #root: JsonPlace = { name: '', index: -1, within: new Map() };
  #places = 0;
  #cells: string[] = [];
  #overflow: Record<string, string> | null = null;

  constructor(limits: RowLimits, isMap: boolean) {
    this.#limits = limits;
    this.#isMap = isMap;
  }

  row({ text, isCut, key, line }: JsonRecord): RawRow {
    if (isCut) return problemRow(text, line, 'too_large');
    let value: unknown;
    try {
      value = parsedExactly(text);
    } catch {
      return problemRow(text, line, 'invalid_json');
    }
    try {
      return this.#rowOf(value, key, text, line);
    } catch (error) {
      // JSON.parse takes any depth; writing it needs the stack.
      if (error instanceof RangeError) return problemRow(text.slice(0, CUT_LENGTH), line, 'too_large');
      throw error;
    }
  }

  #rowOf(value: unknown, key: string | null, text: string, line: number): RawRow {
    this.#cells = Array<string>(this.names.length).fill('');
    this.#overflow = null;
    if (this.#isMap && key !== null) this.#set(this.#place(this.#root, KEY_COLUMN), KEY_COLUMN, key);
    if (Array.isArray(value) && !this.#isMap) {
      this.hasArrays = true;
      this.#cells = value.slice(0, this.#limits.columns).map((cell) => valueText(cell));
    } else if (isRecord(value)) this.#add(this.#root, value, 0);
    // A mark that the key of a map is set has no content.
    else if (!(this.#isMap && (typeof value === 'boolean' || value === null))) this.#addPlain(value);
    if (this.#overflow !== null) this.#cells[this.names.indexOf(OVERFLOW)] = JSON.stringify(this.#overflow);
    const cells = this.#cells;
    let characters = 0;
    for (const cell of cells) characters += cell.length;
    if (characters > this.#limits.rowBytes) return problemRow(text.slice(0, CUT_LENGTH), line, 'too_large');
    const hasNul = text.includes('\\u0000') && cells.some((cell) => cell.includes('\0'));
    return hasNul ? problemRow(text, line, 'nul') : { line, cells, problem: null };
  }

  /** Addresses alone need no name of a column, unless there are objects, too. */
  #addPlain(value: unknown): void {
    if (this.names.length === 0) this.#cells = [valueText(value)];
    else this.#set(this.#place(this.#root, PLAIN_COLUMN), PLAIN_COLUMN, valueText(value));
  }

  #add(place: JsonPlace, given: unknown, depth: number): void {
    const value = untyped(given);
    if (depth < JSON_DEPTH_MAX && isRecord(value)) {
      for (const [key, within] of Object.entries(value))
        this.#addAt(place, key, depth === 0 ? key : `.${key}`, within, depth);
      return;
    }
    if (depth < JSON_DEPTH_MAX && Array.isArray(value) && value.some((element) => isRecord(untyped(element)))) {
      this.#addElements(place, value, depth);
      return;
    }
    this.#set(place, place.name, valueText(value));
  }

  #addElements(place: JsonPlace, elements: readonly unknown[], depth: number): void {
    const pairs = namedPairs(elements);
    if (pairs !== null) {
      for (const [key, within] of pairs) this.#addAt(place, key, `.${key}`, within, depth);
      return;
    }
    for (const [i, element] of elements.slice(0, ELEMENTS_MAX).entries())
      this.#addAt(place, `${i}`, `[${i}]`, element, depth);
    const rest = elements.slice(ELEMENTS_MAX);
    if (rest.length > 0) this.#addAt(place, 'more', '[more]', JSON.stringify(rest), depth);
  }

  /** `suffix` is added to the name of the place. */
  #addAt(place: JsonPlace | null, key: string, suffix: string, value: unknown, depth: number): void {
    const inner = place === null ? null : this.#place(place, key, suffix);
    if (inner !== null) this.#add(inner, value, depth + 1);
    else this.#set(null, `${place?.name ?? ''}${suffix}`, valueText(value));
  }

  #place(outer: JsonPlace, key: string, suffix = key): JsonPlace | null {
    const known = outer.within.get(key);
    if (known !== undefined) return known;
    if (this.#places >= PLACES_PER_COLUMN * this.#limits.columns) return null;
    this.#places += 1;
    const place: JsonPlace = { name: outer.name + suffix, index: -1, within: new Map() };
    outer.within.set(key, place);
    return place;
  }

  /** Where there are as many columns as there may be, the last one takes all further fields. */
  #set(place: JsonPlace | null, name: string, text: string): void {
    const isNew = place !== null && place.index < 0;
    if (text === '' && (place === null || isNew) && this.names.length >= this.#limits.columns - 1) return;
    if (isNew && this.names.length < this.#limits.columns - 1) place.index = this.#column(place.name);
    if (place !== null && place.index >= 0) {
      this.#setCell(place.index, text);
      return;
    }
    if (!this.names.includes(OVERFLOW)) this.#column(OVERFLOW);
    this.#setCell(this.names.indexOf(OVERFLOW), ' ');
    this.#overflow = { ...this.#overflow, [name]: text };
  }

  /** Two ways may have one name: `{"a.b": 1}` and `{"a": {"b": 1}}`. */
  #column(name: string): number {
    const known = this.names.indexOf(name);
    return known >= 0 ? known : this.names.push(name) - 1;
  }

  #setCell(index: number, text: string): void {
    // Columns in between are of keys that this row lacks.
    while (this.#cells.length <= index) this.#cells.push('');
    this.#cells[index] = text;
  }
}

const CUT_LENGTH = 200;
const problemRow = (text: string, line: number, problem: RowProblem): RawRow => ({
  line,
  cells: [text.replaceAll('\0', '\u{FFFD}')],
  problem,
});

/** Integers beyond those that are exact come back as they were. */
function parsedExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? (context?.source ?? value) : value,
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

function valueText(given: unknown): string {
  const value = untyped(given);
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? '' : JSON.stringify(value.map(untyped));
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}

/** Lists the types of DynamoDB's JSON. */
const DYNAMODB: ReadonlySet<string> = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'L', 'M', 'SS', 'NS', 'BS']);

/** `{"$oid": "60"}` of MongoDB and `{"S": "Ada"}` of DynamoDB are values with their type. */
function untyped(value: unknown): unknown {
  let inner = value;
  for (let n = 0; n < JSON_DEPTH_MAX && typeof inner === 'object' && inner !== null && !Array.isArray(inner); n++) {
    const [entry, another] = Object.entries(inner);
    if (entry === undefined || another !== undefined) return inner;
    const [type, content] = entry;
    if (!DYNAMODB.has(type) && !/^\$(oid|date|uuid|number\w+|timestamp)$/.test(type)) return inner;
    if (type === 'NULL') return null;
    inner = content;
  }
  return inner;
}

const NAME_KEY = /^(name|key|field|property|attribute|slug)$/i;
const VALUE = /^(value|val|text)$/i;

/** Of `[{"Name": "email", "Value": "a@b.c"}, …]`: the order of such pairs may differ from record to record. */
function namedPairs(elements: readonly unknown[]): [string, unknown][] | null {
  const pairs: [string, unknown][] = [];
  for (const element of elements) {
    const entries = isRecord(element) ? Object.entries(element) : [];
    const [name, value] = [entries.find(([key]) => NAME_KEY.test(key)), entries.find(([key]) => VALUE.test(key))];
    if (entries.length !== 2 || name === undefined || value === undefined || typeof name[1] !== 'string') return null;
    pairs.push([name[1], value[1]]);
  }
  return pairs;
}
