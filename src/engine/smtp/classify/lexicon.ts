import { dataFile, readData } from '../../data.ts';
import { fold } from './echoes.ts';
import { isSlot, type Slot } from './slots.ts';

/**
 * Slots that a language needs before any of its words counts: with nouns alone, or without its words for refusal and
 * negation, a refusal would be taken for a missing mailbox.
 */
const REQUIRED = [
  'recipient user',
  'sender',
  'absent',
  'disabled',
  'full',
  'declines refused',
  'later',
  'not none such lacks',
] as const;

/** data/smtp-lexicon.json */
export interface LexiconFile {
  readonly version: number;
  readonly about: string;
  /** Words that stay in the text even if they equal the local part. */
  readonly keep: readonly string[];
  /** Domains of blocklists: significant in a reply, unlike other host names and URLs. */
  readonly blocklists: readonly string[];
  /**
   * Language → slots (two or more, separated by spaces, if the phrase says both: `user disabled`) → phrases. In a
   * phrase, `*` at the end or the beginning of a word stands for any letters, `+` for up to three other words.
   */
  readonly languages: Readonly<Record<string, Slots>>;
  /** The same for placeholders (echoes.ts), which belong to no language. */
  readonly placeholders: Slots;
}
type Slots = Readonly<Record<string, readonly string[]>>;

interface Entry {
  /** Empty for placeholders. */
  readonly language: string;
  readonly phrase: string;
  readonly slots: readonly Slot[];
}

/** `next`: null in a leaf. Most are, and their empty maps took 2 MB. */
interface Node {
  next: Map<number, Node> | null;
  gap: Node | null;
  entry: number;
}
const newNode = (): Node => ({ next: null, gap: null, entry: -1 });

interface CharNode {
  next: Map<string, CharNode> | null;
  entry: number;
}
const newCharNode = (): CharNode => ({ next: null, entry: -1 });

/** The node to which `key` leads, made if there is none. */
function follow<K, N extends { next: Map<K, N> | null }>(node: N, key: K, make: () => N): N {
  node.next ??= new Map();
  let next = node.next.get(key);
  if (next === undefined) {
    next = make();
    node.next.set(key, next);
  }
  return next;
}

/** A match: index of its entry, what it says, and how many words (or characters) it took. */
interface Match {
  readonly entry: number;
  readonly slots: readonly Slot[];
  readonly length: number;
}

const GAP = 3;
const MAX_CACHED = 20_000;
const MAX_CACHED_LENGTH = 24;

/** What the matcher knows of a word. */
interface Known {
  /** Of the patterns that it fits, the most specific first. */
  readonly ids: readonly number[];
  /** Where phrases that begin with it go on. */
  readonly starts: readonly Node[];
  /** The match if no phrase goes on. */
  readonly only: Match | null;
}
const UNKNOWN: Known = { ids: [], starts: [], only: null };
const isLeaf = ({ next, gap }: Node): boolean => next === null && gap === null;

