/** How a text is cut into rows and cells: found out by what the cells are then. */
import { trimBlanks } from '../kernel/blanks.ts';
import {
  csvDialect,
  type Dialect,
  LINES,
  namedDelimiter,
  RowSplitter,
  type TextRow,
  UNBOUNDED,
} from '../kernel/csv.ts';
import { contentOf, FORM_WEIGHTS } from './address-cell.ts';
import { listItems } from './address-list.ts';

/**
 * The shape of a text. `list`: addresses with separators between them, whatever the lines are; `table`: cells with
 * borders, and lines that are rules; `fixed`: columns that begin at certain places of each line; `wrapped`: each line
 * is one quoted cell that has the row.
 */
export type TextShape =
  | { readonly kind: 'rows'; readonly dialect: Dialect }
  | { readonly kind: 'wrapped'; readonly dialect: Dialect }
  | { readonly kind: 'table'; readonly dialect: Dialect }
  | { readonly kind: 'fixed'; readonly starts: readonly number[] }
  | { readonly kind: 'list' };

interface Detected {
  readonly shape: TextShape;
  /** Characters to skip: a line that only names the delimiter. */
  readonly skip: number;
}

const DIALECT_SAMPLE_ROWS = 400;
/** A line end within so much is looked for: what is behind it may be cut off. */
const SAMPLE_CHARACTERS = 64 * 1024;
const ROWS_RATED = 60;

/** `given`: the delimiter that the sender names. `isWhole`: the sample is all of the text. */
export function detectShape(text: string, isWhole: boolean, given: string | null): Detected {
  const named = namedDelimiter(text);
  const skip = named?.length ?? 0;
  const delimiter = given ?? named?.delimiter ?? null;
  const sample = sampleText(text.slice(skip), isWhole);
  if (delimiter === null && isList(sample)) return { shape: { kind: 'list' }, skip };
  return { shape: bestShape(sample, delimiter).shape, skip };
}

function sampleText(text: string, isWhole: boolean): string {
  if (isWhole && text.length <= SAMPLE_CHARACTERS) return text;
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  const end = Math.max(sample.lastIndexOf('\n'), sample.lastIndexOf('\r'));
  return end < 0 ? sample : sample.slice(0, end + 1);
}

/** Says whether it has lines with several addresses and hardly anything else. */
function isList(sample: string): boolean {
  const lines = sample.split(/\r\n|\r|\n/).filter((line) => trimBlanks(line) !== '');
  const counts = lines.map((line) => line.match(/[@＠]/g)?.length ?? 0);
  const several = counts.filter((count) => count > 1).length;
  if (several === 0 || several * 4 < lines.length) return false;
  let [items, others, leading] = [0, 0, 0];
  for (const { isAddress, text } of listItems(sample)) {
    if (isAddress) items += 1;
    else if (items === 0) leading += text.split(/[,;\t|]/).length;
    else others += 1;
  }
  // One word may be above a list; several are a header of columns.
  return items > 1 && leading <= 1 && others * 20 <= items;
}

interface RatedShape {
  readonly shape: TextShape;
  readonly score: number;
}

function bestShape(sample: string, given: string | null): RatedShape {
  const candidates =
    given === null ? delimiterCandidates(sample) : given === 'none' ? [] : [{ delimiter: given, prior: 0 }];
  const rules = ruleCharacters(sample);
  const found: RatedShape[] = candidates.flatMap(({ delimiter, prior }) => [
    ...quotesOf(sample, delimiter).map(({ dialect, cost }) =>
      ratedShape({ kind: 'rows', dialect }, sample, prior - cost),
    ),
    ...(rules.has(delimiter)
      ? [ratedShape({ kind: 'table', dialect: { ...csvDialect(delimiter), quote: null } }, sample, prior + 0.2)]
      : []),
  ]);
  if (given === null || given === 'none') found.push(ratedShape({ kind: 'rows', dialect: LINES }, sample, 0.05));
  if (given === null) {
    const starts = columnStarts(sample);
    if (starts !== null) found.push(ratedShape({ kind: 'fixed', starts }, sample, -0.15));
  }
  const best = found.reduce((a, b) => (b.score > a.score ? b : a));
  const inner = unwrappedRows(sample, given);
  if (inner !== null && inner.score > best.score) return inner;
  return best.score > 0 ? best : { ...best, shape: { kind: 'rows', dialect: csvDialect(given ?? ',') } };
}

