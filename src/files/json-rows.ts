/** JSON of any shape to rows: what is nested becomes columns, named by the way to it. */
import type { RowProblem } from '../kernel/csv.ts';
import { BACKSLASH, COLON, COMMA, QUOTE } from '../kernel/facts/ascii.ts';
import type { TextBlock } from './decode-text.ts';
import { EACH, type JsonPath, JsonSurvey, shownPath } from './json-survey.ts';
import { unreadable } from './problems.ts';
import type { RawBatch, RawRow, RowLimits } from './rows.ts';
import { isAddressCell } from './xlsx/book.ts';

// JSON cut into its records, which are left to JSON.parse: in bounded memory, however large the document is.

/** A record as it is in the file. */
interface JsonRecord {
  readonly text: string;
  /** Only the beginning of it: it is longer than allowed. */
  readonly isCut: boolean;
  /** A member of an object has its key; outside of objects, the key is null. */
  readonly key: string | null;
  /** Where it begins, from 1. */
  readonly line: number;
}

interface JsonCutter {
  push(block: string, final: boolean): JsonRecord[];
}

const HEAD_LENGTH = 200;

/** A value per line: one that is broken costs its line. Blank lines separate nothing. */
class LineCutter implements JsonCutter {
  readonly #max: number;
  #rest = '';
  #isCut = false;
  #line = 1;

  constructor(max: number) {
    this.#max = max;
  }

  push(block: string, final: boolean): JsonRecord[] {
    const records: JsonRecord[] = [];
    const text = this.#rest + block;
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      this.#add(records, text.slice(at, end));
      at = end + 1;
    }
    this.#rest = text.slice(at);
    if (this.#rest.length > this.#max) {
      this.#isCut = true;
      this.#rest = this.#rest.slice(0, HEAD_LENGTH);
    }
    if (final) this.#add(records, this.#rest);
    return records;
  }

  #add(records: JsonRecord[], text: string): void {
    const isCut = this.#isCut || text.length > this.#max;
    if (text.trim() !== '')
      records.push({ text: isCut ? text.slice(0, HEAD_LENGTH) : text, isCut, key: null, line: this.#line });
    this.#isCut = false;
    this.#line += 1;
  }
}

const OPENING_BRACKETS: readonly number[] = [0x7b, 0x5b];
const CLOSING_BRACKETS: readonly number[] = [0x7d, 0x5d];
const RECORD_SEPARATOR = 0x1e;

const isBlankCode = (code: number): boolean => code === 0x20 || (code >= 9 && code <= 13) || code === RECORD_SEPARATOR;
/** Ends a literal: 0x5b, 0x5d, 0x7b and 0x7d are brackets. */
const isMark = (code: number): boolean =>
  isBlankCode(code) ||
  code === COMMA ||
  code === COLON ||
  code === QUOTE ||
  (code | 0x20) === 0x7b ||
  (code | 0x20) === 0x7d;

/** Cuts out the values at a path. */
class PathCutter implements JsonCutter {
  readonly #path: JsonPath;
  readonly #max: number;
  /** Containers on the path: whether each is an array. */
  readonly #open: boolean[] = [];
  /** Containers that are open beside the path, or inside of a record. */
  #inner = 0;
  #state: 'between' | 'string' | 'escaped' | 'literal' = 'between';
  /** What the text from `#from` on will be. */
  #kept: 'nothing' | 'record' | 'key' | 'literal' = 'nothing';
  #from = 0;
  #isKeyNext = false;
  /** Since the last comma of a container on the path, a value has begun. */
  #hasValue = false;
  #key = '';
  #record = { line: 1, isCut: false, head: '' };
  #rest = '';
  #line = 1;
  /** Of `#rest`, lines are counted up to here. */
  #counted = 0;

  constructor(path: JsonPath, max: number) {
    this.#path = path;
    this.#max = max;
  }

