import { memoizeBounded } from '../../../kernel/memoize.ts';
import { dataFile, readData } from '../../data-files.ts';
import { type Echoes, echoedAcross, fold, MAX_TEXT } from './echoes.ts';

/** What a reply can speak of. `user` and `domain` are the recipient's unless the words around say otherwise. */
export const NOUNS = [
  'recipient',
  'user',
  'domain',
  'sender',
  'client',
  'you',
  'message',
  'server',
  /** A mailing list or a group of recipients: closed, it still exists. */
  'group',
  /** Means storage that fills up. */
  'quota',
  /** What is counted per connection, hour or day. */
  'count',
] as const;
export type Noun = (typeof NOUNS)[number];

/**
 * How what is said is taken. `negated`: with a negation it says the same, as servers do not deny it; `asserted`: a
 * supposition ("if the user does not exist") does not say it; `advised`: nor does advice ("please check that your
 * policy allows it").
 */
type Trait = 'negated' | 'asserted' | 'advised';

/** What can be said of it, in a phrase and in a clause (clauses.ts). */
const STATEMENT_FORMS = {
  absent: ['asserted', 'advised'],
  disabled: ['asserted', 'advised'],
  full: ['asserted', 'advised'],
  unavailable: ['asserted', 'advised'],
  unverified: ['asserted', 'advised'],
  refused: ['advised'],
  declines: [],
  /** "must", "requires", "needs": what the asker has to do or to have. */
  demands: [],
  /** "members only" */
  only: [],
  listed: ['negated'],
  forged: ['negated'],
  nameless: ['negated'],
  spam: ['negated'],
  policy: ['negated', 'advised'],
  auth: ['negated'],
  tls: ['negated'],
  relay: ['negated', 'advised'],
  not_hosted: ['negated', 'asserted', 'advised'],
  too_many: ['advised'],
  too_fast: ['negated', 'advised'],
  used_up: ['negated'],
  later: ['negated', 'advised'],
  passing: ['negated', 'advised'],
  greylisted: ['negated'],
  trouble: ['negated', 'advised'],
  error: ['advised'],
  syntax: ['negated', 'advised'],
  sequence: ['negated', 'advised'],
} as const satisfies Record<string, readonly Trait[]>;
export type Statement = keyof typeof STATEMENT_FORMS;
const TRAITS: Readonly<Record<Statement, readonly Trait[]>> = STATEMENT_FORMS;
export const is = (statement: Statement, trait: Trait): boolean => TRAITS[statement].includes(trait);

/** What means something only with a negation (the first) or without one. Null: nothing. */
const POLAR = {
  exists: ['absent', null],
  active: ['disabled', null],
  available: ['unavailable', null],
  accepts: ['declines', null],
  allowed: ['declines', null],
  delivers: [null, null],
  verify: ['unverified', null],
  failed: [null, 'error'],
  exceeded: [null, 'too_fast'],
} as const satisfies Record<string, readonly [negated: Statement | null, plain: Statement | null]>;
export type Word = Statement | keyof typeof POLAR;
const isPolarWord = (word: Word): word is keyof typeof POLAR => Object.hasOwn(POLAR, word);

/** What a word says; null: nothing. */
export function saidBy(word: Word, negated: boolean): Statement | null {
  if (isPolarWord(word)) return POLAR[word][negated ? 0 : 1];
  return negated && !is(word, 'negated') ? null : word;
}

/** Words that connect the others. */
const GLUE = [
  /** Negates a predicate next to it, or a noun: "not found", "nicht gefunden", "not a user". */
  'not',
  /** Negates the noun after it: "no such", "kein". */
  'none',
  /** The same for a noun that the lexicon may not have: "no such student", "kein solcher". */
  'such',
  /** Denies the existence of the noun next to it, also at the end: "нет", "yok", "ありません". */
  'lacks',
  /** Makes the segment a supposition: "if", "may". */
  'hedge',
  /** Joins two nouns into one phrase: "domain of the sender". */
  'of',
  /** Introduces the one who did it. */
  'by',
  /** Introduces what the server itself turned to: "connect to". */
  'toward',
  /** Introduces a noun that is not what the sentence is about: "in the directory". */
  'prep',
  /** Says nothing. */
  'filler',
  /** Ends what went before: "because". */
  'cut',
  /** Begins a segment that gives advice: "please check". */
  'advice',
] as const;
type Glue = (typeof GLUE)[number];

