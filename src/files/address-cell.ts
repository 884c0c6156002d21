/** The addresses in a cell of a file, under what people and programs put around them. */
import { parseAddress } from '../engine/address/parse.ts';
import { trimBlanks } from '../kernel/blanks.ts';

/**
 * How a cell holds its addresses: `bare`: it is one; `odd`: one with characters that are rather between cells;
 * `wrapped`: one in quotes, brackets or a link; `several`: nothing but addresses, with or without names in front of
 * angle brackets; `labeled`: few words are beside it; `prose`: more than that; `attempt`: what may be meant as an
 * address, and is none; `text`: anything else.
 */
type CellForm = 'blank' | 'bare' | 'odd' | 'wrapped' | 'several' | 'labeled' | 'prose' | 'attempt' | 'text';

export interface CellContent {
  readonly form: CellForm;
  /** The addresses to verify, in the order of the cell. */
  readonly addresses: readonly string[];
}

/** How much a cell speaks for a column of addresses, and for a way of cutting text into cells. */
export const FORM_WEIGHTS = {
  blank: 0,
  bare: 1,
  wrapped: 0.95,
  odd: 0.5,
  several: 0.9,
  labeled: 0.6,
  prose: 0.2,
  attempt: 0,
  text: 0,
} as const satisfies Record<CellForm, number>;

/** One cell gives so many: the rest of them stays in the file, but is not verified. */
const CELL_ADDRESSES = 1_000;
/** Longer cells are no cells of addresses but documents. */
const ADDRESS_CELL_CHARACTERS = 64 * 1024;

