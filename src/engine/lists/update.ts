/**
 * `mailvet disposable update`: fetches the two lists that go stale fastest and merges them with the packaged ones. Fetched
 * data is untrusted: a list that is malformed, has shrunk or contains a large provider is rejected, and the lists in
 * use stay as they are.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, toIso } from '../../kernel/clock.ts';
import { randomToken } from '../../kernel/ids.ts';
import { allEntries, type Entry, formatDisposable, parseDisposable, tierOf } from './entries.ts';
import { readLines, readRelays, readTable } from './facts.ts';
import { packagedDir } from './lists.ts';
import { asciiName } from './names.ts';
import { BIT, type RuleFacts, setAside } from './rule.ts';
import { currentDisposable } from './watch.ts';

/** Fetches a text; throws on failure. */
export type FetchText = (url: string, limit: { maxBytes: number; timeoutMs: number }) => Promise<string>;

type UpdateSource = 'disposable' | 'fakefilter';

/** The fetched lists: letter and title in the file, and default URL. */
const FETCHED = {
  disposable: {
    letter: 'a',
    title: 'disposable_email_blocklist.conf',
    url: 'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf',
  },
  fakefilter: {
    letter: 'b',
    title: 'fakefilter data.txt',
    url: 'https://raw.githubusercontent.com/7c/fakefilter/main/txt/data.txt',
  },
} as const;
const SOURCES = ['disposable', 'fakefilter'] as const;

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DOMAINS = 500_000;
const TIMEOUT_MS = 30_000;
/** A list that lost more than a fifth was probably truncated or emptied, by accident or on purpose. */
const MIN_SHARE = 0.8;

interface UpdateOptions {
  /** Writable directory for the new list; created if missing. */
  readonly dir: string;
  readonly packaged?: string;
  readonly urls?: Partial<Record<UpdateSource, string>>;
  readonly fetchText: FetchText;
  readonly clock: Clock;
}

export interface UpdateSummary {
  readonly version: string;
  readonly path: string;
  /** Domains added to and removed from the verdict tier. */
  readonly added: number;
  readonly removed: number;
  /** Size of the verdict tier. */
  readonly total: number;
  readonly suspected: number;
  readonly sources: readonly { readonly url: string; readonly domains: number }[];
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

/** Fetches, checks, merges and replaces. On ListUpdateError the lists are unchanged. */
export async function updateLists(options: UpdateOptions): Promise<UpdateSummary> {
  const { dir, packaged = packagedDir(), clock } = options;
  const current = currentDisposable(dir, packaged);
  const before = allEntries(current);
  const fetched = await Promise.all(SOURCES.map((source) => fetchList(source, options)));
  const sentinels = readSentinels(packaged);
  for (const list of fetched) refuse(list, count(before, BIT[list.letter]), sentinels);
  // A slow clock must not date the new list before the old one, because the one with the newer date is used.
  const today = toIso(clock.now()).slice(0, 10);
  const version = today > current.version ? today : current.version;
  const sources = new Map(current.sources);
  for (const { letter, title } of fetched) sources.set(letter, `${title}, fetched ${version}`);
  const entries = merge(before, fetched, ruleFacts(packaged));
  const text = formatDisposable(version, sources, entries);
  const next = parseDisposable(text);
  if (next.verdict.size < current.verdict.size * MIN_SHARE) {
    throw shrunk('The merged list', next.verdict.size, current.verdict.size);
  }
  const path = replace(dir, text);
  return {
    version,
    path,
    ...difference(before, entries),
    total: next.verdict.size,
    suspected: next.suspicion.size,
    sources: fetched.map(({ url, names }) => ({ url, domains: names.size })),
  };
}

interface FetchedList {
  readonly letter: 'a' | 'b';
  readonly title: string;
  readonly url: string;
  readonly names: ReadonlySet<string>;
}

async function fetchList(source: UpdateSource, { urls = {}, fetchText }: UpdateOptions): Promise<FetchedList> {
  const list = { ...FETCHED[source], url: urls[source] ?? FETCHED[source].url };
  const text = await fetchText(list.url, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }).catch((cause: Error) => {
    throw new ListUpdateError('fetch_failed', `${list.url} could not be fetched: ${cause.message}`, cause);
  });
  if (text.length > MAX_BYTES) throw new ListUpdateError('not_a_list', `${list.url} is over ${MAX_BYTES} bytes`);
  return { ...list, names: readNames(text, list.url) };
}

