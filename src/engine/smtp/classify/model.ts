import { keysOf } from '../../../kernel/facts/keys-of.ts';
import { memoizeBounded } from '../../../kernel/memoize.ts';
import { dataFile, readData } from '../../data-files.ts';
import type { Clause, Subject } from './clauses.ts';
import type { Segment, Statement } from './lexicon.ts';
import { isBadFinding, isBadRule, isOfCommand, type RuleId, type RuleReading } from './rules.ts';

/** What the model can say of a reply, and the rule for it. `domain`: relaying denied, or the domain is not served. */
const RULE_OF = {
  not_found: 'model.not-found',
  disabled: 'model.disabled',
  full: 'model.full',
  domain: 'model.domain',
  blocked: 'model.blocked',
  rate: 'model.rate',
  greylisted: 'model.temporary',
  temporary: 'model.temporary',
  syntax: 'model.syntax',
  other: 'model.other',
} as const satisfies Record<string, RuleId>;
export type Class = keyof typeof RULE_OF;
export const CLASSES = keysOf(RULE_OF);
/** Those that mean that the mailbox cannot be reached. */
const DEAD: ReadonlySet<Class> = new Set(CLASSES.filter((name) => isBadRule(RULE_OF[name])));
const isDead = (name: Class): boolean => DEAD.has(name);

/** What the model sees of a reply. */
export interface Seen {
  readonly code: number;
  readonly enhanced: string | null;
  /** The text's words, and what they mean, without echoes (lexicon.ts). */
  readonly words: readonly string[];
  readonly segments: readonly Segment[];
  readonly clauses: readonly Clause[];
  /** The rule that decides, and the others that clauses and codes lead to. */
  readonly rule: string;
  readonly others: readonly string[];
}

/** This many letters of a word are read. */
const WORD_MAX = 24;
/** An address is one, whosever it is. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  '@rcpt': '@mail',
  '@domain': '@host',
  '@us': '@host',
  '@ourip': '@ip',
};
const normal = (word: string): string => {
  if (word.startsWith('@')) return PLACEHOLDERS[word] ?? word;
  const short = word.length > WORD_MAX ? word.slice(0, WORD_MAX) : word;
  return /\d/.test(short) ? short.replace(/\d+/g, '#') : short;
};

/** Adds one, two and three in a row. */
function runsOf(kind: string, list: readonly string[], add: (feature: string) => void): void {
  for (let at = 0; at < list.length; at++) {
    const one = `${kind}=${list[at]}`;
    if (one !== `${kind}=^` && one !== `${kind}=$`) add(one);
    if (at + 1 >= list.length) continue;
    const two = `${one} ${list[at + 1]}`;
    add(two);
    if (at + 2 < list.length) add(`${two} ${list[at + 2]}`);
  }
}

/** Returns pieces of three to five letters of a word, its ends marked. */
function letterGroups(word: string): string[] {
  if (word.startsWith('@')) return [];
  const text = `<${word}>`;
  const pieces: string[] = [];
  for (let length = 3; length <= 5; length++) {
    for (let at = 0; at + length <= text.length; at++) pieces.push(`p=${text.slice(at, at + length)}`);
  }
  return pieces;
}

/** What is said, in order; `?`: unknown words, `|`: the end of a segment. */
function slotsOf(segments: readonly Segment[]): string[] {
  const slots: string[] = ['^'];
  for (const { tokens } of segments) {
    if (slots.length > 1) slots.push('|');
    for (const token of tokens) {
      if (token.slots.length === 0 && slots.at(-1) !== '?') slots.push('?');
      for (const slot of token.slots) if (slot !== 'filler') slots.push(slot);
    }
  }
  slots.push('$');
  return slots;
}

/**
 * Names what the model knows a reply by, some more than once: `k` and `e` the codes, `w` words, `p` pieces of words,
 * `s` what words mean, `c`, `r` and `a` what the rules make of it. `addPieces` is called once for each word, and
 * returns how many pieces it has. Returns how many features there are, with repetitions, which scales their weights.
 */
