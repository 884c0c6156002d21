/**
 * `mailvet disposable update`: fetches the source lists and merges them into one file. Fetched data is untrusted: a
 * list that is malformed, has shrunk or contains a large provider is rejected, and what it named before stays in use.
 */
import { type Clock, fromIso, toIso } from '../../kernel/clock.ts';
import { allEntries, type Entry, formatDisposable, parseDisposable, tierOf } from './entries.ts';
import { readLines, readRelays, readTable } from './facts.ts';
import { packagedDir } from './lists.ts';
import { DISPOSABLE_FILE, replaceFile } from './replace-file.ts';
import { BIT, type Letter, type RuleFacts, setAside } from './rule.ts';
import { NotAListError, readNames, SOURCES, UPDATE_SOURCES, type UpdateSource } from './sources.ts';
import { currentDisposable } from './watch.ts';

/** Fetches a text; throws on failure. */
export type FetchText = (url: string, limit: { maxBytes: number; timeoutMs: number }) => Promise<string>;

const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** A list that lost more than a fifth was probably truncated or emptied, by accident or on purpose. */
const MIN_SHARE = 0.8;

interface UpdateOptions {
  /** Writable directory for the new list; created if missing. */
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
  /** Domains added to and removed from the verdict tier. */
  readonly added: number;
  readonly removed: number;
  /** Size of the verdict tier. */
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
export async function updateLists(options: UpdateOptions): Promise<UpdateSummary> {
  const { dir, packaged = packagedDir(), clock } = options;
  const current = currentDisposable(dir, packaged);
  const before = allEntries(current);
  const sentinels = readSentinels(packaged);
  const outcomes = await Promise.all(
    UPDATE_SOURCES.flatMap((source) => {
      const url = options.urls?.[source] === undefined ? SOURCES[source].url : options.urls[source];
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

interface Attempt {
  readonly outcome: SourceOutcome;
  readonly list: FetchedList | null;
  readonly error: ListUpdateError | null;
}

async function attempt(
  source: UpdateSource,
  url: string,
  options: UpdateOptions,
  before: ReadonlyMap<string, Entry>,
  sentinels: ReadonlySet<string>,
): Promise<Attempt> {
  const listed = count(before, BIT[SOURCES[source].letter]);
  try {
    const list = await fetchList(source, url, options);
    refuse(list, listed, sentinels);
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
  const { letter, title, format } = SOURCES[source];
  const text = await fetchText(url, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }).catch((cause: Error) => {
    throw new ListUpdateError('fetch_failed', `${url} could not be fetched: ${cause.message}`, cause);
  });
  if (text.length > MAX_BYTES) throw new ListUpdateError('not_a_list', `${url} is over ${MAX_BYTES} bytes`);
  try {
    return { letter, title, url, names: readNames(text, url, format) };
  } catch (error) {
    if (error instanceof NotAListError) throw new ListUpdateError('not_a_list', error.message, error);
    throw error;
  }
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
  facts: RuleFacts & { readonly free: ReadonlySet<string> },
): Map<string, Entry> {
  const bits = new Map<string, number>();
  const replaced = fetched.reduce((all, { letter }) => all | BIT[letter], 0);
  for (const [name, entry] of before) {
    const kept = entry.bits & ~replaced;
    // A name that only the replaced lists contained is dropped; a free-provider letter alone is not an entry.
    if ((kept & ~BIT.f) !== 0 || fetched.some(({ names }) => names.has(name))) bits.set(name, kept);
  }
  for (const { letter, names } of fetched) {
    for (const name of names) bits.set(name, (bits.get(name) ?? (facts.free.has(name) ? BIT.f : 0)) | BIT[letter]);
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

const ruleFacts = (packaged: string) => ({
  free: new Set(readLines(packaged, 'free.txt')),
  zones: readTable(packaged, 'zones.txt'),
  tlds: new Set(readLines(packaged, 'tlds.txt')),
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