  push(block: string, final: boolean): JsonRecord[] {
    const records: JsonRecord[] = [];
    const text = this.#rest + block;
    const { length } = text;
    for (let at = this.#rest.length; at < length; at++) {
      const code = text.charCodeAt(at);
      if (this.#state === 'escaped') this.#state = 'string';
      else if (this.#state === 'string') {
        if (code === BACKSLASH) this.#state = 'escaped';
        else if (code === QUOTE) this.#endScalar(text, at + 1, records);
      } else if (this.#state === 'literal') {
        if (!isMark(code)) continue;
        this.#endScalar(text, at, records);
        at -= 1;
      } else if (!isBlankCode(code)) this.#mark(text, at, code, records);
    }
    if (final) this.#end(text, records);
    else this.#keep(text);
    return records;
  }

  #mark(text: string, at: number, code: number, records: JsonRecord[]): void {
    if (code === QUOTE) {
      this.#state = 'string';
      if (this.#inner > 0) return;
      this.#checkComma(text, at);
      if (this.#isKeyNext) this.#start('key', at);
      else if (this.#isRecord()) this.#start('record', at, text);
    } else if (OPENING_BRACKETS.includes(code)) this.#openContainer(text, at, code);
    else if (CLOSING_BRACKETS.includes(code)) this.#closeContainer(text, at, code, records);
    else if (this.#inner > 0) this.#state = code === COMMA || code === COLON ? 'between' : 'literal';
    else if (code === COMMA) {
      if (this.#open.length === 0) throw unreadable('it is not valid JSON', this.#lineAt(text, at));
      this.#isKeyNext = this.#open.at(-1) === false;
      this.#hasValue = false;
    } else if (code !== COLON) {
      this.#checkComma(text, at);
      this.#state = 'literal';
      this.#start(this.#isRecord() ? 'record' : 'literal', at, text);
    }
  }

  /** Whether the value that begins is on the path, so far. */
  #isOnPath(): boolean {
    const depth = this.#open.length;
    if (depth === 0) return true;
    const step = this.#path[depth - 1];
    return step === EACH || (this.#open.at(-1) === false && step === this.#key);
  }

  #isRecord(): boolean {
    return this.#open.length === this.#path.length && this.#isOnPath();
  }

  #start(kept: 'record' | 'key' | 'literal', at: number, text = ''): void {
    this.#kept = kept;
    this.#from = at;
    if (kept === 'record') this.#record = { line: this.#lineAt(text, at), isCut: false, head: '' };
  }

  /** Values of a document that follow one another have no comma between them, those of a container do. */
  #checkComma(text: string, at: number): void {
    if (this.#hasValue && this.#open.length > 0) throw unreadable('it is not valid JSON', this.#lineAt(text, at));
    this.#hasValue = !this.#isKeyNext;
  }

  #openContainer(text: string, at: number, code: number): void {
    if (this.#inner === 0) this.#checkComma(text, at);
    const isArray = code === OPENING_BRACKETS[1];
    if (this.#inner === 0 && !this.#isRecord() && this.#isOnPath() && this.#open.length < this.#path.length) {
      this.#open.push(isArray);
      this.#isKeyNext = !isArray;
      this.#hasValue = false;
      return;
    }
    if (this.#inner === 0 && this.#isRecord()) this.#start('record', at, text);
    this.#inner += 1;
  }

  #closeContainer(text: string, at: number, code: number, records: JsonRecord[]): void {
    if (this.#inner > 0) {
      this.#inner -= 1;
      if (this.#inner === 0) this.#endScalar(text, at + 1, records);
      return;
    }
    if (this.#open.pop() !== (code === CLOSING_BRACKETS[1]))
      throw unreadable('it is not valid JSON', this.#lineAt(text, at));
    this.#isKeyNext = false;
    this.#hasValue = true;
  }

  /** A string, a literal, or the container of a record has ended. */
  #endScalar(text: string, end: number, records: JsonRecord[]): void {
    this.#state = 'between';
    if (this.#inner > 0) return;
    const kept = this.#kept;
    const found = kept === 'nothing' ? '' : text.slice(this.#from, end);
    this.#kept = 'nothing';
    if (kept === 'record') {
      const { line, isCut, head } = this.#record;
      const isLong = isCut || found.length > this.#max;
      const isMember = this.#open.at(-1) === false && this.#path.at(-1) === EACH;
      const shown = isLong ? (head || found).slice(0, HEAD_LENGTH) : found;
      records.push({ text: shown, isCut: isLong, key: isMember ? this.#key : null, line });
    } else if (kept === 'key') {
      this.#isKeyNext = false;
      this.#key = unquotedKey(found);
    } else if (kept === 'literal' && !/^(true|false|null|-?\d[\d.eE+-]*)$/.test(found))
      throw unreadable('it is not valid JSON', this.#lineAt(text, end));
  }

  /** What is not complete yet is read again with the next block, unless it is too long. */
  #keep(text: string): void {
    if (this.#kept === 'record' && text.length - this.#from > this.#max) {
      if (!this.#record.isCut)
        this.#record = { ...this.#record, isCut: true, head: text.slice(this.#from, this.#from + HEAD_LENGTH) };
      this.#from = text.length;
    } else if (this.#kept !== 'record' && this.#kept !== 'nothing' && text.length - this.#from > this.#max) {
      this.#from = text.length;
    }
    const from = this.#kept === 'nothing' ? text.length : this.#from;
    this.#lineAt(text, text.length);
    this.#rest = text.slice(from);
    this.#from = 0;
    this.#counted = this.#rest.length;
  }

  #end(text: string, records: JsonRecord[]): void {
    if (this.#state === 'literal') this.#endScalar(text, text.length, records);
    if (this.#state !== 'between' || this.#inner > 0 || this.#open.length > 0)
      throw unreadable('the JSON is not closed: it may be only a part of a file', this.#lineAt(text, text.length));
  }

  #lineAt(text: string, at: number): number {
    for (let end = text.indexOf('\n', this.#counted); end >= 0 && end < at; end = text.indexOf('\n', end + 1))
      this.#line += 1;
    this.#counted = Math.max(this.#counted, at);
    return this.#line;
  }
}

function unquotedKey(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

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

/** DynamoDB's JSON names these types. */
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

/** Reads `[{"Name": "email", "Value": "a@b.c"}, …]`: the order of such pairs may differ from record to record. */
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
