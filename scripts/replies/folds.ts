/** Trains the model, and measures it on sources that it has not seen. */

import { loadCodes } from '../../src/engine/smtp/classify/codes.ts';
import { plainWords, takeOutEchoes } from '../../src/engine/smtp/classify/echoes.ts';
import { ECHOES, type Evaluated, evaluate, type LabelledReply } from '../../src/engine/smtp/classify/evaluation.ts';
import {
  compileLexicon,
  lexiconEntries,
  loadLexicon,
  segmentsOf,
  wordsOf,
} from '../../src/engine/smtp/classify/lexicon.ts';
import {
  CLASSES,
  type Class,
  createModel,
  deadShare,
  featuresForTraining,
  type Model,
  parseModel,
  type Seen,
  THRESHOLDS,
  type Thresholds,
} from '../../src/engine/smtp/classify/model.ts';
import { type Classifier, createClassifier } from '../../src/engine/smtp/classify.ts';
import { allRows, isHeldBack, KNOWN_TO_LEXICON, nonsense, type SourceRow } from './rows.ts';
import { languageOf } from './tables.ts';
import { calibrate, type Example, train } from './train.ts';

/**
 * Families of wording: texts that share most of their words, directly or through others of the family. Deterministic;
 * quadratic in the number of texts at worst.
 */
function familiesOf(texts: readonly string[], similarity = 0.5): readonly number[] {
  const parents = texts.map((_, index) => index);
  const root = (index: number): number => {
    let at = index;
    while (parents[at] !== at) {
      parents[at] = parents[parents[at]!]!;
      at = parents[at]!;
    }
    return at;
  };
  const wordSets = texts.map((text) => new Set(text.match(/\p{L}{2,}/gu) ?? []));
  const holders = new Map<string, number[]>();
  wordSets.forEach((words, index) => {
    const shared = new Map<number, number>();
    for (const word of words) {
      const there = holders.get(word) ?? [];
      for (const other of there) shared.set(other, (shared.get(other) ?? 0) + 1);
      holders.set(word, [...there, index]);
    }
    for (const [other, common] of shared) {
      const all = words.size + wordSets[other]!.size - common;
      if (common / all >= similarity) parents[root(index)] = root(other);
    }
  });
  return texts.map((_, index) => root(index));
}

/** Fold of each family, from 0: the largest families first, each to the smallest fold. */
function foldsOf(families: readonly number[], folds: number): ReadonlyMap<number, number> {
  const sizes = new Map<number, number>();
  for (const family of families) sizes.set(family, (sizes.get(family) ?? 0) + 1);
  const filled = Array.from({ length: folds }, () => 0);
  const sorted = [...sizes].sort(([a, many], [b, few]) => few - many || a - b);
  return new Map(
    sorted.map(([family, size]) => {
      const fold = filled.indexOf(Math.min(...filled));
      filled[fold]! += size;
      return [family, fold];
    }),
  );
}

const WORDING_FOLDS = 10;
const SOURCE_FOLDS = 8;
const NONSENSE = { training: 1200, measure: 6000 } as const;
/** Thresholds that the page compares. */
const TRADE = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const SEEDS = { training: 1, measure: 77 } as const;

const CLASS_OF: Readonly<Record<LabelledReply['label'], Class>> = {
  mailbox_not_found: 'not_found',
  mailbox_disabled: 'disabled',
  mailbox_full: 'full',
  relay_denied: 'domain',
  domain_error: 'domain',
  blocked: 'blocked',
  rate_limited: 'rate',
  greylisted: 'greylisted',
  temporary_failure: 'temporary',
  syntax_rejected: 'syntax',
  other: 'other',
  tls_required: 'other',
  accepted: 'other',
};

/** A labelled reply as read by a classifier that never saw its source, nor, in the lexicon, its wording. */
export interface Held extends Evaluated {
  readonly row: SourceRow;
  readonly language: string;
}

export interface Trained {
  /** The file. */
  readonly model: string;
  /** Leave one source out. */
  readonly held: readonly Held[];
  /** The same replies read by the rules alone. */
  readonly byRules: readonly Held[];
  /** Replies of sources that took no part in training. */
  readonly heldBack: readonly Held[];
  readonly heldBackByRules: readonly Held[];
  /** Made-up words, read by the model of the file; other ones than it was trained with. */
  readonly nonsense: readonly Evaluated[];
  /** The replies and the made-up words with other thresholds. */
  readonly trade: readonly {
    readonly dead: number;
    readonly held: readonly Held[];
    readonly nonsense: readonly Evaluated[];
  }[];
  /** Share of the sources trained with → what the rest reads. */
  readonly curve: readonly { readonly share: number; readonly replies: number; readonly held: readonly Held[] }[];
}