/** Each line is one quoted cell: the rows are inside. */
function unwrappedRows(sample: string, given: string | null): RatedShape | null {
  const rows = filled(new RowSplitter(csvDialect(','), UNBOUNDED).push(sample, true));
  const quoted = sample.split(/\r\n|\r|\n/).filter((line) => /^".*"\s*[,;]?$/s.test(trimBlanks(line))).length;
  if (rows.length < 2 || quoted < rows.length * 0.9) return null;
  if (rows.some(({ cells }) => filledCells(cells) !== 1)) return null;
  const inner = rows.map(({ cells }) => cells.find((cell) => cell !== '') ?? '');
  if (!inner.some((cell) => /[,;\t|]/.test(cell))) return null;
  const { shape, score } = bestShape(inner.map((line) => line.replaceAll(/[\r\n]+/g, ' ')).join('\n'), given);
  return shape.kind === 'rows' && shape.dialect.delimiter !== ''
    ? { shape: { ...shape, kind: 'wrapped' }, score }
    : null;
}
const filledCells = (cells: readonly string[]): number => cells.filter((cell) => trimBlanks(cell) !== '').length;

interface DelimiterCandidate {
  readonly delimiter: string;
  readonly prior: number;
}

const USUAL_DELIMITERS: readonly DelimiterCandidate[] = [
  { delimiter: ',', prior: 0 },
  { delimiter: ';', prior: 0 },
  { delimiter: '\t', prior: 0 },
  { delimiter: '|', prior: -0.02 },
];
const UNUSUAL_PRIOR = -0.15;
/** Stands in times, links and labels. */
const COLON_PRIOR = -0.65;

const BESIDE =
  /([^\p{L}\p{N}@._+\s"'“”„`-]{1,2})?["'“„`]?\s{0,8}[\p{L}\p{N}._+-]{1,64}[@＠][\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+\s*["'”“`]?([^\p{L}\p{N}@._+\s"'“”„`-]{1,2})?/u;

