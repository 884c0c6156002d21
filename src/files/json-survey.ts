/** Where a JSON document has its records. */
import { BACKSLASH, COLON, COMMA, QUOTE } from '../kernel/facts/ascii.ts';
import { unreadable } from './problems.ts';
import { shownNames } from './xlsx/book.ts';

/** It leads to the records: keys, and `*` for every element of an array or every member of an object. */
export type JsonPath = readonly string[];
export const EACH = '*';

interface JsonLists {
  readonly path: JsonPath;
  /** Records are members of an object, whose keys tell them apart. */
  readonly isMap: boolean;
  /** Paths to other lists with addresses. */
  readonly others: readonly string[];
  readonly addresses: number;
}

const SURVEY_DEPTH_MAX = 12;
const NODES_MAX = 20_000;
/** An object with more keys is a map. */
const FIELDS_MAX = 300;
const KEY_LENGTH = 500;
const LONG_STRING = 65_536;

/** What is at a path; all elements of an array are one. */
class SurveyNode {
  count = 0;
  objects = 0;
  arrays = 0;
  /** Strings that are addresses. */
  addresses = 0;
  keyAddresses = 0;
  readonly fields = new Map<string, SurveyNode>();
  items: SurveyNode | null = null;
}

/** Looks through a document: tokens, not whether it is valid. */
export class JsonSurvey {
  readonly #top = new SurveyNode();
  #nodes = 1;
  readonly #isWanted: (cell: string) => boolean;
  /** Has the node of each open container within SURVEY_DEPTH_MAX; null: not looked at. */
  readonly #open: { readonly node: SurveyNode | null; readonly isArray: boolean }[] = [];
  /** Counts containers that are open beyond that. */
  #deeper = 0;
  #key: string | null = null;
  #isKeyNext = false;
  /**
   * This says whether a string is being skipped that is too long for a key or an address, and whether its next
   * character is escaped.
   */
  #inLong: 'no' | 'yes' | 'escaped' = 'no';
  addresses = 0;

  /** `isWanted`: whether a string is what records are read for: an address. */
  constructor(isWanted: (cell: string) => boolean) {
    this.#isWanted = isWanted;
  }

  /** `text`: from its beginning, or behind what an earlier call took. Returns where an unfinished token begins. */
  push(text: string, final: boolean): number {
    const { length } = text;
    let at = this.#inLong === 'no' ? 0 : this.#longEnd(text, this.#inLong === 'yes' ? -1 : 0);
    while (at < length) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const end = endOfString(text, at);
        if (end < 0 && !final && length - at < LONG_STRING) return at;
        if (end < 0) {
          this.#string(text, at, at + 1);
          return this.#longEnd(text, at);
        }
        this.#string(text, at, end);
        at = end;
      } else if (code === BRACE || code === OPENING_BRACKET) {
        this.#start(code === OPENING_BRACKET);
        at += 1;
      } else if (code === BRACE_END || code === BRACKET_END) {
        if (this.#deeper > 0) this.#deeper -= 1;
        else this.#open.pop();
        this.#isKeyNext = false;
        at += 1;
      } else if (code === COMMA) {
        const open = this.#open.at(-1);
        this.#isKeyNext = this.#deeper === 0 && open !== undefined && !open.isArray;
        at += 1;
      } else if (code === COLON || code <= 0x20) {
        at += 1;
      } else {
        let end = at + 1;
        while (end < length && !isStructural(text.charCodeAt(end))) end += 1;
        if (end === length && !final && length - at < KEY_LENGTH) return at;
        // Beside a document, it is no value but what makes it invalid.
        if (this.#deeper === 0 && this.#open.length > 0) this.#value();
        at = end;
      }
    }
    return length;
  }

