import type { Verification } from '../../api/schema.ts';
import { humanize } from '../format.ts';
import { keysOf } from '../keys-of.ts';
import { escapeInvisible } from './escape-invisible.ts';

type Checks = Verification['checks'];
export type Result = Checks['domain']['result'];

interface CheckRow {
  readonly name: keyof Checks;
  readonly title: string;
  readonly result: Result;
  readonly summary: string;
  /** Details as `name: value` pairs. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

type Fact = readonly [name: string, value: string | number | null | undefined];

interface Check {
  readonly title: string;
  readonly results: Readonly<Record<Result, string>>;
  readonly facts?: (checks: Checks) => readonly Fact[];
}

const skipped = 'Skipped: an earlier check decided, or the level does not include this check.';
const unknown = 'Could not be determined.';

/** In the order in which the checks run. */
const CHECKS: Readonly<Record<keyof Checks, Check>> = {
  syntax: {
    title: 'Syntax',
    results: { pass: 'Valid.', fail: 'Invalid.', unknown, skipped },
    facts: ({ syntax: { error, index } }) => [
      ['error', error && humanize(error)],
      ['position', index === undefined ? null : index + 1],
    ],
  },
  filter: {
    title: 'Your filters',
    results: { pass: 'No match.', fail: 'A filter matches.', unknown, skipped },
    facts: ({ filter: { id, filter_type, value } }) => [
      ['filter', id],
      [filter_type ? humanize(filter_type) : 'value', value],
    ],
  },
  disposable: {
    title: 'Disposable lists',
    results: {
      pass: 'Not listed.',
      fail: 'Listed as disposable.',
      unknown: 'Listed only by less reliable sources. This does not affect the verdict.',
      skipped,
    },
    facts: ({ disposable: { matched, list_version } }) => [
      ['entry', matched],
      ['list version', list_version],
    ],
  },
  domain: {
    title: 'Domain',
    results: { pass: 'Exists.', fail: 'Does not exist.', unknown: 'DNS lookup failed.', skipped },
  },
  mx: {
    title: 'Mail servers',
    results: { pass: 'Found.', fail: 'None usable.', unknown: 'DNS lookup failed.', skipped },
    facts: ({ mx: { provider, failure } }) => [
      ['provider', provider],
      ['DNS response', failure],
    ],
  },
  smtp: {
    title: 'Mailbox',
    results: { pass: 'The server accepts the address.', fail: 'The server rejects the address.', unknown, skipped },
    facts: ({ smtp: { host, stage, code, enhanced_code, tls, rule } }) => [
      ['host', host],
      ['stage', stage],
      ['code', [code, enhanced_code].filter(Boolean).join(' ')],
      ['TLS', tls === undefined ? null : tls ? 'yes' : 'no'],
      ['rule', rule],
    ],
  },
  catch_all: {
    title: 'Catch-all',
    results: {
      pass: 'The server rejects a random address.',
      fail: 'The server accepts any address.',
      unknown,
      skipped,
    },
  },
};

export function checkRows(checks: Checks): CheckRow[] {
  return keysOf(CHECKS).map((name) => {
    const { title, results, facts } = CHECKS[name];
    const { result } = checks[name];
    return { name, title, result, summary: results[result], facts: (facts?.(checks) ?? []).flatMap(present) };
  });
}

const present = ([name, value]: Fact): (readonly [string, string])[] =>
  value === undefined || value === null || value === '' ? [] : [[name, escapeInvisible(String(value))]];
