import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../data.ts';
import { createClassifier } from '../classify.ts';
import { ECHOES, isBad, type LabelledReply } from './evaluation.ts';

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
  isBad(classify({ stage: stageOf(reply), reply, operator: null, echoes: { ...ECHOES, address } }));
/** Only rows that are read rightly as they are: the rest is counted by `npm run replies`. */
const subjects = aboutUs.filter((reply) => !bad(reply));

const LEXICON_WORDS = [
  'unknown',
  'disabled',
  'full',
  'no-such-user',
  'mailbox.full',
  'recipient',
  'inconnu',
  'unbekannt',
];
const permanent = subjects.filter(({ code }) => code >= 500);

const MUTATIONS: Readonly<Record<string, (reply: LabelledReply) => readonly LabelledReply[]>> = {
  'the code swapped': (reply) => [550, 551, 553, 554].map((code) => ({ ...reply, code })),
  'the enhanced code dropped': (reply) => [{ ...reply, enhanced: null }],
  'code swapped and enhanced code dropped': (reply) =>
    [550, 551, 553, 554].map((code) => ({ ...reply, code, enhanced: null })),
  'upper case': (reply) => [{ ...reply, text: reply.text.toUpperCase() }],
  'lower case': (reply) => [{ ...reply, text: reply.text.toLowerCase() }],
  'doubled spaces': (reply) => [{ ...reply, text: reply.text.replaceAll(' ', '  ') }],
  tabs: (reply) => [{ ...reply, text: reply.text.replaceAll(' ', '\t') }],
  'white space around': (reply) => [{ ...reply, text: `  ${reply.text}  ` }],
  'a full stop at the end': (reply) => [{ ...reply, text: `${reply.text}.` }],
  'decomposed letters': (reply) => [{ ...reply, text: reply.text.normalize('NFD') }],
};

describe('a reply about the client stays one', () => {
  it('there are enough of them', () => {
    expect(permanent.length).toBeGreaterThan(800);
    expect(subjects.length / aboutUs.length).toBeGreaterThan(0.99);
  });

  it.each(Object.entries(MUTATIONS))('%s', (_, mutate) => {
    const turned = permanent.flatMap((reply) =>
      mutate(reply)
        .filter((one) => bad(one))
        .map(({ code, enhanced, text }) => `${code} ${enhanced ?? ''} ${text}`),
    );
    expect(turned).toEqual([]);
  });

  it('with an address whose words are in the lexicon echoed', () => {
    const turned = permanent
      .filter((_, index) => index % 3 === 0)
      .flatMap((reply) =>
        LEXICON_WORDS.flatMap((local) => {
          const address = `${local}@example.org`;
          const around = [`<${address}>: ${reply.text}`, `${reply.text} (${address})`, `${reply.text} <${local}>`];
          return around.filter((text) => bad({ ...reply, text }, address)).map((text) => `${reply.code} ${text}`);
        }),
      );
    expect(turned).toEqual([]);
  }, 120_000);
});
