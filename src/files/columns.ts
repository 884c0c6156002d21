/** Which row is the header, and which columns hold the addresses. */
import { isFilled, trimBlanks } from '../kernel/blanks.ts';
import { type CellContent, contentOf, FORM_WEIGHTS } from './address-cell.ts';
import { FileError } from './problems.ts';
import { RESULT_PREFIX } from './result-columns.ts';
import type { RawRow } from './rows.ts';

// What columns of addresses are called; case, accents, spaces and punctuation do not count.

/** Matches the whole name only. */
const WHOLE_NAMES: readonly string[] = Object.values({
  English: `
    email emails mail emailaddress emailaddresses mailaddress emailid emailaddr inbox
  `,
  'German, Dutch, Scandinavian, Finnish, Icelandic': `
    emailadresse mailadresse elektronischepost emailadres mailadres epost epostadress epostadresse epostaddress
    mejl mejladress mailadress emailadress sahkoposti sahkopostiosoite meili tolvupostur netfang tolvupostfang
  `,
  'Romance languages': `
    correo correoelectronico correoe direcciondecorreo direcciondecorreoelectronico courriel adresseemail
    adressemail adressecourriel adresseelectronique mel indirizzoemail postaelettronica
    indirizzodipostaelettronica correioeletronico enderecodeemail enderecoemail enderecoeletronico
    correuelectronic correu correoelectronicoa adresaemail
  `,
  'Slavic and Baltic languages': `
    adresemail adresmail pocztaelektroniczna poczta emailovaadresa mailovaadresa posta elektronickaposta eposta
    elektronskaposta emailadresa elpastas epastas elpasts epasts почта электроннаяпочта эпочта элпочта
    адресэлектроннойпочты имейл емейл емаил имеил емеил мейл электроннаядрес електроннапошта пошта електроннапоща
    имейладрес имеиладрес
  `,
  'Others of Europe and its neighbors': `
    emailcim villamposta drotposta epostaadresi elektronikposta helbidea riphost ebost ηλεκτρονικοταχυδρομειο
    ηλταχυδρομειο ημειλ ιμειλ ηλεκτρονικηδιευθυνση ελφοστα דואל דואראלקטרוני אימייל מייל البريدالالكتروني
    البريدالإلكتروني بريدالكتروني بريدإلكتروني الايميل الإيميل ايميل إيميل ایمیل پستالکترونیک رایانامه
  `,
  'Asia and Africa': `
    邮箱 电子邮箱 电子邮件 邮件 邮箱地址 电子邮件地址 电邮 郵箱 電郵 電子郵件 信箱 電子信箱 電郵地址 電子郵件地址 メール メールアドレス 電子メール eメール eメールアドレス イーメール メアド 이메일
    이메일주소 메일 전자메일 전자우편 메일주소 อีเมล อีเมล์ ที่อยู่อีเมล ईमेल ईमेलपता ইমেইল ইমেল மின்னஞ்சல் ఇమెయిల్ surel
    suratelektronik alamatemail emel alamatemel thudientu diachiemail baruapepe eposadres epos ელფოსტა էլփոստ
    էլհասցե
  `,
}).flatMap((names) => names.trim().split(/\s+/));

/** Matches anywhere in the name: `Contact Email`, `user_email`, `E-Mail-Adresse (privat)`. */
const NAME_PARTS: readonly string[] = `
  email emailaddress courriel correo correio epost eposta sahkoposti postaelettronica почт имейл имеил пошт поща
  ταχυδρομ דואל אימייל بريد ايميل إيميل ایمیل 邮箱 邮件 郵箱 郵件 電郵 信箱 メール 이메일 อีเมล ईमेल
`
  .trim()
  .split(/\s+/);

/** As one of its words: `mail 1`, `Mail (work)`. */
const WORDS: ReadonlySet<string> = new Set(['mail', 'mails', 'mejl', 'poczta', 'emel']);