/** One domain name per line; empty lines and `#` comments are skipped. Throws on anything else. */
function readNames(text: string, url: string): Set<string> {
  const names = new Set<string>();
  let number = 0;
  for (const raw of text.split('\n')) {
    number++;
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const name = asciiName(line);
    if (name === null) throw new ListUpdateError('not_a_list', `${url}: line ${number} is not a domain name`);
    names.add(name);
    if (names.size > MAX_DOMAINS) throw new ListUpdateError('not_a_list', `${url}: over ${MAX_DOMAINS} domains`);
  }
  return names;
}

function refuse({ names, url }: FetchedList, before: number, sentinels: Iterable<string>): void {
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

function count(entries: ReadonlyMap<string, Entry>, bit: number): number {
  let n = 0;
  for (const { bits } of entries.values()) if ((bits & bit) !== 0) n++;
  return n;
}

/** The old entries without the letters of the fetched lists, plus the fetched ones. */
function merge(
  before: ReadonlyMap<string, Entry>,
  fetched: readonly FetchedList[],
  facts: RuleFacts,
): Map<string, Entry> {
  const bits = new Map<string, number>();
  for (const [name, entry] of before) {
    const kept = entry.bits & ~(BIT.a | BIT.b);
    // A name that only the replaced lists contained is dropped; a free-provider letter alone is not an entry.
    if ((kept & ~BIT.f) !== 0 || fetched.some(({ names }) => names.has(name))) bits.set(name, kept);
  }
  for (const { letter, names } of fetched) {
    for (const name of names) bits.set(name, (bits.get(name) ?? 0) | BIT[letter]);
  }
  return new Map([...bits].map(([name, b]) => [name, { bits: b, reason: setAside(name, facts) }]));
}

function difference(
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
): { added: number; removed: number } {
  const listed = (entries: ReadonlyMap<string, Entry>, name: string): boolean => {
    const entry = entries.get(name);
    return entry !== undefined && tierOf(entry) === 'verdict';
  };
  const newly = (from: ReadonlyMap<string, Entry>, to: ReadonlyMap<string, Entry>): number =>
    [...to.keys()].filter((name) => listed(to, name) && !listed(from, name)).length;
  return { added: newly(before, after), removed: newly(after, before) };
}

const readSentinels = (packaged: string): Set<string> =>
  new Set([...readLines(packaged, 'sentinels.txt'), ...readTable(packaged, 'suggest.txt').keys()]);

const ruleFacts = (packaged: string): RuleFacts => ({
  zones: readTable(packaged, 'zones.txt'),
  tlds: new Set(readLines(packaged, 'tlds.txt')),
  allow: readTable(packaged, 'allow.txt'),
  relays: readRelays(packaged),
});

/** Writes a temporary file and renames it: readers see either the old file or the new one. */
function replace(dir: string, text: string): string {
  const path = join(dir, 'disposable.txt');
  const draft = join(dir, `.disposable-${randomToken(8)}.tmp`);
  try {
    // Perhaps within the folder of the store, which only its own user may enter.
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    write(draft, text);
    renameSync(draft, path);
    return path;
  } catch (cause) {
    discard(draft);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ListUpdateError('not_written', `${path} could not be written: ${why}`, cause);
  }
}

function write(path: string, text: string): void {
  const handle = openSync(path, 'wx', 0o644);
  try {
    writeFileSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Never created, or the directory is gone: report the first error.
  }
}
