/** What the documentation names is there: whatever a program can check without running it. */
import { expect, it } from 'vitest';
import {
  brokenLinks,
  commandsThatDoNotParse,
  faultIn,
  otherDefaults,
  otherStatuses,
  PAGES,
  unknownFlags,
  unknownNames,
  unknownPaths,
  unknownRoutes,
  unknownScripts,
  unknownVariables,
  unusedExceptions,
} from './docs-names.ts';

it.each([
  ['commands and their flags parse', commandsThatDoNotParse],
  ['flags exist', unknownFlags],
  ['variables exist', unknownVariables],
  ['fields, codes, events, metrics and functions exist', unknownNames],
  ['paths in the repository exist', unknownPaths],
  ['links lead to files and headings that exist', brokenLinks],
  ['npm scripts exist', unknownScripts],
  ['requests and paths of the service have a route', unknownRoutes],
  ['defaults in tables are those of the options', otherDefaults],
  ['errors have the status that stands with them', otherStatuses],
  ['names of others that are allowed are used', unusedExceptions],
])('%s', (_, faults) => {
  expect(faults()).toEqual([]);
});

it('all pages are read', () => {
  expect(PAGES).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/cli.md', 'clients/README.md']));
});

it.each([
  ['mailvet verify a@b.com --level smtp', null],
  ['docker compose exec mailvet mailvet user create --email a@b.com --operator', null],
  ['mailvet account grant acc_1 -50 --note x | cat', null],
  ['bin/mailvet.mjs verfy a@b.com', 'mailvet has no command verfy'],
  ['mailvet lists submit people.csv --levle smtp', 'submit has no --levle'],
  ['cut -f2 x | mailvet account grants', 'account has no command grants'],
])('a command is read as a shell does: %s', (text, fault) => {
  expect(faultIn(text)).toBe(fault);
});