/** The addresses of houses as well, so what the cells hold has to agree. */
const WEAK_NAMES: ReadonlySet<string> = new Set([
  'address',
  'adresse',
  'contact',
  'user',
  'username',
  'login',
  'recipient',
  'to',
]);

/**
 * They name something about an address, not an address: `email_status`, `Email opt-in`, `mail sent at`, `mailing
 * address`.
 */
const NOT_ADDRESSES: ReadonlySet<string> = new Set(
  `
  status state verified valid validity validation result score quality type kind domain host provider opt optin
  optout in out consent permission subscribed unsubscribed subscription sent send opened opens clicked clicks
  bounced bounce bounces delivered count number date at time last hash md5 sha1 sha256 template subject body text
  format language source confirmed is has reason marketing newsletter mailing name list campaign preference
  preferences
`
    .trim()
    .split(/\s+/),
);

/** The addresses of someone else than the record is about, so that another column like it comes first. */
const OTHERS_ADDRESSES: ReadonlySet<string> = new Set(
  `
  owner assignee assigned agent rep created creator updated modified author by from sender reply host seller vendor
  support manager organizer inviter admin
`
    .trim()
    .split(/\s+/),
);

interface ColumnChoice {
  /** The row of the file with the names is counted from 1; 0: none; null: it is detected. */
  readonly headerRow: number | null;
  /** The columns of addresses are given by names, or by numbers from 1; null means the best one. */
  readonly columns: readonly string[] | 'all' | null;
}

export interface Layout {
  /** Counts rows of the sample up to and with the header. */
  readonly skip: number;
  /** Counts rows of the file from 1; 0: none. */
  readonly headerRow: number;
  /** Rows of the header: one that is repeated among the others is none of them. */
  readonly header: readonly (readonly string[])[];
  /** Names of the columns; `email` and `column_2` … where the file has none. */
  readonly names: readonly string[];
  /** Whether the names are those of the file. */
  readonly isNamed: boolean;
  /** Indexes of the columns that are verified; the first is the main one. */
  readonly verified: readonly number[];
  /** Other columns with addresses are listed by index. */
  readonly others: readonly number[];
  /** Of those, the ones that stand in where the main column has none, the best first. */
  readonly substitutes: readonly number[];
  /** What stands for nothing in the main column, such as `keine`; folded. */
  readonly placeholders: ReadonlySet<string>;
}

/** As many rows decide. */
export const SAMPLE_ROWS = 1_000;
/** A header is within so many rows above the first address, but for one with a name that says so. */
export const HEADER_ROWS = 50;

type Cells = readonly string[];

interface SampleRows {
  /** The sample has the first rows of the file; rows with a problem have no cells. */
  readonly rows: readonly Cells[];
  readonly lines: readonly number[];
  /** These rows are from the middle and the end. */
  readonly later: readonly Cells[];
}

/** `names`: given by the form of the file, which then has no header row. Throws FileError, `no_address_column`. */
export function layoutOf(
  head: readonly RawRow[],
  later: readonly RawRow[],
  names: readonly string[] | null,
  choice: ColumnChoice,
): Layout {
  const sample: SampleRows = {
    rows: head.slice(0, SAMPLE_ROWS).map(soundCells),
    lines: head.map(({ line }) => line),
    later: later.map(soundCells),
  };
  if (names !== null) return withColumns(sample, { start: 0, names, header: [], headerRow: 0, isNamed: true }, choice);
  const widest = rowWidth(sample.rows);
  const all = statisticsOf(
    [...sample.rows, ...sample.later].filter(({ length }) => length <= widest),
    [],
    0,
  );
  const found = findHeader(sample, all, choice);
  if (found === null) {
    const width = Math.max(0, ...sample.rows.map((cells) => cells.length));
    const head = { start: 0, names: numberedColumns(width), header: [], headerRow: 0, isNamed: false };
    const layout = withColumns(sample, head, choice);
    const [main = 0] = layout.verified;
    return { ...layout, names: layout.names.with(main, 'email') };
  }
  const { at, skip } = found;
  const header = sample.rows.slice(found.from, skip);
  const headerRow = sample.lines[at] ?? 1;
  const own = columnNames(sample.rows[at] ?? [], sample.rows.slice(skip));
  return withColumns(sample, { start: skip, names: own, header, headerRow, isNamed: true }, choice);
}