  /** Where the string that opened at `open` ends; the end of the text if it goes on. */
  #longEnd(text: string, open: number): number {
    const end = endOfString(text, open);
    const [slashes = ''] = /(?<!\\)\\+$/.exec(text.slice(Math.max(0, open + 1))) ?? [];
    this.#inLong = end >= 0 ? 'no' : slashes.length % 2 === 0 ? 'yes' : 'escaped';
    return end < 0 ? text.length : end;
  }

  #string(text: string, at: number, end: number): void {
    if (this.#deeper > 0) return;
    const raw = text.slice(at + 1, Math.min(end - 1, at + 1 + KEY_LENGTH));
    if (this.#isKeyNext) {
      this.#isKeyNext = false;
      this.#key = unescaped(raw);
      return;
    }
    const node = this.#value();
    if (!this.#isWanted(raw)) return;
    this.addresses += 1;
    if (node !== null) node.addresses += 1;
  }

  #start(isArray: boolean): void {
    if (this.#deeper > 0 || this.#open.length >= SURVEY_DEPTH_MAX) {
      this.#deeper += 1;
      return;
    }
    const node = this.#value();
    if (node !== null && isArray) node.arrays += 1;
    if (node !== null && !isArray) node.objects += 1;
    this.#open.push({ node, isArray });
    this.#isKeyNext = !isArray;
  }

  /** Returns the node of the value that begins here. */
  #value(): SurveyNode | null {
    const open = this.#open.at(-1);
    const node = open === undefined ? this.#top : this.#child(open.node, open.isArray);
    if (node !== null) node.count += 1;
    return node;
  }

  #child(parent: SurveyNode | null, isArray: boolean): SurveyNode | null {
    if (parent === null) return null;
    const key = isArray ? null : this.#key;
    const known = key === null ? undefined : parent.fields.get(key);
    if (known !== undefined) return known;
    if (key !== null && this.#isWanted(key)) parent.keyAddresses += 1;
    if (key === null || parent.fields.size >= FIELDS_MAX) {
      parent.items ??= this.#newNode();
      return parent.items;
    }
    const node = this.#newNode();
    if (node !== null) parent.fields.set(key, node);
    return node;
  }

  #newNode(): SurveyNode | null {
    if (this.#nodes === NODES_MAX) return null;
    this.#nodes += 1;
    return new SurveyNode();
  }

  /**
   * The list with the most records that have an address; a list around it that has about as many comes first.
   * `wanted`: a path such as `hits.hits`. Throws FileError if there is none.
   */
  lists(wanted: string | null): JsonLists {
    const found = candidates(this.#top, []);
    const { count } = this.#top;
    // One value is a record if it has an address of its own, and not only in its lists.
    const rows = count === 1 ? Math.min(1, addressesBeside(this.#top)) : rowsAt(this.#top);
    const all: RowsCandidate[] = [{ path: [], isMap: false, rows, count }, ...found];
    const most = all.reduce((a, b) => (b.rows > a.rows ? b : a));
    const chosen =
      wanted !== null
        ? candidateAt(all, wanted)
        : most.rows === 0
          ? all.reduce((a, b) => (b.count > a.count ? b : a))
          : (all.find(
              ({ path, rows }) =>
                isWithin(most.path, path) && rows * INNER_FACTOR >= most.rows && (rows > 1 || most.rows < 2),
            ) ?? most);
    const others = all.filter(
      ({ path, rows }) => rows > 0 && path.length > 0 && !isWithin(path, chosen.path) && !isWithin(chosen.path, path),
    );
    return {
      path: chosen.path,
      isMap: chosen.isMap,
      others: others.map(({ path }) => shownPath(path)),
      addresses: most.rows,
    };
  }
}

function candidateAt(all: readonly RowsCandidate[], wanted: string): RowsCandidate {
  const found = all.find(({ path }) => path.length > 0 && shownPath(path) === wanted);
  if (found !== undefined) return found;
  const paths = all.flatMap(({ path }) => shownPath(path) || []);
  const seen = paths.length === 0 ? 'it has no list under a key' : `its lists are ${shownNames(paths)}`;
  throw unreadable(`there is no list ${JSON.stringify(wanted)} in the JSON: ${seen}`);
}

/** Records with a few addresses each, such as `emails: [{"value": …}]`, are records all the same. */
const INNER_FACTOR = 2.5;

interface RowsCandidate {
  readonly path: JsonPath;
  readonly isMap: boolean;
  /** Elements, and how many may have an address. */
  readonly count: number;
  readonly rows: number;
}

const rowsAt = (node: SurveyNode): number => Math.min(node.count, addressesAt(node));

function addressesAt(node: SurveyNode): number {
  let sum = node.addresses + node.keyAddresses + (node.items === null ? 0 : addressesAt(node.items));
  for (const field of node.fields.values()) sum += addressesAt(field);
  return sum;
}

/** Counts addresses that are in no list. */
function addressesBeside(node: SurveyNode): number {
  let sum = node.addresses;
  for (const field of node.fields.values()) sum += addressesBeside(field);
  return sum;
}

/** Lists them from the outside in, in the order of the document. */
function candidates(node: SurveyNode, path: JsonPath): RowsCandidate[] {
  const found: RowsCandidate[] = [];
  const each = [...path, EACH];
  if (node.arrays > 0 && node.items !== null) {
    found.push({ path: each, isMap: false, count: node.items.count, rows: rowsAt(node.items) });
    found.push(...candidates(node.items, each));
  }
  if (node.objects > 0 && isMap(node)) {
    const members = [...node.fields.values(), ...(node.items === null || node.arrays > 0 ? [] : [node.items])];
    const count = members.reduce((sum, member) => sum + member.count, 0);
    const addresses = members.reduce((sum, member) => sum + addressesAt(member), node.keyAddresses);
    found.push({ path: each, isMap: true, count, rows: Math.min(count, addresses) });
  } else if (node.objects > 0) {
    for (const [key, field] of node.fields) found.push(...candidates(field, [...path, key]));
  }
  return found;
}

/** Whether keys are IDs rather than names: the members are records of one kind, or the keys addresses. */
function isMap(node: SurveyNode): boolean {
  const members = [...node.fields.values()];
  if (members.length >= FIELDS_MAX) return true;
  if (members.length < 2 || node.objects > 1) return false;
  if (node.keyAddresses * 2 >= members.length) return true;
  const records = members.filter(({ objects }) => objects > 0);
  if (records.length < members.length) return false;
  const names = new Set(records.flatMap(({ fields }) => [...fields.keys()]));
  const shared = records.reduce((sum, { fields }) => sum + fields.size, 0);
  return shared * 2 > names.size * records.length && records.some((record) => addressesAt(record) > 0);
}

const isWithin = (inner: JsonPath, outer: JsonPath): boolean =>
  outer.length <= inner.length && outer.every((step, i) => step === inner[i]);

/** `hits.hits` */
export const shownPath = (path: JsonPath): string => path.filter((step) => step !== EACH).join('.');

const BRACE = 0x7b;
const BRACE_END = 0x7d;
const OPENING_BRACKET = 0x5b;
const BRACKET_END = 0x5d;

const isStructural = (code: number): boolean =>
  code <= 0x20 ||
  code === QUOTE ||
  code === COMMA ||
  code === COLON ||
  code === BRACE ||
  code === BRACE_END ||
  code === OPENING_BRACKET ||
  code === BRACKET_END;

/** Returns the index behind the closing quote, or -1 if there is none. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; ; ) {
    const close = text.indexOf('"', at);
    if (close < 0) return -1;
    let slashes = 0;
    while (close - 1 - slashes > open && text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return close + 1;
    at = close + 1;
  }
}

/** Returns the content of a string. */
function unescaped(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}
