import { dataFile, readData } from '../../data-files.ts';
import { RULES, type RuleId } from './rules.ts';

/** Status codes come from RFC 3463, RFC 5248 or the IANA registry: `x.1.1`, or a whole subject, `x.7`. */
interface EnhancedRow {
  readonly code: string;
  readonly rule: RuleId;
  readonly source: string;
}

/** A form or code of certain servers. All given conditions must match. */
export interface OperatorRow {
  readonly id: string;
  /** Names of the provider table; without it, the phrase is telling enough wherever it is seen. */
  readonly operators?: readonly string[];
  /** The reply codes. */
  readonly codes?: readonly number[];
  /** The enhanced codes; `""`: none was given. `5.7.606-5.7.649`: a range. */
  readonly enhanced?: readonly string[];
  /** Words in a row, in lower case without punctuation; `#` stands for digits, `*` at the end for any letters. */
  readonly phrase?: string;
  /** The phrase is the whole text. */
  readonly whole?: true;
  /** Another word of the text, with which the row does not apply. */
  readonly unless?: readonly string[];
  readonly rule: RuleId;
  readonly sample: string;
  readonly source: string;
}

/** data/smtp-codes.json */
export interface CodesFile {
  readonly version: number;
  readonly enhanced: readonly EnhancedRow[];
  readonly operators: readonly OperatorRow[];
}

interface Coded {
  readonly code: number;
  readonly enhanced: string | null;
  readonly operator: string | null;
  /** The words are those of the text (lexicon.ts). */
  readonly words: readonly string[];
}

export const loadCodes = (path: string = dataFile('smtp-codes.json')): CodesFile => JSON.parse(readData(path));

type Test = (reply: Coded, at: number) => boolean;

/** `operators`: the names of the provider table; if given, a row for another throws. */
export function compileCodes(file: CodesFile, operators?: ReadonlySet<string>) {
  const enhanced = new Map<string, RuleId>();
  for (const { code, rule } of file.enhanced) {
    if (!Object.hasOwn(RULES, rule)) throw new Error(`code ${code}: unknown rule ${rule}`);
    if (enhanced.has(code)) throw new Error(`code ${code} is there twice`);
    enhanced.set(code, rule);
  }
  const seen = new Set<string>();
  /** Rows by the letters that their phrase begins with, and those without a phrase. */
  const byWord = new Map<string, number[]>();
  const others: number[] = [];
  const tests = file.operators.map((row, index) => {
    if (!Object.hasOwn(RULES, row.rule)) throw new Error(`row ${row.id}: unknown rule ${row.rule}`);
    if (seen.has(row.id)) throw new Error(`row ${row.id} is there twice`);
    seen.add(row.id);
    for (const name of row.operators ?? []) {
      if (operators !== undefined && !operators.has(name)) throw new Error(`row ${row.id}: unknown operator ${name}`);
    }
    if (row.phrase === undefined) others.push(index);
    else {
      const letters = leadingLetters(row.phrase.split(' ')[0] ?? '');
      byWord.set(letters, [...(byWord.get(letters) ?? []), index]);
    }
    return testOf(row);
  });
  return {
    /** Returns the rule of an enhanced code, or null. */
    enhanced(code: string | null) {
      if (code === null) return null;
      const [, subject, detail] = code.split('.');
      return enhanced.get(`x.${subject}.${detail}`) ?? enhanced.get(`x.${subject}`) ?? null;
    },
    /** Returns the first operator's row that fits. */
    operator(reply: Coded) {
      let best = others.find((index) => tests[index]?.(reply, 0) === true) ?? tests.length;
      reply.words.forEach((word, at) => {
        const there = byWord.get(leadingLetters(word));
        if (there === undefined) return;
        for (const index of there) if (index < best && tests[index]?.(reply, at) === true) best = index;
      });
      return file.operators[best] ?? null;
    },
  };
}

export type Codes = ReturnType<typeof compileCodes>;

/** Returns the word up to its first digit. */
function leadingLetters(word: string): string {
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if ((code >= 48 && code <= 57) || code === 35) return word.slice(0, i);
  }
  return word;
}

function testOf(row: OperatorRow): Test {
  const tests: Test[] = [];
  const { operators, codes, enhanced, phrase, unless = [] } = row;
  if (operators !== undefined) tests.push(({ operator }) => operator !== null && operators.includes(operator));
  if (codes !== undefined) tests.push(({ code }) => codes.includes(code));
  if (enhanced !== undefined) {
    const fits = enhanced.map(enhancedTest);
    tests.push((reply) => fits.some((one) => one(reply.enhanced ?? '')));
  }
  if (phrase !== undefined) {
    const parts = phrase.split(' ').map(wordTest);
    const whole = row.whole === true;
    tests.push(({ words }, at) => {
      if (whole && (at !== 0 || words.length !== parts.length)) return false;
      return parts.every((fits, i) => at + i < words.length && fits(words[at + i] ?? ''));
    });
  }
  if (unless.length > 0) tests.push(({ words }) => !unless.some((word) => words.includes(word)));
  return (reply, at) => tests.every((test) => test(reply, at));
}

function wordTest(part: string): (word: string) => boolean {
  if (part.endsWith('*')) {
    const start = part.slice(0, -1);
    return (word) => word.startsWith(start);
  }
  const hash = part.indexOf('#');
  if (hash === -1) return (word) => word === part;
  const start = part.slice(0, hash);
  return (word) => word.startsWith(start) && /^\d*$/.test(word.slice(hash));
}

const RANGE = /^(\d\.\d+\.)(\d+)-\d\.\d+\.(\d+)$/;

function enhancedTest(given: string): (code: string) => boolean {
  const range = RANGE.exec(given);
  if (range === null) return (code) => code === given;
  const [, prefix = '', first, last] = range;
  return (code) => {
    const detail = Number(code.slice(prefix.length));
    return code.startsWith(prefix) && detail >= Number(first) && detail <= Number(last);
  };
}
