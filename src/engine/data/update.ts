/**
 * `mailvet disposable update`: fetches the source lists and merges them into one file. Fetched data is untrusted: a
 * list that is malformed, has shrunk or contains a large provider is rejected, and what it named before stays in use.
 * What each list counts for is said in disposable-file.ts.
 */
import { type Clock, fromIso, toIso } from '../../kernel/clock.ts';
import {
  allEntries,
  asciiName,
  type DisposableEntry,
  formatDisposable,
  LETTER_BIT,
  type Letter,
  parseDisposable,
  registrableOf,
  type SetAside,
  tierOf,
} from './disposable-file.ts';
import {
  currentDisposable,
  DISPOSABLE_FILE,
  nearestKnown,
  packagedDir,
  readFileLines,
  readRelays,
  readTable,
  replaceFile,
} from './domain-data.ts';

export const UPDATE_SOURCES = ['disposable', 'fakefilter', 'mailchecker', 'tompec', 'ivolo'] as const;
export type UpdateSource = (typeof UPDATE_SOURCES)[number];

/** A list is not what it should be; the message begins with where it is from. */
class NotAListError extends Error {}

interface SourceRow {
  readonly letter: Exclude<Letter, 'f'>;
  /** The file shows it. */
  readonly title: string;
  readonly url: string;
  /** Says whether it has one name per line with `#` comments, or is a JSON array of names. */
  readonly format: 'lines' | 'json';
  /** Licenses are SPDX identifiers. */
  readonly license: string;
  /** What it counts for, for operators. */
  readonly weight: string;
}

const GITHUB = 'https://raw.githubusercontent.com';

export const UPDATE_SOURCE_ROWS = {
  disposable: {
    letter: 'a',
    title: 'disposable_email_blocklist.conf',
    url: `${GITHUB}/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf`,
    format: 'lines',
    license: 'CC0-1.0',
    weight: 'Curated: decides alone.',
  },
  fakefilter: {
    letter: 'b',
    title: 'fakefilter data.txt',
    url: `${GITHUB}/7c/fakefilter/main/txt/data.txt`,
    format: 'lines',
    license: 'BSD-3-Clause',
    weight: 'Crawls the services: decides alone.',
  },
  mailchecker: {
    letter: 'c',
    title: 'mailchecker list.txt',
    url: `${GITHUB}/FGRibreau/mailchecker/master/list.txt`,
    format: 'lines',
    license: 'MIT',
    weight: 'Decides where one of the next two confirms it.',
  },
  tompec: {
    letter: 'd',
    title: 'tompec index.json',
    url: `${GITHUB}/tompec/disposable-email-domains/main/index.json`,
    format: 'json',
    license: 'MIT',
    weight: 'Confirms; alone a suspicion.',
  },
  ivolo: {
    letter: 'e',
    title: 'ivolo index.json',
    url: `${GITHUB}/ivolo/disposable-email-domains/master/index.json`,
    format: 'json',
    license: 'MIT',
    weight: 'Confirms; alone a suspicion.',
  },
} as const satisfies Record<UpdateSource, SourceRow>;

const MAX_DOMAINS = 500_000;
/** What lists of 100,000 names may contain of malformed ones; a page of something else contains more. */
const MALFORMED_SHARE = 0.01;

/** The names of a downloaded list, in lower-case ASCII. Throws NotAListError. */
function readNames(text: string, url: string, format: SourceRow['format']): Set<string> {
  return format === 'lines' ? parseNameLines(text, url) : parseNameJson(text, url);
}

/** One domain name per line; empty lines and `#` comments are skipped. */
function parseNameLines(text: string, url: string): Set<string> {
  const names = new Set<string>();
  let number = 0;
  for (const raw of text.split('\n')) {
    number++;
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const name = asciiName(line);
    if (name === null) throw new NotAListError(`${url}: line ${number} is not a domain name`);
    addName(names, name, url);
  }
  return names;
}

function parseNameJson(text: string, url: string): Set<string> {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw new NotAListError(`${url} is not JSON`, { cause });
  }
  if (!Array.isArray(list)) throw new NotAListError(`${url} is not a JSON array`);
  const names = new Set<string>();
  let malformed = 0;
  for (const item of list) {
    const name = typeof item === 'string' ? asciiName(item.trim()) : null;
    if (name !== null) addName(names, name, url);
    else if (++malformed > list.length * MALFORMED_SHARE)
      throw new NotAListError(`${url}: ${JSON.stringify(item).slice(0, 80)} is not a domain name`);
  }
  return names;
}

function addName(names: Set<string>, name: string, url: string): void {
  names.add(name);
  if (names.size > MAX_DOMAINS) throw new NotAListError(`${url}: over ${MAX_DOMAINS} domains`);
}

/** Fetches a text; throws on failure. */
export type FetchText = (url: string, limit: { maxBytes: number; timeoutMs: number }) => Promise<string>;

