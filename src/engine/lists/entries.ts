/**
 * The file of disposable domains: a header of `# key: value` lines, then one line per domain, sorted by code unit:
 * `domain<TAB>letters`, followed by `<TAB>reason` for an excluded name. One file, so that a single rename replaces it
 * atomically. Lookups are a binary search in the text itself: a Set of 165,000 names would add 0.1 s to every start.
 * The writer (formatDisposable) ensures that the lines are complete, sorted and as many as announced; the digest in the
 * header verifies that the file is unchanged.
 */
import { sha256Hex } from '../../kernel/ids.ts';
import { BIT, isVerdict, type Letter, lettersOf, type SetAside } from './rule.ts';

/** The file is unusable; the message says why. */
export class ListFileError extends Error {}

export interface Entry {
  readonly bits: number;
  readonly reason: SetAside | null;
}

type TierName = 'verdict' | 'suspicion';

/** The domains of one tier. */
export interface Tier {
  has(name: string): boolean;
  readonly size: number;
}

export interface DisposableFile {
  /** `YYYY-MM-DD`. */
  readonly version: string;
  /** Letter → source. */
  readonly sources: ReadonlyMap<string, string>;
  readonly verdict: Tier;
  readonly suspicion: Tier;
  /** The tier of `name`, or null. Takes about 1 µs. */
  tier(name: string): TierName | null;
  /** The whole file, and the offset after its header. */
  readonly text: string;
  readonly body: number;
}

const MAX_FILE_CHARS = 64 * 1024 * 1024;
const TAB = 9;
const LINE_FEED = 10;

/** Parses the header. Throws ListFileError when a required line is missing or malformed. */
function readHead(text: string) {
  const values = new Map<string, string>();
  const sources = new Map<string, string>();
  let body = 0;
  while (text[body] === '#') {
    const end = text.indexOf('\n', body);
    if (end === -1) break;
    const [, key, value = ''] = /^# ([a-z\d ]+): (.*)$/.exec(text.slice(body, end)) ?? [];
    if (key?.startsWith('source ')) sources.set(key.slice(7), value);
    else if (key !== undefined) values.set(key, value);
    body = end + 1;
  }
  const needed = (key: string, form: RegExp, what: string): string => {
    const value = values.get(key) ?? '';
    if (!form.test(value)) throw new ListFileError(`no ${what} in the header`);
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

/** Parses the file: a few milliseconds for 165,000 lines. Throws ListFileError if it is truncated or modified. */
export function parseDisposable(text: string): DisposableFile {
  if (text.length > MAX_FILE_CHARS) throw new ListFileError('larger than 64 MB');
  const { version, sources, body, ...head } = readHead(text);
  if (sha256Hex(text.slice(body)) !== head.sha256) throw new ListFileError('the entries do not match the digest');
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

/** The tier of an entry; null if it is excluded. */
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

/** Offset of the line of `name`, by binary search; -1 if absent. Terminates for any text. */
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

/** The line of `name`, or null. */
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

/** All entries of the file, including excluded ones. */
export function allEntries(file: DisposableFile): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const line of file.text.slice(file.body).split('\n')) {
    if (line === '') continue;
    const columns = line.split('\t');
    entries.set(columns[0] ?? '', fromColumns(columns));
  }
  return entries;
}

/** The file's text for `entries`; deterministic. */
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