/** Rows with more cells than others, and than what may be their header, tell nothing about columns. */
function rowWidth(rows: readonly Cells[]): number {
  const first = rows.findIndex((cells) => cells.some(mayHoldAddress));
  const above = rows.slice(0, Math.max(0, first)).findLast((cells) => cells.some(isFilled))?.length ?? 0;
  if (above < 2) return Number.POSITIVE_INFINITY;
  const counts = new Map<number, number>();
  for (const { length } of rows.slice(first)) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [usual] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
  return Math.max(above, usual);
}

/** One for each column that most rows have: what only some have is beyond the last column. */
function columnNames(header: Cells, rows: readonly Cells[]): readonly string[] {
  const widths = rows.flatMap((cells) => (cells.some(isFilled) ? [filledWidth(cells)] : [])).toSorted((a, b) => a - b);
  const width = Math.max(filledWidth(header), widths[(widths.length - 1) >> 1] ?? 0);
  return Array.from({ length: width }, (_, i) => header[i] ?? '');
}

const soundCells = ({ cells, problem }: RawRow): Cells => (problem === null ? cells : []);

interface FileHead {
  readonly start: number;
  readonly names: readonly string[];
  readonly header: readonly Cells[];
  readonly headerRow: number;
  readonly isNamed: boolean;
}

function withColumns(sample: SampleRows, { start, ...head }: FileHead, choice: ColumnChoice): Layout {
  const { names, isNamed } = head;
  const all = [...sample.rows.slice(start), ...sample.later];
  const rows = isNamed ? all.filter((cells) => filledWidth(cells) <= names.length) : all;
  const named = isNamed ? names : [];
  const found = statisticsOf(rows, named, names.length);
  const shown = isNamed ? names : (sample.rows.find((cells) => cells.some(isFilled)) ?? []);
  const ranked = rankedColumns(found);
  const isUsed = ({ share, addresses }: Statistics): boolean => addresses > 0 && share >= 0.4;
  const addressColumns = ranked.filter(isUsed);
  const verified = verifiedColumns(choice.columns, { names, shown, ranked, addressColumns });
  const main = verified[0] ?? 0;
  const others = addressColumns.map(({ index }) => index).filter((index) => !verified.includes(index));
  const substitutes = choice.columns === null ? substitutesOf(addressColumns, main) : [];
  const placeholders = placeholdersOf(rows, main, found[main]);
  return { skip: start, ...head, verified, others, substitutes, placeholders };
}

/** What columns are called that have no names. */
const numberedColumns = (count: number): string[] => Array.from({ length: count }, (_, i) => numberedColumn(i));
const numberedColumn = (index: number): string => `column_${index + 1}`;

/**
 * The key of the cell at an index in an object: the name of its column, or its number where the column has no name,
 * that of an earlier column, or the row is longer than the header. No two cells have the same.
 */
export function cellKeys(names: readonly string[]): (index: number) => string {
  const taken = new Set(names);
  const keys: string[] = [];
  return (index) => {
    for (let i = keys.length; i <= index; i++) {
      const name = names[i] ?? '';
      let key = name !== '' && names.indexOf(name) === i ? name : numberedColumn(i);
      while (key !== name && taken.has(key)) key += '_';
      taken.add(key);
      keys.push(key);
    }
    return keys[index] ?? '';
  };
}

// What the cells of a column are.

