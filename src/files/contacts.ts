/** vCard (RFC 6350, RFC 2426, 2.1) and LDIF (RFC 2849) give a row for each entry, and a column for each field. */
import { unreadable } from './problems.ts';
import type { RawRow, RowLimits } from './rows.ts';

interface ContactReader {
  /** The names of the columns are in the order in which they first appear. */
  readonly names: readonly string[];
  push(text: string, final: boolean): RawRow[];
}

const VALUES = '; ';

/** Takes the fields of one entry after the other. */
class ContactRows {
  readonly names: string[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #limits: RowLimits;
  #cells: string[] = [];
  #size = 0;
  #line = 0;

  constructor(limits: RowLimits) {
    this.#limits = limits;
  }

  start(line: number): void {
    this.#line = line;
    this.#cells = [];
    this.#size = 0;
  }

  /** Several values of a field share a cell. Fields beyond the last column are left out. */
  add(name: string, value: string): void {
    if (value === '') return;
    const key = name.toLowerCase();
    let index = this.#indexes.get(key);
    if (index === undefined) {
      if (this.names.length === this.#limits.columns) return;
      index = this.names.push(name) - 1;
      this.#indexes.set(key, index);
    }
    while (this.#cells.length <= index) this.#cells.push('');
    const before = this.#cells[index] ?? '';
    this.#cells[index] = before === '' ? value : `${before}${VALUES}${value}`;
    this.#size += Buffer.byteLength(value) + VALUES.length;
  }

  row(): RawRow {
    const cells = [...this.#cells, ...Array<string>(Math.max(0, this.names.length - this.#cells.length)).fill('')];
    if (this.#size > this.#limits.rowBytes)
      return { line: this.#line, cells: [cells.join(' ').slice(0, 200)], problem: 'too_large' };
    if (cells.some((cell) => cell.includes('\0')))
      return { line: this.#line, cells: [cells.join(' ').replaceAll('\0', '\u{FFFD}')], problem: 'nul' };
    return { line: this.#line, cells, problem: null };
  }
}

/** A logical line has the lines after it that begin with a blank. */
class FoldedLines {
  readonly #max: number;
  readonly #isSoft: (line: string) => boolean;
  #rest = '';
  #line = 0;
  #held: { text: string; line: number } | null = null;

  /** `isSoft`: whether the next line belongs to it, whatever that begins with. Lines are cut at `max` characters. */
  constructor(max: number, isSoft: (line: string) => boolean = () => false) {
    this.#max = max;
    this.#isSoft = isSoft;
  }

  *push(text: string, final: boolean): Generator<{ text: string; line: number }> {
    const lines = (this.#rest + text).split(/\r\n|\r(?!$)|\n/);
    this.#rest = final ? '' : (lines.pop() ?? '').slice(0, this.#max);
    for (const line of lines) yield* this.#add(line);
    if (final && this.#held !== null) yield this.#held;
  }

  *#add(line: string): Generator<{ text: string; line: number }> {
    this.#line += 1;
    const held = this.#held;
    if (held !== null && this.#isSoft(held.text)) {
      held.text = cutText(held.text.slice(0, -1) + line, this.#max);
    } else if (held !== null && /^[ \t]\S/.test(line)) {
      held.text = cutText(held.text + line.slice(1), this.#max);
    } else {
      if (held !== null) yield held;
      this.#held = { text: cutText(line, this.#max), line: this.#line };
    }
  }
}

const cutText = (text: string, max: number): string => (text.length > max ? text.slice(0, max) : text);

/** `item1.EMAIL;TYPE=home:ada@example.com`; parameters may be quoted. */
const PROPERTY = /^(?:[\w-]+\.)?([\w-]+)((?:;(?:"[^"]*"|[^":;])*)*):(.*)$/s;
const FRAME = /^(BEGIN|END):VCARD\s*$/i;
/** These properties are versions, pictures, sounds and keys. */
const NO_COLUMNS: ReadonlySet<string> = new Set(['VERSION', 'PRODID', 'PHOTO', 'LOGO', 'SOUND', 'KEY']);

function isSoftLine(line: string): boolean {
  if (!line.endsWith('=')) return false;
  const [head = ''] = line.split(':', 1);
  return head.includes(';') && /QUOTED-PRINTABLE/i.test(head.slice(head.indexOf(';')));
}

export function readVCards(limits: RowLimits): ContactReader {
  const lines = new FoldedLines(limits.rowBytes, isSoftLine);
  const rows = new ContactRows(limits);
  let isOpen = false;
  let last = 1;
  return {
    names: rows.names,
    push(text, final) {
      const found: RawRow[] = [];
      for (const { text: property, line } of lines.push(text, final)) {
        last = line;
        if (FRAME.test(property)) {
          const isStart = /^b/i.test(property);
          if (isStart) rows.start(line);
          else if (isOpen) found.push(rows.row());
          isOpen = isStart;
          continue;
        }
        const [, name = '', parameters = '', value = ''] = PROPERTY.exec(property) ?? [];
        const key = name.toUpperCase();
        if (isOpen && !NO_COLUMNS.has(key) && key !== '') {
          const plain = vCardValue(value, parameters);
          rows.add(key, key === 'EMAIL' ? plain.replace(/^mailto:/i, '') : plain);
        }
      }
      if (final && isOpen) throw unreadable('a vCard is not closed: it may be only a part of a file', last);
      return found;
    },
  };
}

function vCardValue(value: string, parameters: string): string {
  const text = /QUOTED-PRINTABLE/i.test(parameters) ? fromQuotedPrintable(value, parameters) : value;
  const plain = text.replaceAll(/\\([\\,;:nN])/g, (_, character: string) => (/n/i.test(character) ? '\n' : character));
  // Most parts of a structured name are empty.
  return plain.replaceAll(/;+/g, ';').replaceAll(/^;|;$/g, '').trim();
}

function fromQuotedPrintable(text: string, parameters: string): string {
  const bytes = Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  const [, charset = 'utf-8'] = /CHARSET="?([\w-]+)/i.exec(parameters) ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString();
  }
}

/** Values in base64 that are longer are pictures and certificates. */
const BASE64_LENGTH = 4_096;

export function readLdif(limits: RowLimits): ContactReader {
  const lines = new FoldedLines(limits.rowBytes);
  const rows = new ContactRows(limits);
  let isOpen = false;
  return {
    names: rows.names,
    push(text, final) {
      const found: RawRow[] = [];
      for (const { text: attribute, line } of lines.push(text, final)) {
        if (attribute.trim() === '') {
          if (isOpen) found.push(rows.row());
          isOpen = false;
          continue;
        }
        const [, name = '', kind = '', value = ''] = /^([\w.;-]+):([:<]?)[ \t]*(.*)$/s.exec(attribute) ?? [];
        if (name === '' || attribute.startsWith('#') || (!isOpen && name === 'version')) continue;
        if (!isOpen) rows.start(line);
        isOpen = true;
        const [field = ''] = name.split(';');
        if (kind === '') rows.add(field, value.trim());
        else if (kind === ':' && value.length <= BASE64_LENGTH)
          rows.add(field, Buffer.from(value, 'base64').toString().trim());
      }
      if (final && isOpen) found.push(rows.row());
      return found;
    },
  };
}
