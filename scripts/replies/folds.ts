/** Cross-validation of the classifier over families of wording. */
import { readFileSync } from 'node:fs';
import { dataFile } from '../../src/engine/data.ts';
import { plainWords, takeOutEchoes } from '../../src/engine/smtp/classify/echoes.ts';
import { ECHOES, type Evaluated, evaluate, type LabelledReply } from '../../src/engine/smtp/classify/evaluation.ts';
import { compileLexicon, entriesOf } from '../../src/engine/smtp/classify/lexicon.ts';
import { segmentsOf, wordsOf } from '../../src/engine/smtp/classify/tokens.ts';
import { createClassifier, loadClassifierData } from '../../src/engine/smtp/classify.ts';
import { familiesOf, foldsOf } from './families.ts';

export const FOLDS = 10;

const read = <T>(name: string): T => JSON.parse(readFileSync(dataFile(`sources/${name}`), 'utf8')) as T;
export const labelled = (): LabelledReply[] => read('smtp-replies.json');
export const forms = (): LabelledReply[] => read<{ rows: LabelledReply[] }>('smtp-reply-forms.json').rows;

interface WrittenReply extends LabelledReply {
  readonly set: 'a' | 'b' | 'c' | 'd';
  readonly language: string;
}
export const written = (): WrittenReply[] => read<{ rows: WrittenReply[] }>('smtp-replies-written.json').rows;

/** A labelled reply as the classifier reads it that never saw its family. */
export interface Held extends Evaluated {
  readonly fold: number;
  readonly language: string;
}

/**
 * Every labelled reply, read without the phrases and operators' rows that only its fold's families support. The written
 * forms take part in the families, so that a form cannot stand in for the reply that it resembles.
 */
export function crossValidate(): readonly Held[] {
  const data = loadClassifierData();
  const rows = labelled();
  const all = [...rows, ...forms()];
  const [keep, none] = [new Set(data.lexicon.keep), () => false];
  const marked = all.map(({ text }) => takeOutEchoes(text, ECHOES, none, keep).marked);
  const families = familiesOf(marked.map((text) => plainWords(text).replace(/\b_\w+/g, ' ')));
  const foldOf = foldsOf(families, FOLDS);
  const foldAt = (index: number): number => foldOf.get(families[index]!)!;

  const lexicon = compileLexicon(entriesOf(data.lexicon));
  const full = createClassifier(data);
  const support = new Map<string, Set<number>>();
  const languages: string[] = [];
  all.forEach((reply, index) => {
    const used = segmentsOf(wordsOf(marked[index]!), lexicon).flatMap(({ tokens }) =>
      tokens.flatMap(({ entry }) => (entry < 0 ? [] : [lexicon.entries[entry]!])),
    );
    const names = used.map(({ phrase }) => phrase);
    const [evaluated] = evaluate(full, [reply]);
    for (const name of [...names, evaluated!.reading.rule]) {
      const folds = support.get(name);
      if (folds === undefined) support.set(name, new Set([foldAt(index)]));
      else folds.add(foldAt(index));
    }
    languages.push(languageOf(used.map(({ language }) => language)));
  });
  return Array.from({ length: FOLDS }, (_, fold) => {
    const leftOut = new Set(
      [...support].filter(([, folds]) => folds.size === 1 && folds.has(fold)).map(([name]) => name),
    );
    const classifier = createClassifier(data, { leftOut });
    return rows.flatMap((reply, index): Held[] =>
      foldAt(index) === fold
        ? evaluate(classifier, [reply]).map((one) => ({ ...one, fold, language: languages[index]! }))
        : [],
    );
  }).flat();
}

/** The language with the most words, English for none. */
function languageOf(languages: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const language of languages) if (language !== '') counts.set(language, (counts.get(language) ?? 0) + 1);
  const [most] = [...counts].sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1));
  return most === undefined || (counts.get('en') ?? 0) * 2 >= most[1] ? 'en' : most[0];
}
