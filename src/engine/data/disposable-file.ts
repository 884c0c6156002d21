/**
 * The file of disposable domains: a header of `# key: value` lines, then one line per domain, sorted by code unit:
 * `domain<TAB>letters`, followed by `<TAB>reason` for an excluded name. One file, so that a single rename replaces it
 * atomically. Lookups are a binary search in the text itself: a Set of 165,000 names would add 0.1 s to every start.
 * The writer (formatDisposable) ensures that the lines are complete, sorted and as many as announced; the digest in the
 * header verifies that the file is unchanged.
 *
 * The sources that list a domain decide its tier. Each source has a letter, and the rule depends only on an entry's
 * letters, so that the build (scripts/lists.ts) and `mailvet disposable update` share it.
 */
import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';
import { sha256Hex } from '../../kernel/ids.ts';

// Names here are host names: no URL parsing. Private suffixes (dynv6.net, github.io) count, because subdomains there
// belong to different customers.
const PSL = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false } as const;

/**
 * Returns the registrable domain (public suffix plus one label), or null for a public suffix and for a single label.
 */
export const registrableOf = (name: string): string | null => getDomain(name, PSL);

const LABELS = /^(?=.{4,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** A domain name in lower-case ASCII (IDNA A-labels) with two labels or more, or null when `text` is not one. */
export function asciiName(text: string): string | null {
  const lower = text.toLowerCase();
  if (LABELS.test(lower)) return lower;
  if (lower.length > 253 || !/[^\u0000-\u007f]/.test(lower)) return null;
  const ascii = domainToASCII(lower);
  return LABELS.test(ascii) ? ascii : null;
}

/** a–e: disposable lists, most trusted first. f: on both free-provider lists, which is not a suspicion. */
export const SOURCE_LETTERS = 'abcdef';
export type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f';
export const LETTER_BIT: Readonly<Record<Letter, number>> = { a: 1, b: 2, c: 4, d: 8, e: 16, f: 32 };

/**
 * Disposable: on a curated list (a) or on one that crawls the services (b), or on the third list and confirmed by the
 * fourth or the fifth, unless on both free-provider lists. Anything else on a disposable list is a suspicion.
 */
export const isVerdict = (bits: number): boolean =>
  (bits & (LETTER_BIT.a | LETTER_BIT.b)) !== 0 ||
  ((bits & LETTER_BIT.c) !== 0 && (bits & (LETTER_BIT.d | LETTER_BIT.e)) !== 0 && (bits & LETTER_BIT.f) === 0);

export function sourceLetters(bits: number): string {
  let text = '';
  for (let i = 0; i < SOURCE_LETTERS.length; i++) if ((bits & (1 << i)) !== 0) text += SOURCE_LETTERS[i];
  return text;
}

/** Why a listed name is in no tier. */
export type SetAside = 'suffix' | 'zone' | 'tld' | 'allow' | 'relay';

/** The file is unusable; the message says why. */
export class DisposableFileError extends Error {}

export interface DisposableEntry {
  readonly bits: number;
  readonly reason: SetAside | null;
}

type TierName = 'verdict' | 'suspicion';

export interface Tier {
  has(name: string): boolean;
  readonly size: number;
}

export interface DisposableFile {
  /** `YYYY-MM-DD`. */
  readonly version: string;
  /** ISO time at which it was put together; of a packaged list the beginning of its day. Orders lists of one day. */
  readonly made: string;
  /** Maps letters to sources. */
  readonly sources: ReadonlyMap<string, string>;
  /** Maps letters to the ISO time of their download; what came with the package has none. */
  readonly fetched: ReadonlyMap<string, string>;
  readonly verdict: Tier;
  readonly suspicion: Tier;
  /** Returns the tier of `name`, or null. Takes about 1 µs. */
  tier(name: string): TierName | null;
  /** The whole file; `body` is the offset after its header. */
  readonly text: string;
  readonly body: number;
}

const MAX_FILE_CHARS = 64 * 1024 * 1024;
const TAB_CODE = 9;
const LINE_FEED = 10;

const isTime = (text: string): boolean => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text);

/** Parses the header. Throws DisposableFileError when a required line is missing or malformed. */
function readHead(text: string) {
  const values = new Map<string, string>();
  const sources = new Map<string, string>();
  const fetched = new Map<string, string>();
  let body = 0;
  while (text[body] === '#') {
    const end = text.indexOf('\n', body);
    if (end === -1) break;
    const [, key, value = ''] = /^# ([a-z\d ]+): (.*)$/.exec(text.slice(body, end)) ?? [];
    if (key?.startsWith('source ')) sources.set(key.slice(7), value);
    else if (key?.startsWith('fetched ') && isTime(value)) fetched.set(key.slice(8), value);
    else if (key !== undefined) values.set(key, value);
    body = end + 1;
  }
  const needed = (key: string, form: RegExp, what: string): string => {
    const value = values.get(key) ?? '';
    if (!form.test(value)) throw new DisposableFileError(`no ${what} in the header`);
    return value;
  };
  const version = needed('version', /^\d{4}-\d{2}-\d{2}$/, 'version (YYYY-MM-DD)');
  const made = values.get('made') ?? '';
  return {
    made: isTime(made) ? made : `${version}T00:00:00.000Z`,
    fetched,
    version,
    verdict: Number(needed('verdict', /^\d{1,8}$/, 'number of disposable domains')),
    suspicion: Number(needed('suspicion', /^\d{1,8}$/, 'number of suspected domains')),
    sha256: needed('sha256', /^[\da-f]{64}$/, 'SHA-256 of the entries'),
    sources,
    body,
  };
}

/** Parses the file: a few milliseconds for 165,000 lines. Throws DisposableFileError if it is truncated or modified. */
export function parseDisposable(text: string): DisposableFile {
  if (text.length > MAX_FILE_CHARS) throw new DisposableFileError('larger than 64 MB');
  const { version, made, sources, fetched, body, ...head } = readHead(text);
  if (sha256Hex(text.slice(body)) !== head.sha256) throw new DisposableFileError('the entries do not match the digest');
  const tier = (name: string) => tierAt(text, body, name);
  return {
    version,
    made,
    sources,
    fetched,
    verdict: { size: head.verdict, has: (name) => tier(name) === 'verdict' },
    suspicion: { size: head.suspicion, has: (name) => tier(name) === 'suspicion' },
    tier,
    text,
    body,
  };
}

/** Returns the tier of an entry; null if it is excluded. */
export const tierOf = ({ bits, reason }: DisposableEntry): TierName | null =>
  reason !== null ? null : isVerdict(bits) ? 'verdict' : 'suspicion';

function tierAt(text: string, body: number, name: string): TierName | null {
  const start = lineOffset(text, body, name);
  if (start === -1) return null;
  let bits = 0;
  for (let i = start + name.length + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === TAB_CODE) return null;
    if (code === LINE_FEED) break;
    bits |= 1 << (code - 97);
  }
  return isVerdict(bits) ? 'verdict' : 'suspicion';
}

