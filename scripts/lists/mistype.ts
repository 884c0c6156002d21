/**
 * Makes the rows of src/engine/address/testdata/typos.txt: mail domains mistyped by a model of a keyboard, which shares
 * no code with the repair. Two rows of keys are offset as on an ISO keyboard; keys less than 1.25 widths apart are
 * neighbors. Providers are drawn by rank, kinds of slips by how often people make them (the order of frequency is that
 * of Kukich, "Techniques for automatically correcting words in text", ACM Computing Surveys 24(4), 1992, §1.2, where
 * four in five misspelled words have a single omission, insertion, substitution or transposition).
 *
 *   node scripts/lists/mistype.ts ROWS SEED
 */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { isPublicSuffix } from '../../src/engine/address/parse.ts';
import { readFileLines, readTable } from '../../src/engine/data/domain-data.ts';

const DATA = fileURLToPath(new URL('../../data', import.meta.url));
const ROWS = [
  ['1234567890', 0],
  ['qwertyuiop', 0.5],
  ['asdfghjkl', 0.75],
  ['zxcvbnm,.', 1.25],
] as const;
const PLACES = new Map(
  ROWS.flatMap(([keys, offset], y) => [...keys].map((key, x) => [key, { x: x + offset, y }] as const)),
);

function neighborsOf(key: string): string[] {
  const from = PLACES.get(key);
  if (from === undefined) return [];
  const near = [...PLACES].filter(([other, at]) => other !== key && Math.hypot(at.x - from.x, at.y - from.y) < 1.25);
  return near.map(([other]) => other).filter((other) => /[a-z\d]/.test(other));
}

const KINDS = { missing: 25, doubled: 20, swapped: 25, neighbor: 18, neighbor_added: 7, dot: 5 } as const;
type Kind = keyof typeof KINDS;

/** One slip of this kind at a place drawn by `random`; null where there is none. */
function slip(text: string, kind: Kind, random: () => number): string | null {
  const dots = [...text].flatMap((key, i) => (key === '.' ? [i] : []));
  const at = kind === 'dot' ? dots[Math.floor(random() * dots.length)]! : Math.floor(random() * text.length);
  const [before, key, after] = [text.slice(0, at), text[at]!, text.slice(at + 1)];
  if (kind === 'dot') return random() < 0.6 ? before + after : `${before.slice(0, -1)}.${before.slice(-1)}${after}`;
  if (key === '.') return null;
  const near = neighborsOf(key);
  const hit = near[Math.floor(random() * near.length)];
  if (kind === 'missing') return before + after;
  if (kind === 'doubled') return before + key + key + after;
  if (kind === 'swapped') return after === '' || after[0] === '.' ? null : before + after[0] + key + after.slice(1);
  if (hit === undefined) return null;
  return kind === 'neighbor' ? before + hit + after : before + key + hit + after;
}

function drawFrom(seed: string): () => number {
  let n = 0;
  return () => createHash('sha256').update(`${seed} ${n++}`).digest().readUInt32BE(0) / 2 ** 32;
}

/** What a person would not guess either, or would leave alone. */
function isOpen(typed: string, meant: string, taken: ReadonlySet<string>): boolean {
  const [name, rest] = [meant.slice(0, meant.indexOf('.')), typed.slice(typed.indexOf('.') + 1)];
  const sameSuffix = meant.endsWith(`.${rest}`);
  const short = name.length < 5 && sameSuffix && name.length !== typed.indexOf('.');
  return (
    !taken.has(typed) &&
    /^[a-z\d][a-z\d-]*(\.[a-z\d]+)*$/.test(typed) &&
    !(short && typed.indexOf('.') < name.length) &&
    (sameSuffix || ['co', 'cm', 'om', 'ne'].includes(rest) || !isPublicSuffix(rest, { allowPrivateDomains: false }))
  );
}

function rows(count: number, seed: string): string[] {
  const random = drawFrom(seed);
  const targets = [...readTable(DATA, 'suggest.txt').keys()];
  const mistyped = readTable(DATA, 'mistyped.txt');
  const taken = new Set(
    [...targets, ...readTable(DATA, 'known.txt').keys(), ...readFileLines(DATA, 'free.txt')].filter(
      (name) => !mistyped.has(name),
    ),
  );
  const weights = targets.map((_, rank) => 1 / (rank + 10));
  const pick = <T>(items: readonly T[], weight: (item: T, i: number) => number): T => {
    let left = random() * items.reduce((sum, item, i) => sum + weight(item, i), 0);
    for (const [i, item] of items.entries()) {
      left -= weight(item, i);
      if (left < 0) return item;
    }
    return items[0]!;
  };
  const found = new Map<string, string>();
  while (found.size < count) {
    const meant = pick(targets, (_, i) => weights[i]!);
    const kinds = Object.keys(KINDS) as Kind[];
    const first = pick(kinds, (kind) => KINDS[kind]);
    let typed = slip(meant, first, random);
    let kind: string = first;
    if (typed !== null && meant.length > 9 && random() < 0.1) {
      const second = pick(kinds, (k) => KINDS[k]);
      typed = typed.includes('.') ? slip(typed, second, random) : null;
      kind = `${first} ${second}`;
    }
    if (typed !== null && isOpen(typed, meant, taken)) found.set(typed, `${meant}\t${kind}`);
  }
  return [...found].map(([typed, rest]) => `${typed}\t${rest}`).sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , count = '700', seed = 'a'] = process.argv;
  console.log(rows(Number(count), seed).join('\n'));
}
