/** No text of the dashboard is outside its translations, and every language has all of them. */
import { describe, expect, it } from 'vitest';
import { allMessages, TRANSLATED } from '../scripts/gen/catalogs.ts';
import { readCatalog } from '../web/lingui.ts';
import { allSources } from './syntax.ts';
import { untranslatedIn } from './untranslated.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const sources = allSources().filter(({ path }) => /^web\/src\/.*(?<!\.test)\.tsx?$/.test(path));

it('no text of the dashboard is outside its translations', () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.flatMap(untranslatedIn)).toEqual([]);
});

it.each([
  ['an element', 'const a = <p>Saved</p>;', 'Saved'],
  ['a part of an element', 'const a = <p>Saved <b>{name}</b></p>;', 'Saved'],
  ['an attribute', 'const a = <p title="Save" />;', 'Save'],
  ['a word in an attribute in braces', "const a = <p aria-label={on ? 'Pause mails' : t`x`} />;", 'Pause mails'],
  ['a table', "const a = { owner: 'Owner' };", 'Owner'],
  ['a template', `const a = \`Delete \${name}?\`;`, 'Delete 0?'],
  ['a string within a message', "const a = <Trans>Sent{on && ' to all members'}</Trans>;", 'to all members'],
  ['an argument', "notify('All is saved.');", 'All is saved.'],
])('finds %s', (_, text, found) => {
  expect(untranslatedIn({ path: 'web/src/x.tsx', text })).toEqual([`web/src/x.tsx:1: ${found}`]);
});

it.each([
  'const a = <p className="a b" id="Top">{t`Saved`}</p>;',
  'const a = <Trans>Saved <b>now</b></Trans>;',
  'const a = <Trans>Up to <Plural value={n} one="# address" other="# addresses" /></Trans>;',
  "const a = plural(n, { one: '# address', other: '# addresses' });",
  "if (name === 'NotAllowedError') throw new Error('No such state.');",
  "import { A } from 'B c';",
  "type A = 'All rows';",
  'const a = <code>GET the list</code>;',
])('takes %s for no text', (text) => {
  expect(untranslatedIn({ path: 'web/src/x.tsx', text })).toEqual([]);
});

/** Placeholders, plurals and elements: what a translation may not lose. */
const marksOf = (message: string): readonly string[] =>
  [...new Set(message.match(/\{\w+(?=[,}])|<\/?\d+\/?>|\b(?:mx|smtp)\b|[A-Z]{3,}_[A-Z_]+/g) ?? [])].sort();
const LETTERS = /\p{L}{2,}/u;

describe.each(TRANSLATED)('the catalog in %s', async (language) => {
  const [messages, catalog] = [await allMessages(), await readCatalog(ROOT, language)];
  const rows = [...messages.values()].map(({ id, message = id }) => ({
    message,
    translation: catalog[id]?.translation ?? '',
  }));

  it('has a translation of every message', () => {
    expect(rows.length).toBeGreaterThan(1500);
    expect(rows.filter(({ translation }) => translation === '').map(({ message }) => message)).toEqual([]);
  });

  it('has no message that the sources do not have', () => {
    expect(Object.keys(catalog).filter((id) => !messages.has(id))).toEqual([]);
  });

  it('keeps placeholders, elements, and spaces at the edges', () => {
    const changed = rows.filter(
      ({ message, translation }) =>
        marksOf(message).join() !== marksOf(translation).join() ||
        /^\s*/.exec(message)?.[0] !== /^\s*/.exec(translation)?.[0] ||
        /\s*$/.exec(message)?.[0] !== /\s*$/.exec(translation)?.[0],
    );
    expect(changed).toEqual([]);
  });

  it('differs from English, but for words that are the same', () => {
    const same = rows.filter(({ message, translation }) => message === translation && LETTERS.test(message));
    expect(same.map(({ message }) => message).filter((message) => !SAME[language].has(message))).toEqual([]);
  });
});

/** Words that a language shares with English. */
const SAME: Readonly<Record<(typeof TRANSLATED)[number], ReadonlySet<string>>> = {
  de: new Set([
    'Name',
    'Chat',
    'Status',
    'Domains',
    'Version',
    'Reverse DNS (PTR)',
    'Downloads',
    'Text',
    'Domain',
    'Hook',
    'Job',
    'Credits',
    'Mail',
    'Dashboard',
    'Route',
    'Rate',
    'Version {0}',
    '<0/>Dashboard',
    'optional',
    'Passkeys',
    'Resolver',
    'Problem',
    'Jobs',
    ' ms',
    '{least} ms',
    'Median',
    'Webhook',
    'webhook-id: <0>{0}</0>',
    '<0/>, {0} ms',
    'Webhooks',
    'Format',
    '{title} · Mailvet',
    'Admin',
    'Server',
    'Host: {0}',
    'TLS: {0}',
    'Syntax',
    'Catch-all',
    'Host',
    'System',
    'live',
    'test',
    'Live',
    '{0} ms',
    'Budget',
  ]),
  fr: new Set([
    'Actions',
    'Source',
    'Version',
    'Sources',
    'Type',
    'Action',
    'Hook',
    'Secret',
    'Invitation',
    'Note',
    'Verdicts',
    'Route',
    'Assistant (MCP)',
    'Invitations',
    'Active',
    'Contradictions',
    'Verdict',
    'Messages',
    'Message',
    'Version {0}',
    'Guide',
    'Sessions',
    'secret',
    'Service',
    ' ms',
    '{least} ms',
    'Webhook',
    '<0/>, {0} ms',
    'Description',
    'Webhooks',
    '{0} points',
    'Format',
    'Page',
    'Notifications',
    '{title} · Mailvet',
    '{0, plural, one {# minute} other {# minutes}}',
    'Admin',
    'Catch-all',
    'test',
    'Pages',
    '<0/>Guide',
    'Mode',
    'admin',
    '{0} ms',
    'Budget',
  ]),
};