const BLANK_CELL: CellContent = { form: 'blank', addresses: [] };
const TEXT_CELL: CellContent = { form: 'text', addresses: [] };
/** Nearly all addresses: what the parser says of these is known. */
const PLAIN_ADDRESS = /^[a-z0-9][a-z0-9_+-]*(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,24}$/i;
const AT_SIGNS = /[@＠﹫]|&#(?:0*64|x0*40);|&commat;|%40/i;
/** Nobody sees them in copied text: soft hyphen, zero width, marks of direction. */
const INVISIBLE_IN_COPIES = /[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;

/** Finds what a cell holds. It is linear in its length. */
export function contentOf(cell: string): CellContent {
  if (cell.length <= 254 && PLAIN_ADDRESS.test(cell)) return { form: 'bare', addresses: [cell] };
  const text = trimBlanks(cell);
  if (text === '') return BLANK_CELL;
  if (text.length > ADDRESS_CELL_CHARACTERS) return TEXT_CELL;
  if (!AT_SIGNS.test(text)) return withoutAt(text);
  const bare = angled(text) ?? text;
  if (isAddressText(bare) && !LABELED.test(bare))
    return { form: bare !== text ? 'wrapped' : USUAL_LOCAL_PART.test(bare) ? 'bare' : 'odd', addresses: [bare] };
  return searched(text);
}

/** The first address of a cell, or what was meant as one; null: there is nothing to verify. */
export const addressIn = (cell: string): string | null => contentOf(cell).addresses[0] ?? null;

/** Nothing, as databases, spreadsheets and languages write it; also what has neither letters nor digits. */
const NULL_TEXT = /^(?:\\n|#?n\/?a|null|nil|none|nan|undefined|#(?:ref|value|name|div\/0|num|null)[!?]?)$/i;
const SURROUNDING_BRACKETS = /^[\s([<{"'`]+|(?<![\s)\]>}"'`])[\s)\]>}"'`]+$/g;

function withoutAt(text: string): CellContent {
  if (!/[\p{L}\p{N}]/u.test(text)) return BLANK_CELL;
  const bare = text.replaceAll(SURROUNDING_BRACKETS, '');
  if (NULL_TEXT.test(bare)) return BLANK_CELL;
  const given = ofLink(angled(text) ?? text);
  if (given === '') return BLANK_CELL;
  // One word may be an address that lost its @; sentences and numbers are none.
  return /^[\p{L}\p{N}\p{M}._%+'-]+$/u.test(given) && /\p{L}/u.test(given)
    ? { form: 'attempt', addresses: [given] }
    : TEXT_CELL;
}

/** The characters that nearly all local parts consist of. */
const USUAL_LOCAL_PART = /^(?:[\p{L}\p{N}\p{M}._+'&-]+|"[^"]+")@/u;

/** Valid in an address, but hardly ever meant as a part of it: quotes, bullets, the name of a setting. */
const LABELED = /^(?:['`*·–—~#&-]|[A-Z][A-Z0-9_]*=|(?=[\w-]*mail)[\w-]+=)/;

const isAddressText = (text: string): boolean =>
  text.length <= 320 &&
  (PLAIN_ADDRESS.test(text) || parseAddress(text, { allowReserved: true, allowUnknownTld: true }).ok);

/** Of `Ada <ada@example.com>`, it returns the part in angle brackets. */
function angled(text: string): string | null {
  if (!text.endsWith('>')) return null;
  const open = text.lastIndexOf('<');
  // Behind one address, another pair of brackets is another item.
  return open < 0 || text.indexOf('@') < open ? null : trimBlanks(text.slice(open + 1, -1));
}

/** RFC 6068: header fields follow a question mark; the address may be percent-encoded. */
function ofLink(text: string): string {
  if (!/^mailto:/i.test(text)) return text;
  const [address = ''] = text.slice('mailto:'.length).split('?', 1);
  return trimBlanks(uriDecoded(address));
}

function uriDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Full width, entities and percent signs as they were meant. */
function unfolded(text: string): string {
  let plain = text.replaceAll(INVISIBLE_IN_COPIES, '');
  if (plain.includes('&'))
    plain = plain.replaceAll(/&(?:#0*64|#x0*40|commat);/gi, '@').replaceAll(/&(?:lt|gt|quot);/gi, '"');
  if (plain.includes('%') && /mailto:/i.test(plain))
    plain = plain.replaceAll(/mailto:[^\s"'<>)\]]*/gi, (link) => `mailto:${ofLink(link)}`);
  if (/[＠﹫．]/.test(plain)) plain = plain.replaceAll(/[＠﹫]/g, '@').replaceAll('．', '.');
  return plain;
}

interface FoundAddress {
  readonly address: string;
  readonly start: number;
  readonly end: number;
}

/** What no local part has outside quotes, and what no domain has. */
const BETWEEN = /[\s,;:<>()[\]{}"“”„«»‹›|\\/=…、，；@]/;
const DOMAIN_RUN = /[^\s,;:<>()[\]{}"“”„«»‹›|\\/='`…、，；@&]+/y;
const EDGES_BEFORE = /^[^\p{L}\p{N}_]+/u;
const EDGES_BEHIND = /(?<![^\p{L}\p{N}\p{M}])[^\p{L}\p{N}\p{M}]+$/u;

interface QuoteRun {
  readonly run: string;
  readonly index: number;
}

/** What is around each @. A regular expression would try each character of a long word as the start of one. */
function* runsIn(text: string): Generator<QuoteRun> {
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let index = at;
    while (index > from && !BETWEEN.test(text.charAt(index - 1))) index -= 1;
    DOMAIN_RUN.lastIndex = at + 1;
    const [domain = ''] = DOMAIN_RUN.exec(text) ?? [];
    if (index === at || domain === '') continue;
    from = at + 1 + domain.length;
    yield { run: text.slice(index, from), index };
  }
}

/** So much around a run shows whether it is part of a link. */
const AROUND = 80;

/** Addresses that are in a text, without those that are part of something else: of a link, or behind another @. */
function* foundIn(text: string): Generator<FoundAddress> {
  for (const { run, index } of runsIn(text)) {
    const end = index + run.length;
    const before = /(?<![^\s,;<>"'()])[^\s,;<>"'()]*$/.exec(text.slice(Math.max(0, index - AROUND), index))?.[0] ?? '';
    const behind = /^[^\s,;<>"'()]*/.exec(text.slice(end, end + AROUND))?.[0] ?? '';
    // `https://user:secret@example.com`, `git@example.com:path/file`
    if (before.includes('://') || (/^[:/]./.test(behind) && behind.includes('/') && !behind.includes('@'))) continue;
    // A quote in the middle of a word is part of what is no address.
    if (
      before.endsWith('@') ||
      behind.startsWith('@') ||
      /[\p{L}\p{N}]"$/u.test(text.slice(Math.max(0, index - 2), index))
    )
      continue;
    const address = trimmedRun(run);
    if (address === null) continue;
    const start = index + run.indexOf(address);
    yield { address, start, end: start + address.length };
  }
}

function trimmedRun(run: string): string | null {
  const tail = run.replace(EDGES_BEHIND, '');
  if (isAddressText(tail) && !LABELED.test(tail)) return tail;
  const both = tail.replace(EDGES_BEFORE, '');
  return isAddressText(both) ? both : null;
}

const CELL_SEPARATOR = /[,;|\n\r/•·&+\t]|<br\s*\/?>|:::/i;

function searched(text: string): CellContent {
  const plain = unfolded(text);
  const whole = trimBlanks(ofLink(angled(plain) ?? plain));
  if (isAddressText(whole) && !LABELED.test(whole)) return { form: 'wrapped', addresses: [whole] };
  const found: FoundAddress[] = [];
  for (const one of foundIn(plain)) {
    found.push(one);
    if (found.length === CELL_ADDRESSES) break;
  }
  const kept = found.filter((one, i) => !isNameOf(plain, one, found[i + 1]));
  if (kept.length === 0) return attempted(whole);
  const addresses = distinct(kept.map(({ address }) => address));
  return { form: formOf(plain, found, addresses.length), addresses };
}

/** `"ada@example.com" <ada@example.com>`: the first is the name of the second. */
function isNameOf(text: string, { end }: FoundAddress, next: FoundAddress | undefined): boolean {
  if (next === undefined || text.charAt(next.start - 1) !== '<') return false;
  return !CELL_SEPARATOR.test(text.slice(end, next.start - 1));
}

function distinct(addresses: readonly string[]): string[] {
  const seen = new Set<string>();
  return addresses.filter((address) => {
    const key = address.toLowerCase();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** What is no address, but has an @: verified as it is, unless it is a sentence. */
function attempted(text: string): CellContent {
  const words = text.split(/\s+/).length;
  return words > 3 || text.length > 320 ? { form: 'text', addresses: [] } : { form: 'attempt', addresses: [text] };
}

/** Programs put these words around an address, and they say nothing. */
const MARKUP = /=?HYPERLINK\(|<a\s+href=|<\/a>|<br\s*\/?>|mailto:|smtp:/gi;
const LABEL_WORDS = 4;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** Matches numbers of a list in a text: `1.`, `(2)`. */
const NUMBERED = /^[\s(]*\d{1,7}[.)\]]\s*$/;

function formOf(text: string, found: readonly FoundAddress[], count: number): CellForm {
  let rest = '';
  let at = 0;
  let isNamed = true;
  for (const { start, end } of found) {
    const before = text.slice(at, start).replaceAll(MARKUP, ' ');
    const isNumbered = at === 0 && NUMBERED.test(before);
    if (LETTER_OR_DIGIT.test(before) && !before.endsWith('<') && !isNumbered) isNamed = false;
    rest += `${before} `;
    at = end;
  }
  const behind = text.slice(at).replaceAll(MARKUP, ' ');
  rest += behind;
  const words = rest.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  if (words === 0) return count > 1 ? 'several' : 'wrapped';
  const isClosed = !LETTER_OR_DIGIT.test(behind);
  if (isNamed && isClosed && words <= LABEL_WORDS * found.length) return count > 1 ? 'several' : 'wrapped';
  return words <= LABEL_WORDS * Math.max(1, count) ? 'labeled' : 'prose';
}