/** What replies are read with by the rules alone. */
export const rulesData = { lexicon: loadLexicon(), codes: loadCodes(), model: null };
const stageOf = ({ stage }: LabelledReply) => (stage === undefined || stage === 'unknown' ? 'rcpt' : stage);
const seenBy = ({ see }: Pick<Classifier, 'see'>, reply: SourceRow): Seen =>
  see({ stage: stageOf(reply), reply, operator: null, echoes: ECHOES });

/** What the lexicon and the operators' rows are left without, so that they do not know a row's family of wordings. */
function wordings(rows: readonly SourceRow[]): {
  leftOut: readonly ReadonlySet<string>[];
  foldAt: (row: SourceRow) => number;
} {
  const known = rows.filter(({ set }) => KNOWN_TO_LEXICON.has(set));
  const keep = new Set(rulesData.lexicon.keep);
  const marked = known.map(({ text }) => takeOutEchoes(text, ECHOES, () => false, keep).marked);
  const families = familiesOf(marked.map((text) => plainWords(text).replace(/\b_\w+/g, ' ')));
  const foldOf = foldsOf(families, WORDING_FOLDS);
  const lexicon = compileLexicon(lexiconEntries(rulesData.lexicon));
  const full = createClassifier(rulesData);
  const support = new Map<string, Set<number>>();
  const folds = new Map<SourceRow, number>();
  known.forEach((row, index) => {
    const fold = foldOf.get(families[index]!)!;
    folds.set(row, fold);
    const phrases = segmentsOf(wordsOf(marked[index]!), lexicon).flatMap(({ tokens }) =>
      tokens.flatMap(({ entry }) => (entry < 0 ? [] : [lexicon.entries[entry]!.phrase])),
    );
    const [evaluated] = evaluate(full, [row]);
    for (const name of [...phrases, evaluated!.reading.rule])
      support.set(name, (support.get(name) ?? new Set()).add(fold));
  });
  const only = (fold: number) =>
    [...support].filter(([, there]) => there.size === 1 && there.has(fold)).map(([name]) => name);
  return {
    leftOut: Array.from({ length: WORDING_FOLDS }, (_, fold) => new Set(only(fold))),
    foldAt: (row) => folds.get(row) ?? -1,
  };
}

/** Fold of each source: the largest first, each to the smallest fold. */
function foldsOfSources(rows: readonly SourceRow[]): ReadonlyMap<string, number> {
  const sources = [...new Set(rows.map(({ source }) => source))].sort();
  const folds = foldsOf(
    rows.map(({ source }) => sources.indexOf(source)),
    SOURCE_FOLDS,
  );
  return new Map(sources.map((source, index) => [source, folds.get(index)!] as const));
}

const plainOf = (seen: Seen): string => `${seen.code} ${seen.words.join(' ')}`;