/** Offset of the line of `name`, by binary search; -1 if absent. Terminates for any text. */
function lineOffset(text: string, body: number, name: string): number {
  const at = searchOffset(text, body, `${name}\t`);
  return text.startsWith(`${name}\t`, at) ? at : -1;
}

/** Returns the offset of the line that begins with `key`, or of the first line after its place. */
function searchOffset(text: string, body: number, key: string): number {
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
  return low;
}

/** Returns the line of `name`, or null. */
export function entryOf({ text, body }: DisposableFile, name: string): DisposableEntry | null {
  const start = lineOffset(text, body, name);
  return start === -1 ? null : fromColumns(text.slice(start, text.indexOf('\n', start)).split('\t'));
}

const fromColumns = ([, letters = '', reason]: readonly string[]): DisposableEntry => ({
  bits: letterBits(letters),
  reason: (reason as SetAside | undefined) ?? null,
});

const letterBits = (letters: string): number => {
  let bits = 0;
  for (const letter of letters) bits |= LETTER_BIT[letter as Letter] ?? 0;
  return bits;
};

/** Returns all entries of the file, including excluded ones. */
export function allEntries(file: DisposableFile): Map<string, DisposableEntry> {
  const entries = new Map<string, DisposableEntry>();
  for (const line of file.text.slice(file.body).split('\n')) {
    if (line === '') continue;
    const columns = line.split('\t');
    entries.set(columns[0] ?? '', fromColumns(columns));
  }
  return entries;
}

/** Up to `most` domains of the verdict tier that come after `after` in the order of the file. */
export function verdictsAfter({ text, body }: DisposableFile, after: string, most: number): string[] {
  const names: string[] = [];
  let start = searchOffset(text, body, `${after}\t`);
  if (text.startsWith(`${after}\t`, start)) start = lineEnd(text, start);
  while (start < text.length && names.length < most) {
    const end = lineEnd(text, start);
    const [name = '', ...columns] = text.slice(start, end - 1).split('\t');
    if (tierOf(fromColumns([name, ...columns])) === 'verdict') names.push(name);
    start = end;
  }
  return names;
}

const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
};

/** How many domains each source lists, by letter. Reads the whole file: some milliseconds. */
export function sourceSizes({ text, body }: DisposableFile): Map<string, number> {
  const sizes = new Map<string, number>();
  for (let at = body; at < text.length; ) {
    for (let i = text.indexOf('\t', at) + 1; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === TAB_CODE || code === LINE_FEED) break;
      const letter = String.fromCharCode(code);
      sizes.set(letter, (sizes.get(letter) ?? 0) + 1);
    }
    at = lineEnd(text, at);
  }
  return sizes;
}

/** When a list was put together, and its parts downloaded (DisposableFile). */
type ListTimes = Pick<DisposableFile, 'made' | 'fetched'>;

/** Writes the file's text for `entries`; it is deterministic. */
export function formatDisposable(
  version: string,
  sources: ReadonlyMap<string, string>,
  entries: ReadonlyMap<string, DisposableEntry>,
  times?: ListTimes,
): string {
  const lines = [...entries]
    .map(([name, { bits, reason }]) => `${name}\t${sourceLetters(bits)}${reason === null ? '' : `\t${reason}`}`)
    .sort();
  const body = lines.map((line) => `${line}\n`).join('');
  const tiers = [...entries.values()].map(tierOf);
  const head = [
    '# Disposable mail domains: domain, letters of the sources that name it, why it is set aside. See SOURCES.md.',
    `# version: ${version}`,
    ...(times === undefined ? [] : [`# made: ${times.made}`]),
    ...[...(times?.fetched ?? [])].map(([letter, at]) => `# fetched ${letter}: ${at}`),
    ...[...sources].map(([letter, what]) => `# source ${letter}: ${what}`),
    `# entries: ${lines.length}`,
    `# verdict: ${tiers.filter((tier) => tier === 'verdict').length}`,
    `# suspicion: ${tiers.filter((tier) => tier === 'suspicion').length}`,
    `# sha256: ${sha256Hex(body)}`,
  ];
  return `${head.join('\n')}\n${body}`;
}
