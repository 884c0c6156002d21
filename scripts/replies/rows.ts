/** The labelled replies of data/sources, as the classifier sees and the model learns them. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dataFile } from '../../src/engine/data-files.ts';
import type { LabelledReply } from '../../src/engine/smtp/classify/evaluation.ts';

const SETS = {
  'smtp-replies.json': { prefix: 's', weight: 1 },
  'smtp-replies-2.json': { prefix: 't', weight: 1 },
  'smtp-replies-3.json': { prefix: 'u', weight: 1 },
  'smtp-replies-reports.json': { prefix: 'v', weight: 1 },
  'smtp-refusals.json': { prefix: 'q', weight: 1 },
  'smtp-replies-written.json': { prefix: 'written', weight: 1 },
  // Forms that the project made up resemble each other.
  'smtp-reply-forms.json': { prefix: 'form', weight: 0.5 },
} as const satisfies Record<string, { prefix: string; weight: number }>;
type SetName = keyof typeof SETS;
export const SET_NAMES = Object.keys(SETS) as readonly SetName[];

/** Sets that were observed, or found in rules and manuals; the others were written by the project. */
export const OBSERVED: ReadonlySet<SetName> = new Set<SetName>([
  'smtp-replies.json',
  'smtp-replies-2.json',
  'smtp-replies-3.json',
]);
/** Those that the lexicon was made with: their wording is taken out of it before the rules read them. */
export const KNOWN_TO_LEXICON: ReadonlySet<SetName> = new Set<SetName>([
  'smtp-replies.json',
  'smtp-replies-written.json',
  'smtp-reply-forms.json',
]);

export interface SourceRow extends LabelledReply {
  readonly id: string;
  readonly set: SetName;
  readonly source: string;
  readonly language?: string;
  readonly mx_hint?: string | null;
  /** For training. */
  readonly weight: number;
}

type FileRow = LabelledReply & { readonly id?: string; readonly source?: string; readonly set?: string };

const read = (name: SetName): readonly FileRow[] => {
  const file = JSON.parse(readFileSync(dataFile(`sources/${name}`), 'utf8')) as FileRow[] | { rows: FileRow[] };
  return Array.isArray(file) ? file : file.rows;
};

/** Files of one project are one source. */
const sourceOf = (name: SetName, { source, set }: FileRow): string => {
  if (name === 'smtp-reply-forms.json') return 'forms';
  if (name === 'smtp-replies-written.json') return `written ${set ?? ''}`.trim();
  if (name === 'smtp-refusals.json') return 'refusals';
  return /sisimai/i.test(source ?? '') ? 'sisimai' : (source ?? name);
};

const rowsOf = (name: SetName): SourceRow[] =>
  read(name).map((row, index) => ({
    ...row,
    id: row.id ?? `${SETS[name].prefix}${index}`,
    set: name,
    source: sourceOf(name, row),
    weight: SETS[name].weight,
    also_ok: row.also_ok ?? [],
  }));

export const allRows = (): readonly SourceRow[] => SET_NAMES.flatMap(rowsOf);

const hashOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0);

/** Sources that nothing is trained with: a third of those of the newest set, by their names. */
export const isHeldBack = ({ set, source }: Pick<SourceRow, 'set' | 'source'>): boolean =>
  set === 'smtp-replies-3.json' && source !== 'sisimai' && hashOf(source) % 3 === 0;

/** Mulberry32: numbers from 0 to below 1. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const NOUNS =
  'account user mailbox recipient address mail host domain server message email sender delivery customer inbox the your for this it'.split(
    ' ',
  );
const CODES = [550, 550, 550, 550, 551, 552, 553, 554, 554];
const STATUS = [null, null, null, '5.1.1', '5.1.1', '5.1.0', '5.1.2', '5.2.1', '5.2.2', '5.7.1', '5.0.0'];

/** What servers say before a reason of their own, and codes that say nothing of a mailbox. */
const FRAMES = ['<someone@example.com>: Recipient address rejected:', 'Recipient not accepted:', 'Address rejected:'];
const STATUS_OF_FRAMES = [null, null, '5.1.0', '5.7.1', '5.0.0'];

/**
 * Replies whose words mean nothing: codes, a noun or two, made-up words, some as the reason of a refusal. A model that
 * reads them as dead mailboxes guesses from the place, since most refusals at RCPT are about a mailbox. The same seed
 * makes the same replies.
 */
export function nonsense(count: number, seed: number): SourceRow[] {
  const next = random(seed);
  const pick = <T>(of: ArrayLike<T>): T => of[Math.floor(next() * of.length)] as T;
  const syllable = (): string =>
    pick('bcdfghjklmnpqrstvwxz') + pick('aeiouy') + (next() < 0.5 ? pick('bdfgklmnprstvxz') : '');
  const word = (): string => Array.from({ length: 1 + Math.floor(next() * 3) }, syllable).join('');
  return Array.from({ length: count }, (_, index) => {
    const words = Array.from({ length: 1 + Math.floor(next() * 5) }, word);
    const nouns = Math.floor(next() * 3);
    for (let i = 0; i < nouns; i++) words.splice(Math.floor(next() * (words.length + 1)), 0, pick(NOUNS));
    const isFramed = next() < 0.2;
    if (isFramed) words.unshift(pick(FRAMES));
    else if (next() < 0.2) words.unshift('<someone@example.com>:');
    const enhanced = pick(isFramed ? STATUS_OF_FRAMES : STATUS);
    return {
      id: `nonsense${index}`,
      set: 'smtp-reply-forms.json',
      source: 'nonsense',
      weight: 1,
      code: pick(CODES),
      enhanced,
      text: words.join(' '),
      label: 'other',
      also_ok: ['blocked'],
    };
  });
}
