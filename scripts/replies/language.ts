import { takeOutEchoes } from '../../src/engine/smtp/classify/echoes.ts';
import { ECHOES, type LabelledReply } from '../../src/engine/smtp/classify/evaluation.ts';
import { compileLexicon, entriesOf, loadLexicon } from '../../src/engine/smtp/classify/lexicon.ts';
import { segmentsOf, wordsOf } from '../../src/engine/smtp/classify/tokens.ts';

const file = loadLexicon();
const lexicon = compileLexicon(entriesOf(file));
const keep = new Set(file.keep);

/** The language with the most words of the lexicon, English for none. */
export function languageOf({ text }: Pick<LabelledReply, 'text'>): string {
  const counts = new Map<string, number>();
  for (const { tokens } of segmentsOf(wordsOf(takeOutEchoes(text, ECHOES, () => false, keep).marked), lexicon)) {
    for (const { entry } of tokens) {
      const language = lexicon.entries[entry]?.language ?? '';
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