function featuresOf(seen: Seen, use: (feature: string) => void, addPieces: (word: string) => number): number {
  const { code, enhanced } = seen;
  let count = 0;
  const add = (feature: string): void => {
    count++;
    use(feature);
  };
  add(`k=${code}`);
  add(`k=${Math.floor(code / 100)}`);
  if (enhanced === null) add(`e=none/${code}`);
  else {
    const [, subject, detail] = enhanced.split('.');
    add(`e=${enhanced}`);
    add(`e=.${subject}.${detail}`);
    add(`e=.${subject}`);
    add(`e=${enhanced}/${code}`);
  }
  const words = seen.words.map(normal).filter((word) => word !== '#');
  for (const word of new Set(words)) count += addPieces(word);
  runsOf('w', ['^', ...words, '$'], add);
  runsOf('s', slotsOf(seen.segments), add);
  add(`r=${seen.rule}`);
  for (const rule of seen.others) add(`a=${rule}`);
  for (const { subject, predicate } of seen.clauses) add(`c=${subject}.${predicate}`);
  return count;
}

/** A reply as the model is trained with it. */
export function featuresForTraining(seen: Seen): { readonly features: readonly string[]; readonly count: number } {
  const features = new Set<string>();
  const add = (feature: string): unknown => features.add(feature);
  const count = featuresOf(seen, add, (word) => {
    const pieces = new Set(letterGroups(word));
    pieces.forEach(add);
    return pieces.size;
  });
  return { features: [...features], count };
}

export interface Prediction {
  /** There is one number for each class, in the order of `CLASSES`. */
  readonly classes: readonly number[];
  /** That the mailbox cannot be reached; calibrated on replies of sources that the model had not seen, 3 decimals. */
  readonly dead: number;
}

/** A feature and how far it moved the decision to "cannot be reached" (above 0) or away from it. */
export interface Weighed {
  readonly feature: string;
  readonly weight: number;
}

export interface Model {
  predict(seen: Seen): Prediction;
  /** The features that the model knows, the heaviest first. */
  explain(seen: Seen): readonly Weighed[];
  /** Hash of what it was trained from. */
  readonly sources: string;
}

/** What is in data/smtp-model.tsv: `# name value …` in the head, then a feature and its weights in each line. */
interface ModelFile {
  readonly head: Readonly<Record<string, string>>;
  readonly features: readonly string[];
  /** Weights are whole numbers, `CLASSES.length` for each feature. */
  readonly weights: Int16Array;
}

export function parseModel(text: string): ModelFile {
  const head: Record<string, string> = {};
  const features: string[] = [];
  const lines = text.split('\n');
  const weights = new Int16Array(lines.length * CLASSES.length);
  for (const line of lines) {
    if (line.startsWith('# ')) {
      const [name = '', ...rest] = line.slice(2).split(' ');
      head[name] = rest.join(' ');
    } else if (line !== '') {
      const [feature = '', values = ''] = line.split('\t');
      values.split(' ').forEach((value, at) => {
        weights[features.length * CLASSES.length + at] = Number(value);
      });
      features.push(feature);
    }
  }
  if (head.classes !== CLASSES.join(' ')) throw new Error('the model of replies is not for this version');
  return { head, features, weights };
}

export const loadModel = (path: string = dataFile('smtp-model.tsv')): Model => createModel(parseModel(readData(path)));

const MODEL_CACHED_WORDS = 10_000;

