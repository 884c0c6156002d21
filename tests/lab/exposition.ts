/**
 * Reads the Prometheus text format, strictly (https://prometheus.io/docs/instrumenting/exposition_formats/), and throws
 * where it or the naming conventions are not kept.
 */

interface Series {
  /** With `_bucket`, `_sum` or `_count`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly series: readonly Series[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = '', value = ''] = LABEL.exec(text) ?? fail(`labels: ${text}`);
    if (name in labels) fail(`label twice: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_all, c: string) => (c === 'n' ? '\n' : c));
  }
  return labels;
}

function numberIn(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  const value = Number(text);
  // In any case, as Go reads it.
  return Number.isNaN(value) && !/^nan$/i.test(text) ? fail(`value: ${text}`) : value;
}

export function parseExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) fail('no line break at the end');
  const families = new Map<string, { type: string; help: string; series: Series[] }>();
  const seen = new Set<string>();
  let current = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, kind, named = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (families.has(named) || !NAME.test(named)) fail(`family: ${line}`);
      families.set(named, { type: '', help: rest, series: [] });
      current = named;
      continue;
    }
    const family = families.get(current) ?? fail(`outside of a family: ${line}`);
    if (kind === 'TYPE') {
      if (named !== current || family.series.length > 0) fail(`type: ${line}`);
      family.type = rest;
      continue;
    }
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? fail(`line: ${line}`);
    const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    if (!suffixes.some((suffix) => name === current + suffix)) fail(`${line} is not of ${current}`);
    const one = { name, labels: labelsOf(labels), value: numberIn(value) };
    const key = `${name} ${JSON.stringify(Object.entries(one.labels).sort())}`;
    if (seen.has(key)) fail(`twice: ${line}`);
    seen.add(key);
    family.series.push(one);
  }
  for (const [name, family] of families) check(name, family);
  return families;
}

function check(name: string, { type, series }: Family): void {
  if (!['counter', 'gauge', 'histogram', 'summary'].includes(type)) fail(`${name}: type ${type}`);
  if ((type === 'counter') !== name.endsWith('_total') && name.startsWith('mailvet_')) fail(`${name}: a ${type}`);
  if (type !== 'gauge' && series.some(({ value }) => !(value >= 0))) fail(`${name}: negative`);
  if (type === 'histogram') checkHistogram(name, series);
}

/** Buckets are cumulative, and the last one is the count. */
function checkHistogram(name: string, series: readonly Series[]): void {
  const before = new Map<string, { le: number; value: number }>();
  const keyOf = ({ le: _le, ...labels }: Readonly<Record<string, string>>) => JSON.stringify(labels);
  for (const { name: of, labels, value } of series) {
    const last = before.get(keyOf(labels));
    if (of.endsWith('_bucket')) {
      const le = numberIn(labels.le ?? '');
      if (last !== undefined && (le <= last.le || value < last.value)) fail(`${name}: buckets`);
      before.set(keyOf(labels), { le, value });
    }
    if (of.endsWith('_count') && (last?.le !== Number.POSITIVE_INFINITY || last.value !== value))
      fail(`${name}: count`);
  }
}

function fail(what: string): never {
  throw new Error(`Not the text format: ${what}`);
}