interface Statistics {
  readonly index: number;
  /** It rates the name, from 0 to 4. */
  readonly rank: number;
  /** Whether the name says that the addresses are those of someone else: the owner of a record, a sender. */
  readonly isOthers: boolean;
  /** Cells that are not blank. */
  readonly filled: number;
  /** Counts cells with addresses. */
  readonly addresses: number;
  /** This part of the cells that are not blank is addresses, 0 to 1. */
  readonly share: number;
  /** The same with PRIOR more that are, which tells columns of few cells from each other. */
  readonly likelyShare: number;
  /** This part of the rows has an address, 0 to 1. */
  readonly coverage: number;
  /** This part of the addresses is different, 0 to 1, where PRIOR more are counted that are. */
  readonly distinctness: number;
  /** This part of the addresses has words beside it, 0 to 1. */
  readonly labeled: number;
}

const mayHoldAddress = (cell: string): boolean => /[@＠﹫]|&#|%40|&commat/.test(cell);

/** One for each column, at least `width` of them. Only columns in which an @ appears are looked at closely. */
function statisticsOf(rows: readonly Cells[], names: readonly string[], width: number): Statistics[] {
  const columns = Math.max(width, names.length, ...rows.map((cells) => cells.length));
  const hasAt = new Set<number>();
  let count = 0;
  for (const cells of rows) {
    if (cells.some(isFilled)) count += 1;
    for (const [index, cell] of cells.entries()) if (!hasAt.has(index) && mayHoldAddress(cell)) hasAt.add(index);
  }
  return Array.from({ length: columns }, (_, index) =>
    statisticsOfColumn(rows, index, names[index] ?? '', { count, hasAt: hasAt.has(index) }),
  );
}

function statisticsOfColumn(
  rows: readonly Cells[],
  index: number,
  name: string,
  { count, hasAt }: { readonly count: number; readonly hasAt: boolean },
): Statistics {
  const isResult = name.trim().toLowerCase().startsWith(RESULT_PREFIX);
  const words = nameWords(name);
  const own = { index, rank: nameRank(name), isOthers: words.some((word) => OTHERS_ADDRESSES.has(word)) };
  let [filled, addresses, all, weight, labeled] = [0, 0, 0, 0, 0];
  const distinct = new Set<string>();
  for (const cells of rows) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    const content: CellContent | null = hasAt && !isResult ? contentOf(cell) : null;
    if (content === null ? isFilled(cell) : content.form !== 'blank') filled += 1;
    if (content === null || FORM_WEIGHTS[content.form] === 0) continue;
    addresses += 1;
    all += content.addresses.length;
    weight += FORM_WEIGHTS[content.form];
    if (content.form === 'labeled' || content.form === 'prose') labeled += 1;
    for (const address of content.addresses) distinct.add(address.toLowerCase());
  }
  return {
    ...own,
    filled,
    addresses,
    share: filled === 0 ? 0 : weight / filled,
    likelyShare: (weight + PRIOR) / (filled + PRIOR),
    coverage: count === 0 ? 0 : addresses / count,
    distinctness: all === 0 ? 0 : (distinct.size + PRIOR) / (all + PRIOR),
    labeled: addresses === 0 ? 0 : labeled / addresses,
  };
}

/** In a file of few rows, an address that occurs twice, or a total, says little of its column. */
const PRIOR = 3;

const columnScore = ({ likelyShare, distinctness, coverage }: Statistics): number =>
  likelyShare * distinctness * Math.sqrt(coverage);
const nameScore = ({ rank, isOthers }: Statistics): number => rank - (isOthers ? 3 : 0);

/** The content decides; of columns that are alike in it, the name; then which of them has more addresses. */
function rankedColumns(found: readonly Statistics[]): Statistics[] {
  const byContent = found.toSorted(
    (a, b) => columnScore(b) - columnScore(a) || nameScore(b) - nameScore(a) || a.index - b.index,
  );
  const [best] = byContent;
  if (best === undefined) return [];
  if (columnScore(best) === 0)
    return found.toSorted((a, b) => nameScore(b) - nameScore(a) || a.index - b.index).filter(({ rank }) => rank >= 2);
  const isAlike = (one: Statistics): boolean =>
    one.likelyShare >= best.likelyShare - 0.25 &&
    one.distinctness >= best.distinctness - 0.2 &&
    one.coverage >= best.coverage / 2 &&
    columnScore(one) > 0;
  const alike = byContent
    .filter(isAlike)
    .toSorted(
      (a, b) =>
        nameScore(b) - nameScore(a) || roundedScore(columnScore(b)) - roundedScore(columnScore(a)) || a.index - b.index,
    );
  return [...alike, ...byContent.filter((one) => !isAlike(one) && columnScore(one) > 0)];
}
const roundedScore = (score: number): number => Math.round(score * 10);