export function createModel({ head, features, weights }: ModelFile): Model {
  const size = CLASSES.length;
  const numbers = (name: string): number[] => (head[name] ?? '').split(' ').map(Number);
  const [scale = 1] = numbers('scale');
  const bias = numbers('bias');
  const [slope = 1, offset = 0] = numbers('calibration');
  const indexes = new Map(features.map((feature, index) => [feature, index] as const));
  /** When a feature was counted last, as a reply has each only once. */
  const counted = new Uint32Array(features.length);
  let turn = 0;
  const known = memoizeBounded(MODEL_CACHED_WORDS, (word) => {
    const all = [...new Set(letterGroups(word))];
    return { known: all.flatMap((piece) => indexes.get(piece) ?? []), count: all.length };
  });

  /** Calls `use` for each known feature once. Returns how many there are, known or not. */
  function each(seen: Seen, use: (index: number) => void): number {
    turn = (turn + 1) >>> 0;
    if (turn === 0) counted.fill(0);
    const once = (index: number | undefined): void => {
      if (index === undefined || counted[index] === turn) return;
      counted[index] = turn;
      use(index);
    };
    return featuresOf(
      seen,
      (feature) => once(indexes.get(feature)),
      (word) => {
        const { known: found, count } = known(word);
        for (const index of found) once(index);
        return count;
      },
    );
  }

  /** The classes' scores: whole numbers summed, so that their order does not matter. */
  function scoresOf(seen: Seen): { scores: number[]; count: number } {
    const sums = new Int32Array(size);
    const count = each(seen, (index) => {
      for (let at = 0; at < size; at++) sums[at] = (sums[at] ?? 0) + (weights[index * size + at] ?? 0);
    });
    const factor = scale / Math.sqrt(count);
    return { scores: Array.from(sums, (sum, at) => sum * factor + (bias[at] ?? 0)), count };
  }

  const sharesOf = (scores: readonly number[]): number[] => {
    const most = Math.max(...scores);
    const shares = scores.map((score) => Math.exp(score - most));
    const sum = shares.reduce((a, b) => a + b, 0);
    return shares.map((share) => share / sum);
  };

  return {
    sources: head.sources ?? '',
    predict(seen) {
      const classes = sharesOf(scoresOf(seen).scores);
      return { classes, dead: calibrated(deadShare(classes), slope, offset) };
    },
    explain(seen) {
      const { scores, count } = scoresOf(seen);
      const shares = sharesOf(scores);
      const dead = deadShare(shares);
      const found: Weighed[] = [];
      each(seen, (index) => {
        // The mean weight of the classes that are dead, less that of the others, as they are likely.
        let weight = 0;
        CLASSES.forEach((name, at) => {
          const share = (shares[at] ?? 0) / (isDead(name) ? dead : dead - 1);
          weight += (weights[index * size + at] ?? 0) * share;
        });
        found.push({ feature: features[index] ?? '', weight: (weight * scale) / Math.sqrt(count) });
      });
      return found.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
    },
  };
}

/** The share of the classes that mean that the mailbox cannot be reached. */
export const deadShare = (classes: readonly number[]): number =>
  CLASSES.reduce((sum, name, at) => sum + (isDead(name) ? (classes[at] ?? 0) : 0), 0);

/** Platt scaling of a share: the logistic function of `slope` times its log-odds plus `offset`; three decimals. */
export function calibrated(share: number, slope: number, offset: number): number {
  const within = Math.min(Math.max(share, 1e-6), 1 - 1e-6);
  const odds = Math.log(within / (1 - within)) * slope + offset;
  return Math.round(1000 / (1 + Math.exp(-odds))) / 1000;
}

/**
 * Probabilities that the mailbox cannot be reached: from `dead` on, the model says so of a reply that no rule reads, or
 * only a weak one; from `wordless` on, if no known word denies or refuses anything; from `sure` on, against a refusal
 * or a rule that names nobody, and of a reply that names an IP address. Below `doubt`, it denies what a rule says.
 * `other`: the share of a class from which it names that one. Chosen on replies of sources that the model had not seen,
 * so that none about the client or the server is taken for a dead mailbox (docs/classification.md).
 */
export type Thresholds = Readonly<Record<'dead' | 'wordless' | 'sure' | 'doubt' | 'other', number>>;
export const THRESHOLDS: Thresholds = { dead: 0.6, wordless: 0.8, sure: 0.9, doubt: 0.25, other: 0.4 };

