import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../data-files.ts';
import { createClassifier } from '../classify.ts';
import { ReplyParser } from '../reply.ts';
import { ECHOES, isReadAsBad, type LabelledReply } from './evaluation.ts';
import { lexiconEntries, loadLexicon } from './lexicon.ts';

const { classify } = createClassifier();
const json = <T>(name: string): T => JSON.parse(readFileSync(dataFile(`sources/${name}`), 'utf8')) as T;
const known: readonly LabelledReply[] = [
  ...json<LabelledReply[]>('smtp-replies.json'),
  ...json<{ rows: LabelledReply[] }>('smtp-reply-forms.json').rows,
  ...json<{ rows: LabelledReply[] }>('smtp-replies-written.json').rows,
];
const BAD = ['mailbox_not_found', 'mailbox_full', 'mailbox_disabled', 'relay_denied', 'domain_error'];
/** Replies about the client, the server or time, that no fair judge takes for a dead mailbox. */
const aboutUs = known.filter(
  ({ label, also_ok }) =>
    ['blocked', 'rate_limited', 'greylisted', 'temporary_failure'].includes(label) &&
    !also_ok.some((one) => BAD.includes(one)),
);

const stageOf = ({ stage }: LabelledReply) => (stage === undefined || stage === 'unknown' ? 'rcpt' : stage);
const bad = (reply: LabelledReply, address = ECHOES.address): boolean =>
  isReadAsBad(classify({ stage: stageOf(reply), reply, operator: null, echoes: { ...ECHOES, address } }));
/** Only rows that are read rightly as they are: the rest is counted by `npm run replies`. */
const subjects = aboutUs.filter((reply) => !bad(reply));

const permanent = subjects.filter(({ code }) => code >= 500);

const CODES = [550, 551, 553, 554];

/** As a server sends these lines, read by the parser of the dialogue. */
function sent(reply: LabelledReply, texts: readonly string[]): LabelledReply {
  const wire = texts.map((text, at) => {
    const enhanced = reply.enhanced?.[0] === String(reply.code)[0] ? `${reply.enhanced} ` : '';
    return `${reply.code}${at === texts.length - 1 ? ' ' : '-'}${enhanced}${text}\r\n`;
  });
  const [parsed] = new ReplyParser().push(Buffer.from(wire.join('')));
  if (parsed === undefined) throw new Error(`no reply: ${wire.join('')}`);
  return { ...reply, code: parsed.code, enhanced: parsed.enhanced, text: parsed.text, texts: parsed.texts };
}

const wrapped = (text: string, width: number): string[] =>
  Array.from({ length: Math.min(99, Math.ceil(text.length / width)) }, (_, at) =>
    text.slice(at * width, (at + 1) * width),
  );

const MUTATIONS: Readonly<Record<string, (reply: LabelledReply) => readonly LabelledReply[]>> = {
  'the code swapped': (reply) => CODES.map((code) => ({ ...reply, code })),
  'the enhanced code dropped': (reply) => [{ ...reply, enhanced: null }],
  'code swapped and enhanced code dropped': (reply) => CODES.map((code) => ({ ...reply, code, enhanced: null })),
  'upper case': (reply) => [{ ...reply, text: reply.text.toUpperCase() }],
  'lower case': (reply) => [{ ...reply, text: reply.text.toLowerCase() }],
  'doubled spaces': (reply) => [{ ...reply, text: reply.text.replaceAll(' ', '  ') }],
  tabs: (reply) => [{ ...reply, text: reply.text.replaceAll(' ', '\t') }],
  'white space around': (reply) => [{ ...reply, text: `  ${reply.text}  ` }],
  'a full stop at the end': (reply) => [{ ...reply, text: `${reply.text}.` }],
  'no full stops': (reply) => [{ ...reply, text: reply.text.replace(/[.;!]+(?=\s|$)/g, '') }],
  'no commas and colons': (reply) => [{ ...reply, text: reply.text.replace(/[,:]+(?=\s|$)/g, '') }],
  'each word on a line of its own': (reply) => [sent(reply, reply.text.split(' ').slice(0, 99))],
  'two lines, divided anywhere': (reply) =>
    Array.from({ length: Math.min(reply.text.length, 400) }, (_, at) =>
      sent(reply, [reply.text.slice(0, at), reply.text.slice(at)]),
    ),
  'lines of a fixed width': (reply) => [24, 40, 72].map((width) => sent(reply, wrapped(reply.text, width))),
  'decomposed letters': (reply) => [{ ...reply, text: reply.text.normalize('NFD') }],
};

it('a reply about the mailbox stays one when its line is wrapped between two words', () => {
  const gone = known.filter(
    (reply) => reply.code >= 500 && BAD.includes(reply.label) && bad(sent(reply, [reply.text])),
  );
  const wraps = gone.flatMap((reply) => {
    const words = reply.text.split(' ').slice(0, 40);
    return words
      .slice(1)
      .map((_, at) => sent(reply, [words.slice(0, at + 1).join(' '), words.slice(at + 1).join(' ')]));
  });
  expect(wraps.length).toBeGreaterThan(5000);
  const lost = wraps.filter((reply) => !bad(reply));
  // Endings such as the Korean ones are words as well.
  expect(lost.length / wraps.length).toBeLessThan(0.003);
  const plain = { ...gone[0]!, code: 550, enhanced: null };
  expect(bad(sent(plain, ['Recipient verify failed', 'No such user']))).toBe(true);
});

describe('a reply about the client stays one', () => {
  it('there are enough of them', () => {
    expect(permanent.length).toBeGreaterThan(800);
    expect(subjects.length / aboutUs.length).toBeGreaterThan(0.99);
  });

  it.each(Object.entries(MUTATIONS))(
    '%s',
    (_, mutate) => {
      const turned = permanent.flatMap((reply) =>
        mutate(reply)
          .filter((one) => bad(one))
          .map(({ code, enhanced, text }) => `${code} ${enhanced ?? ''} ${text}`),
      );
      expect(turned).toEqual([]);
    },
    120_000,
  );

  it('with an address whose words are in the lexicon echoed', () => {
    const words = [
      ...new Set(lexiconEntries(loadLexicon()).flatMap(({ phrase }) => phrase.replace(/[*+@]/g, '').split(/\s+/))),
    ].filter((word) => word !== '');
    expect(words.length).toBeGreaterThan(3000);
    const turned = permanent.flatMap((reply, index) =>
      // Other words for each reply, so that every word comes up.
      Array.from({ length: 6 }, (_, n) => {
        const [one = '', two = ''] = [
          words[(index * 6 + n) % words.length],
          words[(index * 7 + n * 11) % words.length],
        ];
        const local = [one, `${one}.${two}`, `"${one} ${two}"`][n % 3] ?? one;
        const address = `${local}@${n % 2 === 0 ? 'example.org' : 'unknown.user.example'}`;
        const around = [
          `<${address}>: ${reply.text}`,
          `${reply.text} (${address.toUpperCase()})`,
          `${reply.text} <${local}>`,
        ];
        return around.filter((text) => bad({ ...reply, text }, address)).map((text) => `${reply.code} ${text}`);
      }).flat(),
    );
    expect(turned).toEqual([]);
  }, 120_000);
});
