import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../data-files.ts';
import type { LabelledReply } from './evaluation.ts';

/** A row of data/sources/smtp-replies-3.json. */
interface CollectedReply extends LabelledReply {
  readonly id: string;
  /** Where it was found: a public page, a repository, or a file of a public index. */
  readonly source: string;
  /**
   * How it was found: as a server sent it, as a server's source code has it, as a rule or a test of somebody's program
   * looks for it. Only the first two are sure to have been sent; the code of a rule is the usual one of its kind.
   */
  readonly form: 'seen' | 'template' | 'rule' | 'fixture';
  /** BCP 47. */
  readonly language: string;
  readonly family?: string;
  readonly note?: string;
}

const FILE = 'smtp-replies-3.json';
const FORMS: Readonly<Record<CollectedReply['form'], true>> = { seen: true, template: true, rule: true, fixture: true };
const DEAD = ['mailbox_not_found', 'mailbox_disabled', 'domain_error', 'relay_denied'];
const LEAST: Readonly<Record<string, number>> = { de: 10, es: 20, fr: 20, it: 10, pt: 20, ru: 10, tr: 5, zh: 10 };

const text = (name: string): string => readFileSync(dataFile(`sources/${name}`), 'utf8');
const rowsOf = (name: string): readonly LabelledReply[] => {
  const content = JSON.parse(text(name)) as readonly LabelledReply[] | { readonly rows: readonly LabelledReply[] };
  return 'rows' in content ? content.rows : content;
};
const others = readdirSync(dataFile('sources'))
  .filter((name) => name.startsWith('smtp-repl') && name.endsWith('.json') && name !== FILE)
  .flatMap(rowsOf);
const rows = rowsOf(FILE) as readonly CollectedReply[];

/** Case, accents, digits, addresses, names of hosts and punctuation do not make another reply. */
const folded = (reply: string): string => wordsOf(reply) || reply.toLowerCase();
const wordsOf = (reply: string): string =>
  reply
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/https?:\/\/\S+|\S+@\S+|(?:[a-z0-9_-]+\.)+[a-z]{2,}\b|\d+/g, ' ')
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '')
    .join(' ');

const repeated = (values: readonly string[]): string[] => values.filter((value, at) => values.indexOf(value) !== at);

describe('collected replies', () => {
  it('are one object per line', () => {
    const lines = text(FILE).trimEnd().split('\n');
    expect([lines[0], lines.at(-1)]).toEqual(['[', ']']);
    expect(lines.slice(1, -1).map((line) => JSON.parse(line.replace(/,$/, '')))).toEqual(rows);
  });

  it('have a stage, codes that agree, a label of the other sources, an origin and a language', () => {
    const labels = new Set(others.flatMap(({ label, also_ok }) => [label, ...also_ok]));
    for (const row of rows) {
      expect(row, row.id).toMatchObject({ id: expect.stringMatching(/^u\d{4}$/), text: expect.stringMatching(/\S/) });
      expect(['connect', 'ehlo', 'mail', 'rcpt'], row.id).toContain(row.stage);
      expect(row.code >= 200 && row.code < 600, row.id).toBe(true);
      if (row.enhanced !== null) expect(row.enhanced, row.id).toMatch(/^[245]\.\d{1,3}\.\d{1,3}$/);
      for (const label of [row.label, ...row.also_ok]) expect(labels.has(label), `${row.id}: ${label}`).toBe(true);
      expect(row.also_ok, row.id).not.toContain(row.label);
      expect(repeated(row.also_ok), row.id).toEqual([]);
      expect(row.source.length, row.id).toBeGreaterThan(10);
      expect(FORMS[row.form], row.id).toBe(true);
      expect(Intl.getCanonicalLocales(row.language), row.id).toEqual([row.language]);
    }
    expect(repeated(rows.map(({ id }) => id))).toEqual([]);
  });

  it('never call a mailbox missing or disabled before its server was asked', () => {
    const early = rows.filter(
      ({ stage, label, also_ok }) =>
        stage !== 'rcpt' && [label, ...also_ok].some((each) => DEAD.slice(0, 2).includes(each)),
    );
    expect(early.map(({ id }) => id)).toEqual([]);
  });

  it('name nobody: addresses are of example domains', () => {
    const strangers = rows.filter(({ text: reply }) =>
      [...reply.matchAll(/[\w.+-]@([\w-]+(?:\.[\w-]+)+)/g)].some(
        ([, domain]) => !/(?:^|\.)example\.(?:com|org|net)$/.test(domain!),
      ),
    );
    expect(strangers.map(({ id }) => id)).toEqual([]);
  });

  it('are in no other source, and in this one once', () => {
    const known = new Set(others.map((other) => folded(other.text)));
    expect(rows.filter((row) => known.has(folded(row.text))).map(({ id }) => id)).toEqual([]);
    expect(repeated(rows.map((row) => folded(row.text)))).toEqual([]);
  });

  it('are many, and not all English', () => {
    expect(rows.length).toBeGreaterThanOrEqual(600);
    for (const [language, least] of Object.entries(LEAST)) {
      expect(rows.filter((row) => row.language === language).length, language).toBeGreaterThanOrEqual(least);
    }
  });
});

it('no reply of any source is labelled as dead if it is a 4xx', () => {
  const dead = [...others, ...rows].filter(
    ({ code, label, also_ok }) => code < 500 && [label, ...also_ok].some((each) => DEAD.includes(each)),
  );
  expect(dead.map(({ code, text: reply }) => `${code} ${reply}`)).toEqual([]);
});
