import { type Lexicon, splitWord, UNSPACED } from './lexicon.ts';
import type { Slot } from './slots.ts';

/** How a piece of text is separated from the one before. */
type Separator = 'none' | 'comma' | 'colon' | 'stop';

/** A phrase of the lexicon, or one unknown word, in the order of the text. */
export interface Token {
  /** Empty for an unknown word. */
  readonly slots: readonly Slot[];
  /** Index among the lexicon's entries; -1 for an unknown word. */
  readonly entry: number;
  readonly text: string;
}

/** A stretch of text without punctuation. */
export interface Segment {
  readonly before: Separator;
  readonly tokens: readonly Token[];
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
const LETTER = /[\p{L}\p{N}\p{M}]/u;

const kindAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  if (code < 128) return KIND[code] ?? 0;
  return (code >= 0xd800 && code <= 0xdfff) || LETTER.test(text.charAt(at)) ? 1 : 0;
};

/** "IP地址" is two words. */
const isUnspaced = (text: string, at: number): boolean =>
  text.charCodeAt(at) >= 0x3000 && UNSPACED.test(text.charAt(at));

/** What one character between words separates. */
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
    for (; end < marked.length; end++) {
      const next = kindAt(marked, end);
      if (next === 0 || next === 3 || isUnspaced(marked, end) !== unspaced) break;
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

/** Segments, their phrases matched. */
export function segmentsOf({ words, before }: Words, lexicon: Lexicon): readonly Segment[] {
  const segments: Segment[] = [];
  for (let start = 0; start < words.length; ) {
    let end = start + 1;
    while (end < words.length && before[end] === 'none') end++;
    segments.push({ before: before[start] ?? 'none', tokens: tokensOf(words, start, end, lexicon) });
    start = end;
  }
  return segments;
}

const UNKNOWN: readonly Slot[] = [];

function tokensOf(words: readonly string[], start: number, end: number, lexicon: Lexicon): Token[] {
  const tokens: Token[] = [];
  for (let at = start; at < end; ) {
    const word = words[at] ?? '';
    if (isUnspaced(word, 0)) {
      unspacedTokens(word, lexicon, tokens);
      at++;
      continue;
    }
    const match = lexicon.match(words, at, end);
    if (match === null) tokens.push({ slots: UNKNOWN, entry: -1, text: word });
    else {
      tokens.push({
        slots: match.slots,
        entry: match.entry,
        text: match.length === 1 ? word : words.slice(at, at + match.length).join(' '),
      });
    }
    at += match?.length ?? 1;
  }
  return tokens;
}

function unspacedTokens(run: string, lexicon: Lexicon, tokens: Token[]): void {
  let unknown = 0;
  const flush = (end: number): void => {
    if (unknown < end) tokens.push({ slots: UNKNOWN, entry: -1, text: run.slice(unknown, end) });
  };
  for (let at = 0; at < run.length; ) {
    const match = lexicon.matchUnspaced(run, at, run.length);
    if (match === null) {
      at++;
      continue;
    }
    flush(at);
    tokens.push({ slots: match.slots, entry: match.entry, text: run.slice(at, at + match.length) });
    at += match.length;
    unknown = at;
  }
  flush(run.length);
}