const MAX_LIST_BYTES = 16 * 1024 * 1024;
const LIST_TIMEOUT_MS = 30_000;
/** A list that lost more than a fifth was probably truncated or emptied, by accident or on purpose. */
const MIN_SHARE = 0.8;

interface UpdateOptions {
  /** The new list goes into this writable directory, which is created if it is missing. */
  readonly dir: string;
  readonly packaged?: string;
  /** Null: not downloaded, and what is known of it stays. */
  readonly urls?: Partial<Record<UpdateSource, string | null>>;
  readonly fetchText: FetchText;
  readonly clock: Clock;
}

export interface UpdateSummary {
  readonly version: string;
  readonly path: string;
  /** They count the domains added to and removed from the verdict tier. */
  readonly added: number;
  readonly removed: number;
  /** Counts the verdict tier. */
  readonly total: number;
  readonly suspected: number;
  readonly sources: readonly SourceOutcome[];
}

export interface SourceOutcome {
  readonly source: UpdateSource;
  readonly url: string;
  /** How many it lists; after a problem, in its last good copy. */
  readonly domains: number;
  /** Why its last good copy stays in use; null: it was downloaded. One sentence for users. */
  readonly problem: string | null;
}

export type UpdateFault = 'fetch_failed' | 'not_a_list' | 'shrunk' | 'names_a_provider' | 'not_written';

/** The update failed; nothing was changed. `message` is one sentence for users. */
class ListUpdateError extends Error {
  readonly code: UpdateFault;
  constructor(code: UpdateFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ListUpdateError';
    this.code = code;
  }
}

/**
 * Fetches, checks, merges and replaces. A list that fails leaves what it named before in use, and so does one with the
 * URL null. Throws ListUpdateError, and changes nothing, when all of them fail.
 */
export async function updateDisposable(options: UpdateOptions): Promise<UpdateSummary> {
  const { dir, packaged = packagedDir(), clock } = options;
  const current = currentDisposable(dir, packaged);
  const before = allEntries(current);
  const sentinels = readSentinels(packaged);
  const outcomes = await Promise.all(
    UPDATE_SOURCES.flatMap((source) => {
      const url = options.urls?.[source] === undefined ? UPDATE_SOURCE_ROWS[source].url : options.urls[source];
      return url === null ? [] : [attempt(source, url, options, before, sentinels)];
    }),
  );
  const fetched = outcomes.flatMap(({ list }) => list ?? []);
  const [failure] = outcomes.flatMap(({ error }) => error ?? []);
  if (fetched.length === 0) throw failure ?? new ListUpdateError('fetch_failed', 'No list has a URL.');
  // A slow clock must not date the new list before the old one, because the one with the newer date is used.
  const now = toIso(clock.now());
  const today = now.slice(0, 10);
  const version = today > current.version ? today : current.version;
  const sources = new Map(current.sources);
  const times = { made: now > current.made ? now : current.made, fetched: new Map(current.fetched) };
  for (const { letter, title } of fetched) {
    sources.set(letter, `${title}, fetched ${version}`);
    times.fetched.set(letter, now);
  }
  const entries = merge(before, fetched, ruleFacts(packaged));
  let text = formatDisposable(version, sources, entries, times);
  let next = parseDisposable(text);
  if (next.verdict.size < current.verdict.size * MIN_SHARE) {
    throw shrunk('The merged list', next.verdict.size, current.verdict.size);
  }
  if (times.made === current.made && text !== current.text) {
    // Of two different lists one is later, even where the clock stands still.
    text = formatDisposable(version, sources, entries, {
      ...times,
      made: toIso((fromIso(current.made) ?? clock.now()) + 1),
    });
    next = parseDisposable(text);
  }
  const path = written(() => replaceFile(dir, DISPOSABLE_FILE, text));
  return {
    version,
    path,
    ...difference(before, entries),
    total: next.verdict.size,
    suspected: next.suspicion.size,
    sources: outcomes.map(({ outcome }) => outcome),
  };
}

interface SourceAttempt {
  readonly outcome: SourceOutcome;
  readonly list: FetchedList | null;
  readonly error: ListUpdateError | null;
}

async function attempt(
  source: UpdateSource,
  url: string,
  options: UpdateOptions,
  before: ReadonlyMap<string, DisposableEntry>,
  sentinels: ReadonlySet<string>,
): Promise<SourceAttempt> {
  const listed = countListed(before, LETTER_BIT[UPDATE_SOURCE_ROWS[source].letter]);
  try {
    const list = await fetchList(source, url, options);
    checkFetched(list, listed, sentinels);
    return { outcome: { source, url, domains: list.names.size, problem: null }, list, error: null };
  } catch (error) {
    if (!(error instanceof ListUpdateError)) throw error;
    return { outcome: { source, url, domains: listed, problem: error.message }, list: null, error };
  }
}

interface FetchedList {
  readonly letter: Letter;
  readonly title: string;
  readonly url: string;
  readonly names: ReadonlySet<string>;
}

