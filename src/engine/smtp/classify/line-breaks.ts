import { type Echoes, echoedAcross, fold, MAX_TEXT } from './echoes.ts';
import { type Lexicon, splitWord, UNSPACED } from './lexicon.ts';

/** At the end of a line, where a word or an address (RFC 5321 §4.5.3.1.3: 256 octets) may be cut. */
const TAIL = 320;
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
    const tail = text.slice(-TAIL);
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