export type Slot = Noun | Word | Glue;
const SLOTS: ReadonlySet<string> = new Set([...NOUNS, ...Object.keys({ ...STATEMENT_FORMS, ...POLAR }), ...GLUE]);
const isSlot = (name: string): name is Slot => SLOTS.has(name);
const NOUN_SET: ReadonlySet<string> = new Set(NOUNS);
export const isNoun = (slot: Slot): slot is Noun => NOUN_SET.has(slot);

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
   * phrase, `*` at the end or the beginning of a word stands for any letters.
   */
  readonly languages: Readonly<Record<string, LexiconSlots>>;
  /** The same for placeholders (echoes.ts), which belong to no language. */
  readonly placeholders: LexiconSlots;
}
type LexiconSlots = Readonly<Record<string, readonly string[]>>;

interface LexiconEntry {
  /** Placeholders have an empty language. */
  readonly language: string;
  readonly phrase: string;
  readonly slots: readonly Slot[];
}

/** `next`: null in a leaf. Most are, and their empty maps took 2 MB. */
interface TrieNode {
  next: Map<number, TrieNode> | null;
  entry: number;
}

/** The node to which `id` leads, made if there is none. */
function follow(node: TrieNode, id: number): TrieNode {
  node.next ??= new Map();
  let next = node.next.get(id);
  if (next === undefined) {
    next = { next: null, entry: -1 };
    node.next.set(id, next);
  }
  return next;
}

/** A match: index of its entry, what it says, and how many words it took. */
interface Match {
  readonly entry: number;
  readonly language: string;
  readonly slots: readonly Slot[];
  readonly length: number;
}

const LEXICON_CACHED_WORDS = 10_000;
const MAX_CACHED_LENGTH = 24;

/** What the matcher knows of a word. */
interface KnownWord {
  /** Of the patterns that it fits, the most specific first. */
  readonly ids: readonly number[];
  /** Where phrases that begin with it go on. */
  readonly starts: readonly TrieNode[];
  /** The match if no phrase goes on. */
  readonly only: Match | null;
}
const UNKNOWN: KnownWord = { ids: [], starts: [], only: null };
const isLeaf = ({ next }: TrieNode): boolean => next === null;