/** Columns like the main one: not those of someone else, who is the same in many rows. */
function substitutesOf(columns: readonly Statistics[], main: number): number[] {
  const best = columns.find(({ index }) => index === main);
  if (best === undefined) return [];
  return columns
    .filter(
      (one) =>
        one.index !== main &&
        one.share >= 0.5 &&
        one.distinctness >= best.distinctness - 0.35 &&
        (!one.isOthers || best.isOthers),
    )
    .map(({ index }) => index);
}

interface NamedColumns {
  readonly names: readonly string[];
  /** What to call the columns where none is found. */
  readonly shown: readonly string[];
  readonly ranked: readonly Statistics[];
  readonly addressColumns: readonly Statistics[];
}

function verifiedColumns(
  columns: ColumnChoice['columns'],
  { names, shown, ranked, addressColumns }: NamedColumns,
): number[] {
  if (Array.isArray(columns)) return [...new Set(columns.map((column) => givenColumn(names, shown, column)))];
  const [best] = ranked;
  if (best === undefined) throw noAddressColumn(shown, null);
  if (columns !== 'all') return [best.index];
  return [best.index, ...addressColumns.map(({ index }) => index).filter((index) => index !== best.index)];
}

export function givenColumn(names: readonly string[], shown: readonly string[], column: string): number {
  const named = indexOfName(names, column);
  if (named >= 0) return named;
  const number = /^[1-9]\d{0,5}$/.test(column.trim()) ? Number(column) : 0;
  if (number > 0 && number <= names.length) return number - 1;
  throw noAddressColumn(shown, column);
}

function indexOfName(names: readonly string[], wanted: string): number {
  const exact = names.indexOf(wanted);
  const same = (name: string): boolean => folded(name) === folded(wanted) && folded(name) !== '';
  const trimmed = names.findIndex((name) => name.trim().toLowerCase() === wanted.trim().toLowerCase());
  return exact >= 0 ? exact : trimmed >= 0 ? trimmed : names.findIndex(same);
}

/** A word without an @ that several rows of a column of addresses have stands for nothing. */
function placeholdersOf(rows: readonly Cells[], main: number, found: Statistics | undefined): ReadonlySet<string> {
  const counts = new Map<string, number>();
  if (found === undefined || found.addresses === 0) return new Set();
  for (const cells of rows) {
    const cell = trimBlanks(cells[main] ?? '');
    if (cell === '' || cell.length > 40 || mayHoldAddress(cell)) continue;
    const key = cell.toLowerCase();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([word, count]) => (count >= PLACEHOLDER_ROWS ? [word] : [])));
}
const PLACEHOLDER_ROWS = 3;

// The header

interface HeaderRows {
  /** The header begins with row `from`, has its names in row `at`, and ends before row `skip`. */
  readonly from: number;
  readonly at: number;
  readonly skip: number;
}

function findHeader(sample: SampleRows, all: readonly Statistics[], choice: ColumnChoice): HeaderRows | null {
  const { rows, lines } = sample;
  if (choice.headerRow === 0) return null;
  if (choice.headerRow !== null) {
    const wanted = choice.headerRow;
    const given = rows.findIndex((cells, i) => (lines[i] ?? 0) >= wanted && cells.some(isFilled));
    return given < 0 ? null : { from: given, at: given, skip: given + 1 };
  }
  const named = rowOfNames(rows, choice.columns);
  if (named !== null) return named;
  const [main] = rankedColumns(all);
  if (main === undefined || main.addresses === 0) return headerByName(rows);
  const first = rows.findIndex((cells) => hasAddress(cells[main.index] ?? '', main));
  const top = rows.slice(0, first);
  const body = { rows: rows.slice(first), main };
  const fitting = top.flatMap((cells, i) => (fitsAsHeader(cells, body) ? [i] : []));
  const widths = body.rows.slice(0, HEADER_ROWS).map(filledCount);
  return widths.every((width) => width <= 1) ? singleHeader(top, fitting) : wideHeader(top, fitting, body);
}

