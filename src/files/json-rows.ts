/** JSON to rows: an array, or one value per line (NDJSON); values are addresses or objects. */

import { RowSplitter } from '../kernel/csv.ts';
import { unreadable } from './problems.ts';
import { boundsOf, checkColumns, checkRowSize, type RawRow, type RowLimits } from './rows.ts';

/** Turns values into rows; the columns are the keys in the order in which they first appear. */
class JsonColumns {
  readonly names: string[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #limits: RowLimits;
  #kind: 'object' | 'text' | null = null;

  constructor(limits: RowLimits) {
    this.#limits = limits;
  }

  row(text: string, line: number): RawRow {
    const value = parsed(text, line);
    const kind = isObject(value) ? 'object' : 'text';
    if (kind === 'text' && typeof value !== 'string' && value !== null)
      throw unreadable('a value is neither text nor an object', line);
    this.#kind ??= kind;
    if (kind !== this.#kind) throw unreadable('objects and other values are mixed', line);
    const cells = isObject(value) ? this.#cellsOf(value, line) : [textOf(value, line)];
    const hasNul = text.includes('\\u0000') && cells.some((cell) => cell.includes('\0'));
    return hasNul ? { line, cells: [text], problem: 'nul' } : { line, cells, problem: null };
  }

  #cellsOf(value: object, line: number): string[] {
    const cells: string[] = Array(this.names.length).fill('');
    for (const [name, cell] of Object.entries(value)) {
      let index = this.#indexes.get(name);
      if (index === undefined) {
        index = this.names.push(name) - 1;
        checkColumns(this.names.length, this.#limits, line);
        this.#indexes.set(name, index);
      }
      // Columns in between are of keys that this row lacks.
      while (cells.length < index) cells.push('');
      cells[index] = textOf(cell, line);
    }
    return cells;
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textOf(value: unknown, line: number): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.parse takes any depth; writing it needs the stack.
    if (error instanceof RangeError) throw unreadable('a value is nested too deeply', line);
    throw error;
  }
}

function parsed(text: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable('it is not valid JSON', line);
  }
}

/** What both forms of JSON have in common. */
interface JsonReader {
  readonly names: readonly string[];
  push(text: string, final: boolean): RawRow[];
}

export function readNdjson(limits: RowLimits): JsonReader {
  const lines = new RowSplitter('none', boundsOf(limits));
  const columns = new JsonColumns(limits);
  return {
    names: columns.names,
    push: (text, final) =>
      lines.push(text, final).flatMap(({ cells: [cell = ''], line }) =>
        // Blank lines separate nothing.
        cell.trim() === '' ? [] : [columns.row(cell, line)],
      ),
  };
}

const CODE = { quote: 0x22, escape: 0x5c, comma: 0x2c, open: 0x5b, close: 0x5d, braceOpen: 0x7b, braceClose: 0x7d };
const LF = 0x0a;

/** An array is cut at the commas of its own level; everything else is left to JSON.parse. */
export function readJsonArray(limits: RowLimits): JsonReader {
  const columns = new JsonColumns(limits);
  let rest = '';
  /** Of `rest`, how much has been looked at. */
  let seen = 0;
  let state: 'before' | 'inside' | 'after' = 'before';
  let depth = 0;
  let inText = false;
  let line = 1;
  let elementLine = 1;
  let elements = 0;

  function end(rows: RawRow[], text: string, isLast: boolean): void {
    // `[]` has no elements; `["a",]` is an error.
    if (isLast && elements === 0 && text.trim() === '') return;
    const before = text.slice(0, text.length - text.trimStart().length);
    rows.push(columns.row(text, elementLine + before.split('\n').length - 1));
    elements += 1;
  }

  return {
    names: columns.names,
    push(block, final) {
      const text = rest + block;
      const rows: RawRow[] = [];
      let start = 0;
      let at = seen;
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (code === LF) line += 1;
        if (inText) {
          if (code === CODE.escape) at += 1;
          else if (code === CODE.quote) inText = false;
        } else if (state !== 'inside') {
          if (code === CODE.open && state === 'before') {
            state = 'inside';
            elementLine = line;
            start = at + 1;
          } else if (!/\s/.test(text.charAt(at))) throw unreadable('it is not one JSON array', line);
        } else if (code === CODE.quote) inText = true;
        else if (depth === 0 && (code === CODE.comma || code === CODE.close)) {
          checkRowSize(text, start, at, limits, elementLine);
          end(rows, text.slice(start, at), code === CODE.close);
          start = at + 1;
          elementLine = line;
          if (code === CODE.close) state = 'after';
        } else if (code === CODE.open || code === CODE.braceOpen) depth += 1;
        else if (code === CODE.close || code === CODE.braceClose) depth -= 1;
      }
      if (final && state !== 'after') throw unreadable('the JSON array is not closed', line);
      rest = state === 'inside' ? text.slice(start) : '';
      // An escape at the end of the block has already skipped the first character of the next one.
      seen = state === 'inside' ? at - start : at - text.length;
      checkRowSize(rest, 0, rest.length, limits, elementLine);
      return rows;
    },
  };
}
