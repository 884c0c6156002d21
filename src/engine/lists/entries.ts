/**
 * The file of disposable domains: a head of `# key: value` lines, then one line per domain, sorted by code unit:
 * `domain<TAB>letters`, and `<TAB>reason` after that for a name that is set aside. One file, so that one rename replaces
 * all of it at once. Names are looked up in the text itself, by bisection: putting 165,000 of them into a Set would cost
 * every start 0.1 s. That the lines are whole, sorted and as many as announced is the writer's work (formatDisposable);
 * the digest in the head tells that they are what was written.
 */
import { sha256Hex } from '../../kernel/ids.ts';
import { BIT, isVerdict, type Letter, lettersOf, type SetAside } from './rule.ts';

/** A file that cannot be used; the message says why. */
export class ListFileError extends Error {}

export interface Entry {
  readonly bits: number;
  readonly reason: SetAside | null;
}

export type TierName = 'verdict' | 'suspicion';

/** The names of one tier. */
export interface Tier {
  has(name: string): boolean;
  readonly size: number;
}

export interface DisposableFile {
  /** `YYYY-MM-DD`. */
  readonly version: string;
  /** Letter → what it stands for. */
  readonly sources: ReadonlyMap<string, string>;
  readonly verdict: Tier;
  readonly suspicion: Tier;
  /** The tier of `name`; null for what is in none. About a microsecond. */
  tier(name: string): TierName | null;
  /** All of the file, and where its head ends. */
  readonly text: string;
  readonly body: number;
}

const MAX_FILE_CHARS = 64 * 1024 * 1024;
const TAB = 9;
const LINE_FEED = 10;

/** Head of the file. Throws ListFileError when a line that is needed is missing or no such thing. */
function readHead(text: string) {
  const values = new Map<string, string>();
  const sources = new Map<string, string>();
  let body = 0;
  while (text[body] === '#') {
    const end = text.indexOf('\n', body);
    if (end === -1) break;
    const [, key, value] = /^# ([a-z\d ]+): (.*)$/.exec(text.slice(body, end)) ?? [];
    if (key?.startsWith('source ')) sources.set(key.slice(7), value!);
    else if (key !== undefined) values.set(key, value!);
    body = end + 1;
  }
  const needed = (key: string, form: RegExp, what: string): string => {
    const value = values.get(key) ?? '';
    if (!form.test(value)) throw new ListFileError(`no ${what} in the head`);
    return value;
  };
  return {
    version: needed('version', /^\d{4}-\d{2}-\d{2}$/, 'version (YYYY-MM-DD)'),
    verdict: Number(needed('verdict', /^\d{1,8}$/, 'number of disposable domains')),
    suspicion: Number(needed('suspicion', /^\d{1,8}$/, 'number of suspected domains')),
    sha256: needed('sha256', /^[\da-f]{64}$/, 'SHA-256 of the entries'),
    sources,
    body,
  };
}

/** Reads the file: a few milliseconds for 165,000 lines. Throws ListFileError for one that is cut short or changed. */
export function parseDisposable(text: string): DisposableFile {
  if (text.length > MAX_FILE_CHARS) throw new ListFileError('larger than 64 MB');
  const { version, sources, body, ...head } = readHead(text);
  if (sha256Hex(text.slice(body)) !== head.sha256)
    throw new ListFileError('the entries are not those that were written');
  const tier = (name: string) => tierAt(text, body, name);
  return {
    version,
    sources,
    verdict: { size: head.verdict, has: (name) => tier(name) === 'verdict' },
    suspicion: { size: head.suspicion, has: (name) => tier(name) === 'suspicion' },
    tier,
    text,
    body,
  };
}

/** The tier of an entry; null for one that is set aside. */
export const tierOf = ({ bits, reason }: Entry): TierName | null =>
  reason !== null ? null : isVerdict(bits) ? 'verdict' : 'suspicion';

function tierAt(text: string, body: number, name: string): TierName | null {
  const start = lineOf(text, body, name);
  if (start === -1) return null;
  let bits = 0;
  for (let i = start + name.length + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === TAB) return null;
    if (code === LINE_FEED) break;
    bits |= 1 << (code - 97);
  }
  return isVerdict(bits) ? 'verdict' : 'suspicion';
}

/** Where the line of `name` begins, found by bisection; -1 without one. Comes to an end in any text. */
function lineOf(text: string, body: number, name: string): number {
  const key = `${name}\t`;
  let low = body;
  let high = text.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    let start = middle;
    while (start > low && text.charCodeAt(start - 1) !== LINE_FEED) start--;
    let i = 0;
    while (i < key.length && text.charCodeAt(start + i) === key.charCodeAt(i)) i++;
    if (i === key.length) return start;
    if (text.charCodeAt(start + i) > key.charCodeAt(i)) {
      high = start;
    } else {
      const end = text.indexOf('\n', middle);
      low = end === -1 ? high : end + 1;
    }
  }
  return -1;
}

/** The line of `name`; null without one. */
export function entryOf({ text, body }: DisposableFile, name: string): Entry | null {
  const start = lineOf(text, body, name);
  return start === -1 ? null : fromColumns(text.slice(start, text.indexOf('\n', start)).split('\t'));
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
  for (const line of file.text.slice(file.body).split('\n')) {
    if (line === '') continue;
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
  const body = lines.map((line) => `${line}\n`).join('');
  const tiers = [...entries.values()].map(tierOf);
  const head = [
    '# Disposable mail domains: domain, letters of the sources that name it, why it is set aside. See SOURCES.md.',
    `# version: ${version}`,
    ...[...sources].map(([letter, what]) => `# source ${letter}: ${what}`),
    `# entries: ${lines.length}`,
    `# verdict: ${tiers.filter((tier) => tier === 'verdict').length}`,
    `# suspicion: ${tiers.filter((tier) => tier === 'suspicion').length}`,
    `# sha256: ${sha256Hex(body)}`,
  ];
  return `${head.join('\n')}\n${body}`;
}