/** Rules that do not say of whom: a limit, a refusal, trouble, a syntax. */
const RULES_OF_NOBODY: ReadonlySet<string> = new Set<RuleId>([
  'rate.limited',
  'us.message-refused',
  'remote.trouble',
  'remote.later',
  'protocol.syntax',
]);

/** How sure the rules are. `none`: none matched. `nobody`: they are sure, or it is a refusal, but not of whom. */
export type Certainty = 'bad' | 'none' | 'weak' | 'nobody' | 'sure';

export function certaintyOf({ rule, finding, matched, confidence, meaning }: RuleReading): Certainty {
  if (isBadFinding(finding)) return 'bad';
  if (!matched) return 'none';
  if (RULES_OF_NOBODY.has(rule)) return 'nobody';
  if (confidence === 'high') return 'sure';
  return meaning.startsWith('us_') ? 'nobody' : 'weak';
}

/** What a reply says, as far as it bears on whether the model may call its mailbox dead. */
export interface Said {
  readonly named: ReadonlySet<Subject>;
  readonly clauses: readonly Pick<Clause, 'subject' | 'predicate'>[];
  /** Some word denies, refuses or misses something. */
  readonly denies: boolean;
  /** The status is the enhanced code. */
  readonly status: string | null;
  readonly rules: readonly RuleId[];
}

const OTHER_SUBJECTS: readonly Subject[] = ['sender', 'you', 'group', 'count'];
const NOT_MAILBOXES: ReadonlySet<Subject> = new Set<Subject>([...OTHER_SUBJECTS, 'server', 'message', 'client']);
const STATES: ReadonlySet<Statement> = new Set<Statement>(['disabled', 'full']);

/**
 * Whether a reply is of something else: it names the sender, it says that something else than a mailbox is closed, or
 * its code is for the order or the form of commands.
 */
const isOfOthers = ({ named, clauses, status }: Said): boolean =>
  OTHER_SUBJECTS.some((one) => named.has(one)) ||
  isOfCommand(status) ||
  clauses.some(({ subject, predicate }) => NOT_MAILBOXES.has(subject) && STATES.has(predicate));

/** The probability from which on the model may call a mailbox dead that the rules do not; null: never. */
export function neededFor(certainty: Certainty, said: Said, thresholds: Thresholds = THRESHOLDS): number | null {
  if (certainty === 'bad' || certainty === 'sure' || isOfOthers(said)) return null;
  // "connect error 111 for someone@example.com"
  const isFault = said.rules.includes('remote.error');
  if (certainty === 'nobody' || isFault || said.named.has('client')) return thresholds.sure;
  // "subscription expired": a word says that something is closed, but not what.
  const isOfUnknown = said.clauses.some(({ subject, predicate }) => subject === 'none' && STATES.has(predicate));
  return said.denies && !isOfUnknown ? thresholds.dead : thresholds.wordless;
}

/** What the model decides about a reply that the rules read with this certainty; null: it leaves that alone. */
export function opinionOf(
  { classes, dead }: Prediction,
  certainty: Certainty,
  said: Said,
  thresholds: Thresholds = THRESHOLDS,
): RuleId | null {
  const shareOf = (name: Class): number => classes[CLASSES.indexOf(name)] ?? 0;
  const likeliest = (fits: (name: Class) => boolean): Class =>
    CLASSES.filter(fits).reduce((best, name) => (shareOf(name) > shareOf(best) ? name : best));
  const alive = likeliest((name) => !isDead(name));
  if (certainty === 'bad') return dead < thresholds.doubt ? RULE_OF[alive] : null;
  const needed = neededFor(certainty, said, thresholds);
  if (certainty === 'sure' || (needed === null && dead >= thresholds.dead)) return null;
  if (needed !== null && dead >= needed) return RULE_OF[likeliest(isDead)];
  const names = alive !== 'other' && certainty !== 'nobody' && shareOf(alive) >= thresholds.other;
  return names ? RULE_OF[alive] : null;
}