export function trainAndMeasure(hash: string, say: (line: string) => void): Trained {
  const rows = allRows().filter(({ code }) => code >= 400);
  const { leftOut, foldAt } = wordings(rows);
  const byWording = [...leftOut, new Set<string>()].map((without) => createClassifier(rulesData, { leftOut: without }));
  const classifierFor = (row: SourceRow): Classifier => byWording.at(foldAt(row))!;
  const seen = new Map<SourceRow, Seen>(rows.map((row) => [row, seenBy(classifierFor(row), row)] as const));
  const filler = nonsense(NONSENSE.training, SEEDS.training);
  for (const row of filler) seen.set(row, seenBy(byWording.at(-1)!, row));
  const exampleOf = (row: SourceRow): Example => ({
    ...featuresForTraining(seen.get(row)!),
    label: CLASSES.indexOf(CLASS_OF[row.label]),
    weight: row.weight,
  });
  const examples = new Map<SourceRow, Example>([...rows, ...filler].map((row) => [row, exampleOf(row)] as const));
  const learn = (of: readonly SourceRow[], head: Readonly<Record<string, string>>): string =>
    train(
      [...of, ...filler].map((row) => examples.get(row)!),
      head,
    );

  const own = rows.filter((row) => !isHeldBack(row));
  const measured = own.filter(({ set }) => set !== 'smtp-reply-forms.json' && set !== 'smtp-replies-written.json');
  const foldOf = foldsOfSources(measured);
  const plain = (of: readonly SourceRow[]): ReadonlySet<string> => new Set(of.map((row) => plainOf(seen.get(row)!)));
  const without = (test: readonly SourceRow[]): SourceRow[] => {
    const [sources, texts] = [new Set(test.map(({ source }) => source)), plain(test)];
    return own.filter((row) => !sources.has(row.source) && !texts.has(plainOf(seen.get(row)!)));
  };
  const folds = Array.from({ length: SOURCE_FOLDS }, (_, fold) => {
    const test = measured.filter(({ source }) => foldOf.get(source) === fold);
    const text = learn(without(test), { calibration: '1 0' });
    say(
      `fold ${fold + 1} of ${SOURCE_FOLDS}: ${test.length} replies of ${new Set(test.map(({ source }) => source)).size} sources`,
    );
    return { test, text, model: createModel(parseModel(text)) };
  });
  const asked = folds.flatMap(({ test, model }) =>
    test
      .filter((row) => row.code >= 500 && stageOf(row) === 'rcpt')
      .map((row) => [deadShare(model.predict(seen.get(row)!).classes), isDeadLabel(row)] as const),
  );
  const calibration = calibrate(
    asked.map(([share]) => share),
    asked.map(([, dead]) => dead),
  ).join(' ');
  const withCalibration = (text: string): Model =>
    createModel(parseModel(text.replace('# calibration 1 0', `# calibration ${calibration}`)));

  const readWith = (test: readonly SourceRow[], model: Model | null, thresholds = THRESHOLDS): Held[] => {
    const cached = new Map<number, Classifier>();
    return test.flatMap((row) => {
      const fold = foldAt(row);
      const classifier =
        cached.get(fold) ??
        createClassifier({ ...rulesData, model }, { leftOut: fold < 0 ? new Set() : leftOut[fold]!, thresholds });
      cached.set(fold, classifier);
      return evaluate(classifier, [row]).map((one) => ({ ...one, row, language: row.language ?? languageOf(row) }));
    });
  };
  const held = folds.flatMap(({ test, text }) => readWith(test, withCalibration(text)));
  const curve = [0.25, 0.5, 0.75].map((share) => {
    const { test } = folds[0]!;
    const rest = without(test);
    const sources = [...new Set(rest.map(({ source }) => source))].sort();
    const some = new Set(sources.filter((_, index) => ((index * 7) % sources.length) / sources.length < share));
    const part = rest.filter(({ source }) => some.has(source));
    say(`learning curve: ${share * 100} % of the sources`);
    return { share, replies: part.length, held: readWith(test, withCalibration(learn(part, { calibration: '1 0' }))) };
  });
  const whole = { share: 1, replies: without(folds[0]!.test).length, held: held.slice(0, folds[0]!.test.length) };
  const model = learn(own, { calibration, sources: hash });
  const final = createModel(parseModel(model));
  const made = nonsense(NONSENSE.measure, SEEDS.measure);
  const readNonsense = (thresholds: Thresholds): readonly Evaluated[] =>
    evaluate(createClassifier({ ...rulesData, model: final }, { thresholds }), made);
  return {
    model,
    held,
    byRules: folds.flatMap(({ test }) => readWith(test, null)),
    heldBack: readWith(rows.filter(isHeldBack), final),
    heldBackByRules: readWith(rows.filter(isHeldBack), null),
    nonsense: readNonsense(THRESHOLDS),
    trade: TRADE.map((dead) => {
      const thresholds = { ...THRESHOLDS, dead, wordless: Math.max(dead, THRESHOLDS.wordless) };
      return {
        dead,
        held: folds.flatMap(({ test, text }) => readWith(test, withCalibration(text), thresholds)),
        nonsense: readNonsense(thresholds),
      };
    }),
    curve: [...curve, whole],
  };
}

const isDeadLabel = ({ label }: SourceRow): boolean =>
  ['not_found', 'disabled', 'full', 'domain'].includes(CLASS_OF[label]);
