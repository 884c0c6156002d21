/**
 * The file of disposable domains: a head of `# key: value` lines, then one line per domain, sorted:
 * `domain<TAB>letters`, and `<TAB>reason` after that for a name that is set aside. One file, so that one rename replaces
 * all of it at once.
 */
import { BIT, isVerdict, type Letter, lettersOf, type SetAside } from './rule.ts';

/** A file that cannot be used; the message says why. */
export class ListFileError extends Error {}

export interface Entry {
  readonly bits: number;
  readonly reason: SetAside | null;
}

export interface DisposableFile {
  /** `YYYY-MM-DD`. */
  readonly version: string;
  /** Letter → what it stands for. */
  readonly sources: ReadonlyMap<string, string>;
  readonly verdict: ReadonlySet<string>;
  readonly suspicion: ReadonlySet<string>;
  /** All of the file. The sets' strings are slices of it, so that keeping it costs nothing. */
  readonly text: string;
}

const MAX_FILE_CHARS = 64 * 1024 * 1024;
const TAB = 9;

/** Head of the file. Throws ListFileError when the version or the number of entries is missing or no such thing. */
function readHead(text: string) {
  const sources = new Map<string, string>();
  let version = '';
  let entries = -1;
  let at = 0;
  while (text[at] === '#') {
    const end = text.indexOf('\n', at);
    if (end === -1) break;
    const [, key, value] = /^# ([a-z ]+): (.*)$/.exec(text.slice(at, end)) ?? [];
    if (key === 'version') version = value!;
    else if (key === 'entries') entries = Number(value);
    else if (key?.startsWith('source ')) sources.set(key.slice(7), value!);
    at = end + 1;
  }
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) throw new ListFileError('no version (YYYY-MM-DD) in the head');
  if (!Number.isInteger(entries) || entries < 0) throw new ListFileError('no number of entries in the head');
  return { version, sources, entries, at };
}

/**
 * Reads the file: about 0.1 s for 165,000 lines. Throws ListFileError for one that is cut short or damaged.
 * Lines are trusted to be names, since only our own writer makes this file; the count tells a truncated one.
 */
export function parseDisposable(text: string): DisposableFile {
  if (text.length > MAX_FILE_CHARS) throw new ListFileError('larger than 64 MB');
  const head = readHead(text);
  const verdict = new Set<string>();
  const suspicion = new Set<string>();
  let count = 0;
  for (let at = head.at; at < text.length; count++) {
    const tab = text.indexOf('\t', at);
    const end = text.indexOf('\n', at);
    if (end === -1 || tab <= at || tab > end) throw new ListFileError(`line ${count + 1} after the head is damaged`);
    let bits = 0;
    let i = tab + 1;
    for (; i < end && text.charCodeAt(i) !== TAB; i++) bits |= 1 << (text.charCodeAt(i) - 97);
    if (i === end) (isVerdict(bits) ? verdict : suspicion).add(text.slice(at, tab));
    at = end + 1;
  }
  if (count !== head.entries) throw new ListFileError(`${count} entries where the head announces ${head.entries}`);
  return { version: head.version, sources: head.sources, verdict, suspicion, text };
}

/** The line of `name`, found in the text by bisection (the lines are sorted, `#` before all names); null without one. */
export function entryOf({ text }: DisposableFile, name: string): Entry | null {
  const key = `${name}\t`;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const start = text.lastIndexOf('\n', middle - 1) + 1;
    const end = text.indexOf('\n', middle);
    const line = text.slice(start, end === -1 ? text.length : end);
    if (line.startsWith(key)) return fromColumns(line.split('\t'));
    if (line < key) low = end === -1 ? text.length : end + 1;
    else high = start;
  }
  return null;
}

const fromColumns = ([, letters = '', reason]: readonly string[]): Entry => ({
  bits: bitsOf(letters),
  reason: (reason as SetAside | undefined) ?? null,
});

const bitsOf = (letters: string): number => {
  let bits = 0;
  for (const letter of letters) bits |= BIT[letter as Letter] ?? 0;
  return bits;
};

/** Every entry of the file, set aside ones too. */
export function allEntries(file: DisposableFile): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const line of file.text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const columns = line.split('\t');
    entries.set(columns[0]!, fromColumns(columns));
  }
  return entries;
}

/** The file's text for `entries`; the same input gives the same bytes. */
export function formatDisposable(
  version: string,
  sources: ReadonlyMap<string, string>,
  entries: ReadonlyMap<string, Entry>,
): string {
  const lines = [...entries]
    .map(([name, { bits, reason }]) => `${name}\t${lettersOf(bits)}${reason === null ? '' : `\t${reason}`}`)
    .sort();
  const head = [
    '# Disposable mail domains: domain, letters of the sources that name it, why it is set aside. See SOURCES.md.',
    `# version: ${version}`,
    ...[...sources].map(([letter, what]) => `# source ${letter}: ${what}`),
    `# entries: ${lines.length}`,
  ];
  return `${[...head, ...lines].join('\n')}\n`;
}