/** Han and kana, which are written without spaces: each is a word. */
const UNSPACED = /[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;

/** Words of a phrase or a text, as the matcher compares them: folded, no hyphens, French and Italian elisions split. */
function splitWord(word: string): string[] {
  const elided = /^(l|d|n|s|c|m|j|t|qu|all|dell|dall|nell|sull|un|nessun)'(.*)$/.exec(word);
  // Not English "user's" and "don't", which have more before the apostrophe.
  if (elided !== null) return [`${elided[1]}'`, ...splitWord(elided[2] ?? '')].filter((part) => part !== '');
  return [word.replace(/'s?$/, '')];
}

export const loadLexicon = (path: string = dataFile('smtp-lexicon.json')): LexiconFile => JSON.parse(readData(path));

/** The phrases of a file, in order. Throws on an unknown slot and on a language that lacks a required one. */
export function lexiconEntries(file: LexiconFile): readonly LexiconEntry[] {
  const entries: LexiconEntry[] = [];
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
export function compileLexicon(entries: readonly LexiconEntry[]) {
  const root: TrieNode = { next: null, entry: -1 };
  const [exact, prefixes, suffixes] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  let count = 0;
  const idOf = (map: Map<string, number>, word: string): number => {
    const known = map.get(word);
    if (known !== undefined) return known;
    map.set(word, count);
    return count++;
  };
  const place = (node: TrieNode, entry: LexiconEntry, index: number): void => {
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
    let node = root;
    for (const word of UNSPACED.test(phrase) ? phrase : phrase.split(/[\s-]+/).flatMap(splitWord)) {
      const id = word.endsWith('*')
        ? idOf(prefixes, word.slice(0, -1))
        : word.startsWith('*')
          ? idOf(suffixes, word.slice(1))
          : idOf(exact, word);
      node = follow(node, id);
    }
    place(node, entry, index);
  }

  const matchOf = (entry: number, length: number): Match => ({
    entry,
    language: entries[entry]?.language ?? '',
    slots: entries[entry]?.slots ?? [],
    length,
  });
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
  const look = (word: string): KnownWord => {
    const ids = find(word);
    const starts = ids.flatMap((id) => root.next?.get(id) ?? []);
    return ids.length === 0 ? UNKNOWN : { ids, starts, only: starts.every(isLeaf) ? matchAt(starts[0], 1) : null };
  };
  const cached = memoizeBounded(LEXICON_CACHED_WORDS, look);
  const known = (word: string): KnownWord => (word.length <= MAX_CACHED_LENGTH ? cached : look)(word);
  const matchAt = (node: TrieNode | undefined, length: number): Match | null =>
    node === undefined || node.entry < 0 ? null : matchOf(node.entry, length);
  const longestFrom = (
    node: TrieNode,
    words: readonly string[],
    at: number,
    end: number,
    from: number,
  ): Match | null => {
    let best = matchAt(node, at - from);
    if (at >= end || isLeaf(node)) return best;
    for (const id of known(words[at] ?? '').ids) {
      const next = node.next?.get(id);
      if (next === undefined) continue;
      const found = longestFrom(next, words, at + 1, end, from);
      if (found !== null && (best === null || found.length > best.length)) best = found;
    }
    return best;
  };
  return {
    entries,
    /** The longest phrase that begins at `words[at]` and ends before `end`. */
    match(words: readonly string[], at: number, end: number) {
      const { starts, only } = known(words[at] ?? '');
      if (only !== null) return only;
      let best: Match | null = null;
      for (const start of starts) {
        const found = longestFrom(start, words, at + 1, end, at);
        if (found !== null && (best === null || found.length > best.length)) best = found;
      }
      return best;
    },
    /** Whether this is a word of a phrase. */
    has: (word: string) => exact.has(word),
    /** Whether it is one, or fits one by its beginning or end. */
    fits: (word: string) => known(word).ids.length > 0,
    /** Whether it is one, or fits one by its beginning. */
    begins: (word: string) =>
      exact.has(word) || Array.from(word, (_, at) => word.slice(0, at + 1)).some((start) => prefixes.has(start)),
  };
}

export type Lexicon = ReturnType<typeof compileLexicon>;

/** How a piece of text is separated from the one before. */
type Separator = 'none' | 'comma' | 'colon' | 'stop';

/** A token is a phrase of the lexicon or one unknown word, in the order of the text. */
export interface LexiconToken {
  /** An unknown word has no slots. */
  readonly slots: readonly Slot[];
  /** The index points into the lexicon's entries; -1 stands for an unknown word. */
  readonly entry: number;
  /** The first language that has it; empty for a placeholder or an unknown word. */
  readonly language: string;
  readonly text: string;
}

/** A segment has no punctuation. */
export interface Segment {
  readonly before: Separator;
  readonly tokens: readonly LexiconToken[];
}

const STRENGTH: Readonly<Record<Separator, number>> = { none: 0, comma: 1, colon: 2, stop: 3 };
const stronger = (a: Separator, b: Separator): Separator => (STRENGTH[a] >= STRENGTH[b] ? a : b);

const MAX_WORDS = 400;

/** ASCII: 1 for what words are made of, 2 for what may be inside of a word only, 3 for what only begins one. */
const KIND = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  if (/[a-z\d]/i.test(String.fromCharCode(code))) KIND[code] = 1;
}
KIND[0x27] = 2;
KIND[0x40] = 3;
const WORD_LETTER = /[\p{L}\p{N}\p{M}]/u;

const kindAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  if (code < 128) return KIND[code] ?? 0;
  return (code >= 0xd800 && code <= 0xdfff) || WORD_LETTER.test(text.charAt(at)) ? 1 : 0;
};

/** "IP地址" is three words. */
const isUnspaced = (text: string, at: number): boolean =>
  text.charCodeAt(at) >= 0x3000 && UNSPACED.test(text.charAt(at));

/** Says what one character between words separates. */
function separatorAt(text: string, at: number): Separator {
  switch (text[at]) {
    case ' ':
    case "'":
      return 'none';
    case ':':
    case '=':
      return 'colon';
    case ';':
    case '!':
    case '?':
    case '。':
    case '|':
      return 'stop';
    case '.': {
      const next = text[at + 1];
      if (next === '.') return 'comma';
      return next === ' ' && text[at - 1] !== '.' ? 'stop' : 'none';
    }
    case '-':
      return text[at - 1] === ' ' || text[at - 1] === '-' ? 'comma' : 'none';
    default:
      return ',()[]{}、，/…'.includes(text.charAt(at)) ? 'comma' : 'none';
  }
}

/** The words of a marked text (echoes.ts), each with what separates it from the one before. */
interface Words {
  readonly words: readonly string[];
  readonly before: readonly Separator[];
}

export function wordsOf(marked: string): Words {
  const words: string[] = [];
  const before: Separator[] = [];
  let separator: Separator = 'none';
  for (let at = 0; at < marked.length && words.length < MAX_WORDS; ) {
    const kind = kindAt(marked, at);
    if (kind === 0 || kind === 2) {
      separator = stronger(separator, separatorAt(marked, at));
      at++;
      continue;
    }
    let end = at + 1;
    let quoted = false;
    const unspaced = isUnspaced(marked, at);
    for (; end < marked.length && !unspaced; end++) {
      const next = kindAt(marked, end);
      if (next === 0 || next === 3 || isUnspaced(marked, end)) break;
      if (next === 2) quoted = true;
    }
    const word = marked.slice(at, end);
    if (!quoted) {
      words.push(word);
      before.push(separator);
    } else {
      for (const part of splitWord(word)) {
        words.push(part);
        before.push(separator);
        separator = 'none';
      }
    }
    separator = 'none';
    at = end;
  }
  return { words, before };
}

/** Makes segments, and matches their phrases. */
export function segmentsOf({ words, before }: Words, lexicon: Lexicon): readonly Segment[] {
  const segments: Segment[] = [];
  for (let start = 0; start < words.length; ) {
    let end = start + 1;
    while (end < words.length && before[end] === 'none') end++;
    segments.push({ before: before[start] ?? 'none', tokens: lexiconTokens(words, start, end, lexicon) });
    start = end;
  }
  return segments;
}

const NO_SLOTS: readonly Slot[] = [];

function lexiconTokens(words: readonly string[], start: number, end: number, lexicon: Lexicon): LexiconToken[] {
  const tokens: LexiconToken[] = [];
  for (let at = start; at < end; ) {
    const word = words[at] ?? '';
    const match = lexicon.match(words, at, end);
    const last = tokens.at(-1);
    const unspaced = isUnspaced(word, 0);
    if (match !== null) {
      const text = match.length === 1 ? word : words.slice(at, at + match.length).join(unspaced ? '' : ' ');
      tokens.push({ slots: match.slots, entry: match.entry, language: match.language, text });
    } else if (unspaced && last?.entry === -1 && isUnspaced(last.text, 0)) {
      tokens[tokens.length - 1] = { ...last, text: last.text + word };
    } else tokens.push({ slots: NO_SLOTS, entry: -1, language: '', text: word });
    at += match?.length ?? 1;
  }
  return tokens;
}

/** In so many characters at the end of a line, a word or an address (RFC 5321 §4.5.3.1.3: 256 octets) may be cut. */
const LINE_END_LENGTH = 320;
const LAST_WORD = /[\p{L}\p{N}\p{M}]+$/u;
const FIRST_WORD = /^[\p{L}\p{N}\p{M}]+(?:'\p{L}+)?/u;
const LAST_PIECE = /\S+$/;
const FIRST_PIECE = /^\S+/;

/**
 * The text of a reply's lines: joined by a space, or, where the server seems to have cut its text at a fixed width
 * inside of a word, a name or an address, by nothing. Ends where the text is long enough.
 */
export function joinLines(lines: readonly string[], echoes: Echoes, lexicon: Lexicon): string {
  let text = lines[0] ?? '';
  for (const line of lines.slice(1)) {
    if (text.length >= MAX_TEXT) break;
    const tail = text.slice(-LINE_END_LENGTH);
    text += isNameCut(tail, line, echoes) || isWordCut(tail, line, lexicon) ? line : ` ${line}`;
  }
  return text.slice(0, MAX_TEXT);
}

function isNameCut(before: string, after: string, echoes: Echoes): boolean {
  const [tail, head] = [LAST_PIECE.exec(before)?.[0] ?? '', FIRST_PIECE.exec(after)?.[0] ?? ''];
  // Nobody puts a space inside of <an address>.
  if (/<[^<>]*$/.test(tail) || (/\/\/|www\./.test(tail) && /[./?=&]./.test(head))) return true;
  return echoedAcross(fold(tail), fold(head), echoes);
}

/** Whether the last and the first word may be one of the lexicon. Then both ways of reading count (classify.ts). */
function isWordCut(before: string, after: string, lexicon: Lexicon): boolean {
  // "can't"
  if (/\p{L}'$/u.test(before) ? /^[a-z]/i.test(after) : /^'[a-z]+\b/i.test(after)) return true;
  if (UNSPACED.test(before.at(-1) ?? '') && UNSPACED.test(after[0] ?? '')) return true;
  const [last, first] = [LAST_WORD.exec(before)?.[0], FIRST_WORD.exec(after)?.[0]];
  if (last === undefined || first === undefined) return false;
  const [head, [tail = '']] = [fold(last), splitWord(fold(first))];
  if (lexicon.has(head + tail)) return true;
  // "mailbox" and "unknown", or "mailbox" and "not", together fit `mailbox*`, and are words of their own.
  const words = head.length > 3 && lexicon.fits(head) && (tail.length > 3 ? lexicon.begins(tail) : lexicon.has(tail));
  return lexicon.fits(head + tail) && !words;
}