/** Han and kana, which are written without spaces. */
export const UNSPACED = /[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;

/** Words of a phrase or a text, as the matcher compares them: folded, no hyphens, French and Italian elisions split. */
export function splitWord(word: string): string[] {
  const elided = /^(l|d|n|s|c|m|j|t|qu|all|dell|dall|nell|sull|un|nessun)'(.*)$/.exec(word);
  // Not English "user's" and "don't", which have more before the apostrophe.
  if (elided !== null) return [`${elided[1]}'`, ...splitWord(elided[2] ?? '')].filter((part) => part !== '');
  return [word.replace(/'s?$/, '')];
}

export interface Lexicon {
  readonly entries: readonly Entry[];
  /** The longest phrase that begins at `words[at]` and ends before `end`. */
  match(words: readonly string[], at: number, end: number): Match | null;
  /** Whether this is a word of a phrase. */
  has(word: string): boolean;
  /** Whether it is one, or fits one by its beginning or end. */
  fits(word: string): boolean;
  /** Whether it is one, or fits one by its beginning. */
  begins(word: string): boolean;
  /** The longest phrase without spaces that begins at this character. */
  matchUnspaced(text: string, at: number, end: number): Match | null;
}

export const loadLexicon = (path: string = dataFile('smtp-lexicon.json')): LexiconFile => JSON.parse(readData(path));

/** The phrases of a file, in order. Throws on an unknown slot and on a language that lacks a required one. */
export function entriesOf(file: LexiconFile): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [language, slots] of Object.entries({ ...file.languages, '': file.placeholders })) {
    for (const need of REQUIRED) {
      if (
        language !== '' &&
        !need.split(' ').some((slot) => Object.keys(slots).some((key) => key.split(' ').includes(slot)))
      ) {
        throw new Error(`lexicon: ${language} has no words for ${need}`);
      }
    }
    for (const [key, phrases] of Object.entries(slots)) {
      const names = key.split(' ');
      const known = names.filter(isSlot);
      const unknown = names.find((name) => !isSlot(name));
      if (unknown !== undefined) throw new Error(`lexicon: ${language}: unknown slot ${unknown}`);
      for (const phrase of phrases) entries.push({ language, phrase, slots: known });
    }
  }
  return entries;
}

/** Throws if one phrase has two meanings. */
export function compileLexicon(entries: readonly Entry[]): Lexicon {
  const root = newNode();
  const chars = newCharNode();
  const [exact, prefixes, suffixes] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  let count = 0;
  const idOf = (map: Map<string, number>, word: string): number => {
    const known = map.get(word);
    if (known !== undefined) return known;
    map.set(word, count);
    return count++;
  };
  const place = (node: { entry: number }, entry: Entry, index: number): void => {
    const there = entries[node.entry];
    if (there !== undefined && there.slots.join() !== entry.slots.join()) {
      throw new Error(
        `lexicon: "${entry.phrase}" is ${entry.slots} in ${entry.language}, ${there.slots} in ${there.language}`,
      );
    }
    if (there === undefined) node.entry = index;
  };
  for (const [index, entry] of entries.entries()) {
    const phrase = fold(entry.phrase);
    if (UNSPACED.test(phrase)) {
      let node = chars;
      for (const char of phrase) node = follow(node, char, newCharNode);
      place(node, entry, index);
      continue;
    }
    let node = root;
    for (const word of phrase.split(/[\s-]+/).flatMap(splitWord)) {
      if (word === '+') {
        node.gap ??= newNode();
        node = node.gap;
        continue;
      }
      const id = word.endsWith('*')
        ? idOf(prefixes, word.slice(0, -1))
        : word.startsWith('*')
          ? idOf(suffixes, word.slice(1))
          : idOf(exact, word);
      node = follow(node, id, newNode);
    }
    place(node, entry, index);
  }

  const matchOf = (entry: number, length: number): Match => ({ entry, slots: entries[entry]?.slots ?? [], length });
  /** Ids of the patterns that a word fits, the most specific first. */
  const find = (word: string): readonly number[] => {
    const ids: number[] = [];
    const own = exact.get(word);
    if (own !== undefined) ids.push(own);
    const longest = Math.min(word.length, MAX_CACHED_LENGTH);
    for (let length = longest; length >= 2; length--) {
      const id = prefixes.get(word.slice(0, length));
      if (id !== undefined) ids.push(id);
    }
    for (let from = Math.max(1, word.length - longest); from <= word.length - 3; from++) {
      const id = suffixes.get(word.slice(from));
      if (id !== undefined) ids.push(id);
    }
    return ids;
  };
  const cache = new Map<string, Known>();
  const known = (word: string): Known => {
    let found = cache.get(word);
    if (found !== undefined) return found;
    const ids = find(word);
    const starts = ids.flatMap((id) => root.next?.get(id) ?? []);
    found = ids.length === 0 ? UNKNOWN : { ids, starts, only: starts.every(isLeaf) ? matchAt(starts[0], 1) : null };
    if (word.length <= MAX_CACHED_LENGTH) {
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(word, found);
    }
    return found;
  };
  const matchAt = (node: Node | undefined, length: number): Match | null =>
    node === undefined || node.entry < 0 ? null : matchOf(node.entry, length);
  const longestFrom = (node: Node, words: readonly string[], at: number, end: number, from: number): Match | null => {
    let best = node.entry < 0 ? null : matchOf(node.entry, at - from);
    if (at >= end) return best;
    if (isLeaf(node)) return best;
    for (const id of known(words[at] ?? '').ids) {
      const next = node.next?.get(id);
      if (next === undefined) continue;
      const found = longestFrom(next, words, at + 1, end, from);
      if (found !== null && (best === null || found.length > best.length)) best = found;
    }
    if (node.gap !== null) {
      for (let skip = 0; skip <= GAP && at + skip < end; skip++) {
        const found = longestFrom(node.gap, words, at + skip, end, from);
        if (found !== null) {
          if (best === null || found.length > best.length) best = found;
          break;
        }
      }
    }
    return best;
  };
  return {
    entries,
    match(words, at, end) {
      const { starts, only } = known(words[at] ?? '');
      if (only !== null) return only;
      let best: Match | null = null;
      for (const start of starts) {
        const found = longestFrom(start, words, at + 1, end, at);
        if (found !== null && (best === null || found.length > best.length)) best = found;
      }
      return best;
    },
    has: (word) => exact.has(word),
    fits: (word) => known(word).ids.length > 0,
    begins: (word) =>
      exact.has(word) || Array.from(word, (_, at) => word.slice(0, at + 1)).some((start) => prefixes.has(start)),
    matchUnspaced(text, at, end) {
      let node = chars;
      let best: Match | null = null;
      for (let i = at; i < end; i++) {
        const next = node.next?.get(text.charAt(i));
        if (next === undefined) break;
        node = next;
        if (node.entry >= 0) best = matchOf(node.entry, i + 1 - at);
      }
      return best;
    },
  };
}