/** The usual ones, and what is beside addresses in most lines that have one. */
function delimiterCandidates(sample: string): DelimiterCandidate[] {
  const beside = new Map<string, number>();
  let lines = 0;
  for (const line of sample.split(/\r\n|\r|\n/, DIALECT_SAMPLE_ROWS)) {
    const found = BESIDE.exec(line.slice(0, 4096));
    if (found === null) continue;
    lines += 1;
    const sides = [found[1] ?? '', found[2] ?? ''];
    for (const mark of new Set(sides.flatMap((side) => [side, side.slice(0, 1), side.slice(-1)])))
      if (mark !== '') beside.set(mark, (beside.get(mark) ?? 0) + 1);
  }
  const others = [...beside].flatMap(([mark, count]) =>
    count * 2 < lines ||
    /["'()<>[\]{}=“”‘’«»`\\*•]/.test(mark) ||
    USUAL_DELIMITERS.some(({ delimiter }) => delimiter === mark)
      ? []
      : [{ delimiter: mark, prior: priorOf(mark, sample) }],
  );
  // A comma also stands for quoted cells of one column.
  const isThere = ({ delimiter }: DelimiterCandidate): boolean =>
    sample.includes(delimiter) || (delimiter === ',' && sample.includes('"'));
  return [...USUAL_DELIMITERS.filter(isThere), ...others.slice(0, 6)];
}

/** Two of a kind are one delimiter where there is no single one. */
function priorOf(mark: string, sample: string): number {
  const single = mark.charAt(0);
  if (mark === single + single)
    return sample
      .replaceAll(/"[^"]*"/g, '')
      .replaceAll(mark, '')
      .includes(single)
      ? -1
      : 0.02;
  return mark === ':' ? COLON_PRIOR : UNUSUAL_PRIOR - 0.01 * (2 - mark.length);
}

/** The ways in which cells may be quoted, and what each costs. */
function quotesOf(sample: string, delimiter: string): { dialect: Dialect; cost: number }[] {
  const dialect = csvDialect(delimiter);
  const found = [{ dialect, cost: 0 }];
  if (sample.includes('\\"')) found.push({ dialect: { ...dialect, escape: true }, cost: 0.01 });
  const lines = sample.split(/\r\n|\r|\n/, DIALECT_SAMPLE_ROWS).filter((line) => trimBlanks(line) !== '');
  for (const [open, close] of ["''", '“”', '„“', '``'] as const) {
    if (open === undefined || close === undefined) continue;
    const quoted = lines.filter((line) => line.trimStart().startsWith(open) || line.includes(delimiter + open)).length;
    if (quoted * 3 >= lines.length) found.push({ dialect: { ...dialect, quote: { open, close } }, cost: 0.03 });
  }
  return found;
}

const RULER_LINE = /^[\s+|:=_─━═│┃┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝║╞╪╡-]{3,}$/;

/** Whether a line only draws a border: three marks at least. */
const isRulerLine = (line: string): boolean => RULER_LINE.test(line) && (line.match(/[=_─━═-]/g)?.length ?? 0) >= 3;

/** What may be between the cells of a table whose borders are drawn. */
function ruleCharacters(sample: string): ReadonlySet<string> {
  const lines = sample.split(/\r\n|\r|\n/, DIALECT_SAMPLE_ROWS);
  return lines.some(isRulerLine) ? new Set(['|', '│', '┃', '║', '\t', '!']) : new Set();
}

/** Where the columns of a text begin that is aligned by blanks; null: it is not. */
function columnStarts(sample: string): number[] | null {
  const lines = sample
    .split(/\r\n|\r|\n/, DIALECT_SAMPLE_ROWS)
    .filter((line) => trimBlanks(line) !== '' && !isRulerLine(line));
  const aligned = lines.filter((line) => /\S {2,}\S/.test(line));
  if (aligned.length < 3 || aligned.length * 5 < lines.length * 4 || sample.includes('\t')) return null;
  const width = Math.min(4096, Math.max(...aligned.map((line) => line.length)));
  const starts: number[] = [];
  let wasBlank = true;
  for (let at = 0; at < width; at++) {
    const isBlank = aligned.every((line) => at >= line.length || line.charAt(at) === ' ');
    if (!isBlank && wasBlank) starts.push(at);
    wasBlank = isBlank;
  }
  return starts.length > 1 ? starts : null;
}

const filled = (rows: readonly TextRow[]): TextRow[] =>
  rows.filter(({ cells }) => cells.some((cell) => trimBlanks(cell) !== '')).slice(0, DIALECT_SAMPLE_ROWS);

/** 0 to 4, at most: whether cells with an @ are addresses, and rows have one width. */
function ratedShape(shape: TextShape, sample: string, prior: number): RatedShape {
  const rows = filled(cutterOf(shape, UNBOUNDED).push(sample, true));
  const all = rows.filter(({ problem }) => problem === null).map(({ cells }) => cells);
  if (all.length === 0) return { shape, score: -1 };
  const withAddress = all.filter((cells) => cells.some(hasAt));
  const width = usualWidth(withAddress, all);
  // Titles and notes above a table are not cut.
  const titles = prior > UNUSUAL_PRIOR ? all.findIndex((cells) => cells.length === width) : 0;
  const sound = all.slice(titles);
  const withAt = sound.filter((cells) => cells.some(hasAt));
  const share = (list: readonly (readonly string[])[]): number =>
    list.length === 0 ? 0 : list.filter(({ length }) => length === width).length / list.length;
  const broken = (rows.length - all.length) / rows.length;
  const uniform = share(sound) + (withAt.length === 0 ? share(sound) : share(withAt));
  // Cutting nothing is left to lines, unless quotes are taken off.
  const isVain =
    width === 1 &&
    shape.kind === 'rows' &&
    shape.dialect.delimiter !== '' &&
    !/^[^\S\r\n\u2028\u2029]*["'“„`]/m.test(sample);
  const vain = (isVain ? 0.5 : 0) + (width === 1 && withAt.length === 0 ? 1 : 0);
  // A colon also occurs in times, links and labels.
  const isColon = shape.kind === 'rows' && shape.dialect.delimiter === ':';
  if (isColon && share(sound) < 1) return { shape, score: -1 };
  return { shape, score: 3 * cleanness(withAt) + uniform / 2 - 2 * broken + prior - vain };
}

const hasAt = (cell: string): boolean => /[@＠]/.test(cell);

/** Returns how much the addresses in rows with an @ are cells of their own. */
function cleanness(rows: readonly (readonly string[])[]): number {
  const step = Math.max(1, Math.floor(rows.length / ROWS_RATED));
  let [sum, count] = [0, 0];
  for (let i = 0; i < rows.length; i += step) {
    const weights = (rows[i] ?? []).filter(hasAt).map((cell) => FORM_WEIGHTS[contentOf(cell).form]);
    // Handles and prices are no addresses under any delimiter.
    const known = weights.filter((weight) => weight > 0);
    if (known.length > 0) sum += known.reduce<number>((a, b) => a + b, 0) / known.length;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}

/** Returns the width of most rows with an @; without such rows, of most rows, or else of the first one. */
function usualWidth(withAddress: readonly (readonly string[])[], all: readonly (readonly string[])[]): number {
  const frequent = mostFrequent(withAddress);
  const [first = 1] = frequent.length === 1 ? frequent : mostFrequent(all);
  return first;
}

function mostFrequent(rows: readonly (readonly string[])[]): number[] {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...counts].flatMap(([width, count]) => (count === most ? [width] : []));
}

interface Cutter {
  /** Returns the rows that are complete; with `final`, no text follows. */
  push(text: string, final: boolean): TextRow[];
}

/** Cuts text of a shape into rows. `line`: the number of the first one. */
export function cutterOf(shape: Exclude<TextShape, { kind: 'list' }>, bounds: typeof UNBOUNDED, line?: number): Cutter;
export function cutterOf(shape: TextShape, bounds: typeof UNBOUNDED, line?: number): Cutter;
export function cutterOf(shape: TextShape, bounds: typeof UNBOUNDED, line = 1): Cutter {
  switch (shape.kind) {
    case 'rows':
      return new RowSplitter(shape.dialect, bounds, line);
    case 'wrapped':
      return mapped(new RowSplitter(csvDialect(','), bounds, line), ({ cells, ...row }) => {
        const inner = cells.find((cell) => cell !== '') ?? '';
        const [first] = new RowSplitter(shape.dialect, bounds, row.line).push(inner.replaceAll(/[\r\n]+/g, ' '), true);
        return first === undefined ? { ...row, cells } : { ...first, line: row.line };
      });
    case 'table':
      return mapped(
        new RowSplitter({ ...shape.dialect, delimiter: '' }, bounds, line),
        ({ cells: [text = ''], ...row }) =>
          isRulerLine(text) ? null : { ...row, cells: tableCells(text, shape.dialect.delimiter) },
      );
    case 'fixed':
      return mapped(new RowSplitter(LINES, bounds, line), ({ cells: [text = ''], ...row }) =>
        isRulerLine(text) ? null : { ...row, cells: fixedCells(text, shape.starts) },
      );
    case 'list':
      return new RowSplitter(LINES, bounds, line);
  }
}

const mapped = (splitter: RowSplitter, row: (row: TextRow) => TextRow | null): Cutter => ({
  push: (text, final) =>
    splitter.push(text, final).flatMap((found) => (found.problem === null ? (row(found) ?? []) : found)),
});

function tableCells(text: string, delimiter: string): string[] {
  let line = text.trim();
  if (line.startsWith(delimiter)) line = line.slice(delimiter.length);
  if (line.endsWith(delimiter)) line = line.slice(0, -delimiter.length);
  return line.split(delimiter).map((cell) => cell.trim());
}

const fixedCells = (text: string, starts: readonly number[]): string[] =>
  starts.map((start, i) => text.slice(i === 0 ? 0 : start, starts[i + 1]).trim());
