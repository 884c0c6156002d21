/** Pages name what codes stand for by tables: no code is made into words by its letters. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SYNTAX_ERRORS } from '../src/engine/address/parse.ts';
import { dataFile } from '../src/engine/data-files.ts';
import { keysOf } from '../src/kernel/facts/keys-of.ts';
import { operatorName } from '../web/src/parts/operator-name.ts';
import { SYNTAX_ERROR_NAMES } from '../web/src/parts/verdict/syntax-errors.ts';
import { allSources } from './syntax.ts';

/** Where underscores are no part of codes of ours. */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  // Plans are named by the operator.
  'web/src/parts/plans.ts',
  // Time zones are named by IANA.
  'web/src/shell/time-zone-dialog.tsx',
]);

it('takes no underscore out of a code on a page', () => {
  const sources = allSources().filter(({ path }) => /^web\/src\/(pages|parts|shell)\//.test(path));
  expect(sources.length).toBeGreaterThan(100);
  const found = sources.filter(({ text }) => /\.(replace|replaceAll|split)\((['"]_['"]|\/\S*_\S*\/g?[,)])/.test(text));
  const kinds = found.map(({ path }) => path).filter((path) => !OTHER_NAMES.has(path));
  // The samples of the API reference call methods of clients: names in code, not words.
  expect(kinds).toEqual(['web/src/pages/reference/samples.ts']);
});

it('names every error in the syntax of an address', () => {
  expect(new Set(keysOf(SYNTAX_ERROR_NAMES))).toEqual(new Set<string>(keysOf(SYNTAX_ERRORS)));
});

it('names every provider of mail, and leaves domains as they are', () => {
  const rows: readonly { readonly provider: string }[] = JSON.parse(
    readFileSync(dataFile('mx-providers.json'), 'utf8'),
  );
  const providers = [...new Set(rows.map(({ provider }) => provider))];
  expect(providers.length).toBeGreaterThan(50);
  // Some are known by their domain, one without its ending.
  const isDomain = (name: string) => name.includes('.') || name === 'freenet';
  expect(providers.filter((name) => !isDomain(name) && operatorName(name) === name)).toEqual([]);
  expect(operatorName('mail.example.com')).toBe('mail.example.com');
});