/** Where the names that are asked for are. */
function rowOfNames(rows: readonly Cells[], columns: ColumnChoice['columns']): HeaderRows | null {
  if (!Array.isArray(columns)) return null;
  const isThere = (cells: Cells): boolean =>
    columns.every((name) => indexOfName(cells, name) >= 0 || /^\s*\d+\s*$/.test(name)) &&
    columns.some((name) => indexOfName(cells, name) >= 0);
  const at = rows.slice(0, HEADER_ROWS).findIndex(isThere);
  return at < 0 ? null : { from: at, at, skip: at + 1 };
}

/** If there is no address anywhere, a first row is a header if a name in it says what its column holds. */
function headerByName(rows: readonly Cells[]): HeaderRows | null {
  const at = rows.slice(0, HEADER_ROWS).findIndex((cells) => cells.some((name) => nameRank(name) >= 2));
  return at < 0 ? null : { from: at, at, skip: at + 1 };
}

/** Not for a name that shows an address as an example, where the cells of its column are nothing but addresses. */
function hasAddress(cell: string, { labeled }: Statistics): boolean {
  const { form } = contentOf(cell);
  if (FORM_WEIGHTS[form] === 0) return false;
  return labeled >= 0.5 || !(form === 'labeled' || form === 'prose') || titleRank(cell) < 2;
}

/** The name is ranked without the address that it gives as an example. */
const titleRank = (cell: string): number =>
  nameRank(
    contentOf(cell)
      .addresses.filter((address) => address.includes('@'))
      .reduce((rest, address) => rest.replace(address, ' '), cell),
  );

interface Body {
  /** They begin with the first row that has an address. */
  readonly rows: readonly Cells[];
  readonly main: Statistics;
}

