/** JSON cut into its records, which are left to JSON.parse: in bounded memory, however large the document is. */

import { BACKSLASH, COLON, COMMA, QUOTE } from '../kernel/facts/ascii.ts';
import { EACH, type JsonPath } from './json-survey.ts';
import { unreadable } from './problems.ts';

/** A record as it is in the file. */
export interface JsonRecord {
  readonly text: string;
  /** Only the beginning of it: it is longer than allowed. */
  readonly isCut: boolean;
  /** Holds the key of a member of an object. */
  readonly key: string | null;
  /** Where it begins, from 1. */
  readonly line: number;
}

export interface JsonCutter {
  push(block: string, final: boolean): JsonRecord[];
}

const HEAD_LENGTH = 200;

/** A value per line: one that is broken costs its line. Blank lines separate nothing. */
export class LineCutter implements JsonCutter {
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
export class PathCutter implements JsonCutter {
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
