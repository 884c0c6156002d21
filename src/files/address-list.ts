/** Addresses with separators between them, as people copy them into a text: each is a row of its own. */
import { trimBlanks } from '../kernel/blanks.ts';
import type { TextRow } from '../kernel/csv.ts';

interface ListItem {
  /** An address with its name and brackets, or text that belongs to none. */
  readonly text: string;
  readonly isAddress: boolean;
  /** Where it begins. */
  readonly at: number;
}

/** Begins where a word does: otherwise each character of a long word would be tried. */
const MAYBE =
  /(?<![^\s,;<>()[\]{}"“”„|\\/=…、，；])[^\s,;<>()[\]{}"“”„|\\/=…、，；]*[@＠][^\s,;<>()[\]{}"“”„|\\/='`…、，；]*(?:[>)\]'"“”»}]*)/g;
const ADDRESS_SEPARATORS = /[,;|\n\r\t]+/;
const NAME_SEPARATORS = /[;|\n\r\t]+/;
const EDGES = /^[\s,;|/&•·*–—[\]{}"'“”()-]+|(?<![\s,;|/&•·–—[\]{}"'“”(])[\s,;|/&•·–—[\]{}"'“”(]+$/g;

/** Yields the items of a list, in order. It is linear in its length. */
export function* listItems(text: string): Generator<ListItem> {
  let from = 0;
  for (const { 0: found, index } of text.matchAll(MAYBE)) {
    const before = text.slice(from, index);
    const isNamed = before.endsWith('<');
    // What is right beside an address is a label; what a separator parts from it is an item. Names in front of
    // angle brackets may have a comma.
    const parts = before.split(isNamed ? NAME_SEPARATORS : ADDRESS_SEPARATORS);
    const label = parts.pop() ?? '';
    for (const part of parts) if (hasWord(part)) yield { text: part.replaceAll(EDGES, ''), isAddress: false, at: from };
    const item = trimBlanks(`${label}${found}`.replace(/^[\s,;|[\]{}&]+/, ''));
    yield { text: item, isAddress: true, at: index };
    from = index + found.length;
  }
  for (const part of text.slice(from).split(ADDRESS_SEPARATORS))
    if (hasWord(part)) yield { text: part.replaceAll(EDGES, ''), isAddress: false, at: from };
}

const hasWord = (part: string): boolean => /[\p{L}\p{N}]/u.test(part);

/** Beyond that, text without an address is given up as one item. */
const HELD_CHARACTERS = 64 * 1024;

/** Takes text block by block. */
export class ListSplitter {
  #rest = '';
  #line: number;

  constructor(line = 1) {
    this.#line = line;
  }

  push(block: string, final: boolean): TextRow[] {
    const text = this.#rest + block;
    const end = final ? text.length : this.#cutOf(text);
    const rows: TextRow[] = [];
    let at = 0;
    for (const item of listItems(text.slice(0, end))) {
      this.#line += lineEnds(text, at, item.at);
      at = item.at;
      rows.push(this.#row(item));
    }
    this.#line += lineEnds(text, at, end);
    this.#rest = text.slice(end);
    return rows;
  }

  #row({ text }: ListItem): TextRow {
    const line = this.#line;
    return text.includes('\0')
      ? { line, cells: [text.replaceAll('\0', '\u{FFFD}')], problem: 'nul' }
      : { line, cells: [text], problem: null };
  }

  /** Cuts behind the last address that a separator ends: what follows may be the name of the next one. */
  #cutOf(text: string): number {
    const last = text.lastIndexOf('@', text.length - 1);
    for (let at = last; at > 0; at = text.lastIndexOf('@', at - 1)) {
      const separator = text.slice(at, at + 400).search(/[\s,;]/);
      if (separator > 0) return at + separator;
    }
    return text.length > HELD_CHARACTERS ? text.length : 0;
  }
}

function lineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
