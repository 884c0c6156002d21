import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import { nearest } from '../kernel/nearest.ts';

/** A value of a mapping comes with its line, counted from 1. */
export interface YamlValue {
  readonly node: unknown;
  readonly line: number;
}

const FILE_CHARACTERS_MAX = 256 * 1024;

/** A YAML file, whose mistakes are reported all at once, each with its line and what to write instead. */
export class YamlFile {
  readonly #path: string;
  readonly #lines = new LineCounter();
  readonly #problems: { readonly line: number; readonly text: string }[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** The problems are in the order of their lines. */
  get problems(): readonly string[] {
    return this.#problems.toSorted((a, b) => a.line - b.line).map(({ line, text }) => `${this.#path}:${line}: ${text}`);
  }

  /** Reports a mistake. */
  say(line: number, text: string): null {
    this.#problems.push({ line, text });
    return null;
  }

  /** Undefined: it cannot be read, which has been reported. */
  parse(text: string): ParsedNode | null | undefined {
    if (text.length > FILE_CHARACTERS_MAX) {
      this.say(1, `the file is too long: at most ${FILE_CHARACTERS_MAX / 1024} KB.`);
      return undefined;
    }
    const { errors, contents } = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      version: '1.2',
    });
    for (const { message, pos } of errors) this.say(this.#lines.linePos(pos[0]).line, `no YAML: ${message}`);
    return errors.length > 0 ? undefined : contents;
  }

  lineOf(node: unknown, otherwise: number): number {
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null;
    const [start] = Array.isArray(range) ? range : [];
    return typeof start === 'number' ? this.#lines.linePos(start).line : otherwise;
  }

  /** The values of a mapping by key; null: it is none, which has been reported. `of`: what it describes. */
  fields<K extends string>({ node, line }: YamlValue, keys: readonly K[], of: string): Map<K, YamlValue> | null {
    if (!isMap(node)) return this.say(line, `${of}: give a mapping of ${keys.join(', ')}.`);
    const fields = new Map<K, YamlValue>();
    for (const pair of node.items) {
      const at = this.lineOf(pair.key, line);
      const written = isScalar(pair.key) ? String(pair.key.value) : '';
      const key = keys.find((known) => known === written);
      const close = nearest(written, keys);
      const hint = close === null ? `give one of ${keys.join(', ')}` : `did you mean ${close}?`;
      if (key === undefined) this.say(at, `${of}: ${quoted(written)} is no key here; ${hint}`);
      else fields.set(key, { node: pair.value, line: this.lineOf(pair.value, at) });
    }
    return fields;
  }
}

/** As a message shows it. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));