const filledCount = (cells: Cells): number => cells.filter(isFilled).length;
export function filledWidth(cells: Cells): number {
  return cells.findLastIndex(isFilled) + 1;
}
const isNumber = (cell: string): boolean => !/\p{L}/u.test(cell) && !/@/.test(cell);
const COMMENT = /^\s*(?:#|\/\/|--|;)/;

/** Whether a row may be a header of the rows below: it has a name over the addresses, and about as many cells. */
function fitsAsHeader(cells: Cells, { rows, main }: Body): boolean {
  const name = cells[main.index] ?? '';
  if (!isFilled(name) || isNumber(name)) return false;
  if (filledCount(cells) === 1 && COMMENT.test(cells.find(isFilled) ?? '')) return false;
  if (contentOf(name).form === 'blank' || name.length > 1000) return false;
  const widths = rows
    .slice(0, HEADER_ROWS)
    .map(filledCount)
    .toSorted((a, b) => a - b);
  const usual = widths[widths.length >> 1] ?? 1;
  return filledCount(cells) * 2 >= usual;
}

/** In rows with one cell, a bad address is more likely than a title that looks like one. */
function singleHeader(top: readonly Cells[], fitting: readonly number[]): HeaderRows | null {
  const textOf = (i: number): string => (top[i] ?? []).find(isFilled) ?? '';
  const named = fitting.findLast((i) => titleRank(textOf(i)) >= 2);
  const isTitle = (i: number): boolean => !/[^\s@]@|\p{L}\.\p{L}/u.test(textOf(i));
  const isSentence = (i: number): boolean => /\S\s+\S/.test(trimBlanks(textOf(i)));
  const last = fitting.at(-1);
  if (named !== undefined) return { from: named, at: named, skip: named + 1 };
  if (last === undefined || !isTitle(last) || !fitting.slice(0, -1).every(isSentence)) return null;
  return { from: last, at: last, skip: last + 1 };
}

/** Rows of names right above each other; the one with most of them names the columns. */
function wideHeader(top: readonly Cells[], fitting: readonly number[], body: Body): HeaderRows | null {
  const { index } = body.main;
  const nearby = fitting.filter((i) => i < HEADER_ROWS || i >= top.length - HEADER_ROWS);
  const named = nearby.findLast((i) => titleRank(top[i]?.[index] ?? '') >= 2);
  const anchor = named ?? (nearby.at(-1) === top.length - 1 ? nearby.at(-1) : nearby[0]);
  if (anchor === undefined) return null;
  let from = anchor;
  while (from > 0 && fitting.includes(from - 1)) from -= 1;
  let to = from;
  while (
    to + 1 < top.length &&
    fitting.includes(to + 1) &&
    (to + 1 <= anchor || isName(top[to + 1] ?? [], body)) &&
    isName(top[to + 1] ?? [], body)
  )
    to += 1;
  const rows = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const at = rows.reduce((a, b) => (filledCount(top[b] ?? []) > filledCount(top[a] ?? []) ? b : a));
  return { from, at, skip: to + 1 };
}

/** Whether a row below a row of names is one as well, and not a row with a bad address. */
function isName(cells: Cells, { rows, main }: Body): boolean {
  const cell = cells[main.index] ?? '';
  if (nameRank(cell) > 0) return true;
  if (cell.includes('@')) return false;
  const below = rows.slice(0, HEADER_ROWS);
  for (const index of cells.keys()) {
    const filled = below.map((row) => row[index] ?? '').filter(isFilled);
    if (index === main.index || filled.length === 0 || !isFilled(cells[index] ?? '')) continue;
    if (filled.every(isNumber)) return !isNumber(cells[index] ?? '');
  }
  const addresses = below.filter((row) => hasAddress(row[main.index] ?? '', main)).length;
  const filled = below.filter((row) => isFilled(row[main.index] ?? '')).length;
  return addresses >= 3 && addresses === filled;
}

// Names

/** It splits `userEmail_1` into user, email, 1; without case and accents. */
const nameWords = (name: string): string[] =>
  name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '');

/** As names are compared: without case, accents, spaces and punctuation. */
export const folded = (name: string): string => nameWords(name).join('');
const WHOLE = new Set(WHOLE_NAMES.map(folded));
const FOLDED_NAME_PARTS = NAME_PARTS.map(folded);

/** 4: a name of nothing else; 3, 2: it contains one; 1: of other things as well; 0: none. */
export function nameRank(name: string): number {
  if (name.length > 200 || name.startsWith(RESULT_PREFIX)) return 0;
  const words = nameWords(name);
  const whole = words.join('');
  if (WHOLE.has(whole)) return 4;
  if (WEAK_NAMES.has(whole)) return 1;
  if (words.some((word) => NOT_ADDRESSES.has(word))) return 0;
  if (FOLDED_NAME_PARTS.some((part) => whole.includes(part))) return 3;
  return words.some((word) => WORDS.has(word)) ? 2 : 0;
}

const SHOWN_NAMES = 20;
const SHOWN_NAME_CHARACTERS = 60;

function noAddressColumn(columns: readonly string[], wanted: string | null): FileError {
  const shown = columns.slice(0, SHOWN_NAMES).map((name) => JSON.stringify(name.slice(0, SHOWN_NAME_CHARACTERS)));
  if (columns.length > SHOWN_NAMES) shown.push('…');
  const what = wanted === null ? 'No column holds email addresses' : `There is no column ${JSON.stringify(wanted)}`;
  const seen = shown.length === 0 ? '' : ` The columns are: ${shown.join(', ')}.`;
  return new FileError({ code: 'no_address_column', columns }, `${what}.${seen}`);
}
