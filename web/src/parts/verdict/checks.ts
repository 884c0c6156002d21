import type { Verification } from '../../api/schema.ts';
import { spoken } from '../words.ts';
import { visible } from './visible.ts';

type Checks = Verification['checks'];
export type Result = Checks['domain']['result'];

export interface CheckRow {
  readonly name: keyof Checks;
  readonly title: string;
  readonly result: Result;
  /** What the result says here. */
  readonly found: string;
  /** What else is known, as `name: value` pairs. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

const TITLES: Readonly<Record<keyof Checks, string>> = {
  syntax: 'Syntax',
  filter: 'Your filters',
  disposable: 'Disposable lists',
  domain: 'Domain',
  mx: 'Mail servers',
  smtp: 'Mailbox',
  catch_all: 'Other mailboxes',
};

const SKIPPED = 'Not asked: it was settled before, or this level does not ask.';
const FOUND: Readonly<Record<keyof Checks, Readonly<Partial<Record<Result, string>>>>> = {
  syntax: { pass: 'Well-formed.', fail: 'Malformed.' },
  filter: { pass: 'None matches.', fail: 'One matches.' },
  disposable: {
    pass: 'Not on the lists.',
    fail: 'Disposable.',
    unknown: 'Only less certain sources name it; that does not touch the verdict.',
  },
  domain: { pass: 'Exists.', fail: 'Does not exist.', unknown: 'Could not be looked up.' },
  mx: { pass: 'There are some.', fail: 'None that can be used.', unknown: 'Could not be looked up.' },
  smtp: { pass: 'The server accepts it.', fail: 'The server refuses it.', unknown: 'It could not be told.' },
  catch_all: {
    pass: 'The server refuses a random name.',
    fail: 'The server accepts any name.',
    unknown: 'It could not be told.',
  },
};

/** The seven checks in the order in which they are made. */
export function checkRows(checks: Checks): CheckRow[] {
  return (Object.keys(TITLES) as (keyof Checks)[]).map((name) => ({
    name,
    title: TITLES[name],
    result: checks[name].result,
    found: FOUND[name][checks[name].result] ?? SKIPPED,
    facts: factsOf(name, checks).flatMap(([label, value]) =>
      value === undefined || value === null || value === '' ? [] : [[label, visible(String(value))] as const],
    ),
  }));
}

type Fact = readonly [name: string, value: string | number | null | undefined];

function factsOf(name: keyof Checks, { syntax, filter, disposable, mx, smtp }: Checks): readonly Fact[] {
  switch (name) {
    case 'syntax':
      return [
        ['error', syntax.error && spoken(syntax.error)],
        ['at character', syntax.index === undefined ? null : syntax.index + 1],
      ];
    case 'filter':
      return [
        ['filter', filter.id],
        [filter.filter_type ? spoken(filter.filter_type) : 'value', filter.value],
      ];
    case 'disposable':
      return [
        ['entry', disposable.matched],
        ['list of', disposable.list_version],
      ];
    case 'mx':
      return [
        ['provider', mx.provider],
        ['DNS answered', mx.failure],
      ];
    case 'smtp':
      return [
        ['host', smtp.host],
        ['at', smtp.stage],
        ['code', [smtp.code, smtp.enhanced_code].filter(Boolean).join(' ')],
        ['encrypted', smtp.tls === undefined ? null : smtp.tls ? 'yes' : 'no'],
        ['decided by', smtp.rule],
      ];
    default:
      return [];
  }
}