async function fetchList(source: UpdateSource, url: string, { fetchText }: UpdateOptions): Promise<FetchedList> {
  const { letter, title, format } = UPDATE_SOURCE_ROWS[source];
  const text = await fetchText(url, { maxBytes: MAX_LIST_BYTES, timeoutMs: LIST_TIMEOUT_MS }).catch((cause: Error) => {
    throw new ListUpdateError('fetch_failed', `${url} could not be fetched: ${cause.message}`, cause);
  });
  if (text.length > MAX_LIST_BYTES) throw new ListUpdateError('not_a_list', `${url} is over ${MAX_LIST_BYTES} bytes`);
  try {
    return { letter, title, url, names: readNames(text, url, format) };
  } catch (error) {
    if (error instanceof NotAListError) throw new ListUpdateError('not_a_list', error.message, error);
    throw error;
  }
}

function checkFetched({ names, url }: FetchedList, before: number, sentinels: Iterable<string>): void {
  for (const sentinel of sentinels) {
    if (names.has(sentinel)) {
      throw new ListUpdateError('names_a_provider', `${url} names ${sentinel}, which is a real mail provider`);
    }
  }
  if (names.size < before * MIN_SHARE) throw shrunk(url, names.size, before);
}

const shrunk = (what: string, now: number, before: number): ListUpdateError =>
  new ListUpdateError(
    'shrunk',
    `${what} has ${now} domains where the list in use has ${before}: more than a fifth is gone`,
  );

function countListed(entries: ReadonlyMap<string, DisposableEntry>, bit: number): number {
  let n = 0;
  for (const { bits } of entries.values()) if ((bits & bit) !== 0) n++;
  return n;
}

/** Takes the old entries without the letters of the fetched lists, and adds the fetched ones. */
function merge(
  before: ReadonlyMap<string, DisposableEntry>,
  fetched: readonly FetchedList[],
  facts: RuleFacts & { readonly free: ReadonlySet<string> },
): Map<string, DisposableEntry> {
  const bits = new Map<string, number>();
  const replaced = fetched.reduce((all, { letter }) => all | LETTER_BIT[letter], 0);
  for (const [name, entry] of before) {
    const kept = entry.bits & ~replaced;
    // A name that only the replaced lists contained is dropped; a free-provider letter alone is not an entry.
    if ((kept & ~LETTER_BIT.f) !== 0 || fetched.some(({ names }) => names.has(name))) bits.set(name, kept);
  }
  for (const { letter, names } of fetched) {
    for (const name of names)
      bits.set(name, (bits.get(name) ?? (facts.free.has(name) ? LETTER_BIT.f : 0)) | LETTER_BIT[letter]);
  }
  return new Map([...bits].map(([name, b]) => [name, { bits: b, reason: setAside(name, facts) }]));
}

function difference(
  before: ReadonlyMap<string, DisposableEntry>,
  after: ReadonlyMap<string, DisposableEntry>,
): { added: number; removed: number } {
  const listed = (entries: ReadonlyMap<string, DisposableEntry>, name: string): boolean => {
    const entry = entries.get(name);
    return entry !== undefined && tierOf(entry) === 'verdict';
  };
  const newly = (from: ReadonlyMap<string, DisposableEntry>, to: ReadonlyMap<string, DisposableEntry>): number =>
    [...to.keys()].filter((name) => listed(to, name) && !listed(from, name)).length;
  return { added: newly(before, after), removed: newly(after, before) };
}

const readSentinels = (packaged: string): Set<string> =>
  new Set([...readFileLines(packaged, 'sentinels.txt'), ...readTable(packaged, 'suggest.txt').keys()]);

const ruleFacts = (packaged: string) => ({
  free: new Set(readFileLines(packaged, 'free.txt')),
  zones: readTable(packaged, 'zones.txt'),
  tlds: new Set(readFileLines(packaged, 'tlds.txt')),
  allow: readTable(packaged, 'allow.txt'),
  relays: readRelays(packaged),
});

function written(write: () => string): string {
  try {
    return write();
  } catch (cause) {
    throw new ListUpdateError('not_written', cause instanceof Error ? cause.message : String(cause), cause);
  }
}

interface RuleFacts {
  /** Free-subdomain zones that are not on the Public Suffix List. */
  readonly zones: { has(name: string): boolean };
  /** IANA's top-level domains as A-labels. */
  readonly tlds: { has(name: string): boolean };
  readonly allow: { has(name: string): boolean };
  readonly relays: { has(name: string): boolean };
}

/** `name` in lower-case ASCII. Null: its letters decide the tier. */
export function setAside(name: string, facts: RuleFacts): SetAside | null {
  if (!facts.tlds.has(name.slice(name.lastIndexOf('.') + 1))) return 'tld';
  if (nearestKnown(name, facts.relays) !== null) return 'relay';
  if (nearestKnown(name, facts.allow) !== null) return 'allow';
  if (registrableOf(name) === null) return 'suffix';
  return facts.zones.has(name) ? 'zone' : null;
}
