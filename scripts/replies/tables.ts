/** Groups of labelled replies, and tables of how they are read. */
import { takeOutEchoes } from '../../src/engine/smtp/classify/echoes.ts';
import {
  agrees,
  ECHOES,
  type Evaluated,
  isFalsePositive,
  isReadAsBad,
  type LabelledReply,
} from '../../src/engine/smtp/classify/evaluation.ts';
import {
  compileLexicon,
  lexiconEntries,
  loadLexicon,
  segmentsOf,
  wordsOf,
} from '../../src/engine/smtp/classify/lexicon.ts';

const file = loadLexicon();
const lexicon = compileLexicon(lexiconEntries(file));
const keep = new Set(file.keep);

/** The language with the most words of the lexicon, English for none. */
export function languageOf({ text }: Pick<LabelledReply, 'text'>): string {
  const counts = new Map<string, number>();
  for (const { tokens } of segmentsOf(wordsOf(takeOutEchoes(text, ECHOES, () => false, keep).marked), lexicon)) {
    for (const { language } of tokens) {
      if (language !== '') counts.set(language, (counts.get(language) ?? 0) + 1);
    }
  }
  const [most] = [...counts].sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1));
  return most === undefined || (counts.get('en') ?? 0) * 2 >= most[1] ? 'en' : most[0];
}

/** Servers by words and hosts that give them away. */
const FAMILIES: readonly (readonly [name: string, sign: RegExp])[] = [
  ['Microsoft', /outlook|exchange|resolver\.|eop-|hotmail|5\.7\.(?:60|51)|sc-00|access denied/i],
  ['Google', /gsmtp|google/i],
  ['Yahoo, AOL', /yahoo|\baol\b|con:b|hvu:b|\[ts[st]/i],
  [
    'Postfix',
    /(?:recipient|sender) address rejected|client host rejected|relay access denied|virtual (?:mailbox|alias) table|postfix/i,
  ],
  ['Exim', /exim|verification failed|unrouteable|unroutable|callout|relay not permitted/i],
  ['qmail', /sorry[,.] |\(#\d\.\d\.\d\)|qmail|chkuser|rcpthosts/i],
  ['Sendmail', /\.\.\. |sendmail/i],
  ['gateways', /mimecast|proofpoint|barracuda|ironport|symantec|messagelabs|trend ?micro/i],
  ['NetEase, Tencent, Coremail', /\b163\b|netease|qq\.com|tencent|coremail|icore|eyou/i],
];

/** The family of servers that a reply seems to come from. */
export const familyOf = ({
  text,
  mx_hint,
  source,
  family,
}: LabelledReply & { mx_hint?: string | null; source?: string; family?: string }): string =>
  family ?? FAMILIES.find(([, sign]) => sign.test(`${text} ${mx_hint ?? ''} ${source ?? ''}`))?.[0] ?? 'others';

export const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;

const DEAD_LABELS = ['mailbox_not_found', 'mailbox_disabled', 'mailbox_full', 'relay_denied', 'domain_error'];

export const isGone = ({ reply }: Evaluated): boolean => reply.label === 'mailbox_not_found' && reply.code >= 500;
/** About the client, the server or time, and no fair judge takes it for a dead mailbox. */
const isAboutUs = ({ reply }: Evaluated): boolean =>
  ['blocked', 'rate_limited', 'greylisted', 'temporary_failure'].includes(reply.label) &&
  !reply.also_ok.some((label) => DEAD_LABELS.includes(label));
export const isFalselyDead = (one: Evaluated): boolean => isAboutUs(one) && isFalsePositive(one);
const recognized = (of: readonly Evaluated[]): number => of.filter(({ reading }) => isReadAsBad(reading)).length;

const HEAD = (what: string): string =>
  `| ${what} | replies | falsely dead | of | found | of | | right or acceptable | |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|`;

function line(name: string, of: readonly Evaluated[]): string {
  const [aboutUs, gone] = [of.filter(isAboutUs), of.filter(isGone)];
  const [found, fair] = [recognized(gone), of.filter(agrees).length];
  const share = gone.length === 0 ? '' : percent(found, gone.length);
  return `| ${name} | ${of.length} | ${of.filter(isFalselyDead).length} | ${aboutUs.length} | ${found} | ${gone.length} | ${share} | ${fair} | ${percent(fair, of.length)} |`;
}

export const lines = (what: string, rows: readonly (readonly [string, readonly Evaluated[]])[]): string =>
  [HEAD(what), ...rows.map(([name, of]) => line(name, of))].join('\n');

/** One line for each value of `key`, the most replies first. */
export function grouped<T extends Evaluated>(what: string, of: readonly T[], key: (one: T) => string): string {
  const groups = new Map<string, T[]>();
  for (const one of of) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  const sorted = [...groups].sort(([a, many], [b, few]) => few.length - many.length || (a < b ? -1 : 1));
  return lines(what, [...sorted, ['**all**', of]]);
}

export const misses = (of: readonly (Evaluated & { readonly row?: { readonly id: string } })[]): string[] =>
  of
    .filter((one) => !agrees(one) || isFalselyDead(one))
    .map((one) => {
      const { reply, label, reading, row } = one;
      const kind = isFalselyDead(one) ? 'FALSELY DEAD' : isGone(one) && !isReadAsBad(reading) ? 'not found' : 'differs';
      return `${kind} ${row?.id ?? ''}: ${reply.label} read as ${label} by ${reading.rule} (${reading.probability ?? '-'}): ${reply.code} ${reply.enhanced ?? ''} ${reply.text.replaceAll('\n', ' ')}`;
    });
