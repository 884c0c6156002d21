import { describe, expect, it } from 'vitest';
import { repeatedFacts } from './repeated-facts.ts';
import { allSources } from './syntax.ts';

/** What is no second place, or one that is not ours to join: file → what, and why. */
const ALLOWED: Readonly<Record<string, readonly (readonly [found: string, why: string])[]>> = {
  'sdk/src/guard.ts': [['the words of LEVELS', 'published on its own, as above']],
  'web/src/pages/account.tsx': [['maxLength: 6', 'digits of a number of days']],
  'web/src/pages/operator.tsx': [['maxLength: 15', 'digits of a number, and what sets them apart']],
  'web/src/pages/operator-account.tsx': [['maxLength: 15', 'likewise']],
  'web/src/pages/log/hours.tsx': [['"24 hours" in a sentence', 'what they show']],
  'web/src/pages/log/search.ts': [
    ['"24 hours" in a sentence', 'the name of a view that every user has'],
    ['"7 days" in a sentence', 'likewise'],
  ],
  'web/src/parts/time.ts': [
    ['"24 hours" in a sentence', 'a range of charts and the log'],
    ['"7 days" in a sentence', 'likewise'],
    ['"30 days" in a sentence', 'likewise'],
  ],
  'web/src/pages/design.tsx': [
    ['maxLength: 64', 'of a search box that is only shown'],
    ['"30 days" in a sentence', 'sample text'],
    ['"12 days" in a sentence', 'likewise'],
    ['"24 hours" in a sentence', 'likewise'],
  ],
  'web/src/pages/reference/navigation.tsx': [['maxLength: 100', 'characters of a search in the browser']],
  'web/src/pages/reference/sample-panel.tsx': [['maxLength: 100', 'characters of a key that is pasted']],
};

const isJudged = (path: string): boolean =>
  /^(src|sdk\/src|web\/src)\//.test(path) && !path.endsWith('.test.ts') && !path.startsWith('src/kernel/');

describe('limits, prices and closed sets', () => {
  const found = new Map(
    allSources()
      .filter(({ path }) => isJudged(path))
      .map((source) => [source.path, repeatedFacts(source)]),
  );

  it('stand once, in src/kernel', () => {
    const unexplained = [...found].flatMap(([path, places]) =>
      places.filter((place) => !(ALLOWED[path] ?? []).some(([what]) => place.endsWith(`: ${what}`))),
    );
    expect(unexplained).toEqual([]);
  });

  it('and nothing is allowed that is no longer there', () => {
    const stale = Object.entries(ALLOWED).flatMap(([path, rows]) =>
      rows.filter(([what]) => !(found.get(path) ?? []).some((place) => place.endsWith(`: ${what}`))),
    );
    expect(stale).toEqual([]);
  });
});

describe('a second place is found', () => {
  const found = (text: string, path = 'src/http/a.ts') => repeatedFacts({ path, text });

  it.each([
    ['const name = Type.String({ minLength: 1, maxLength: 200 });', 'maxLength: 200'],
    ['const a = Type.Integer({ minimum: -1_000_000_000, maximum: X });', 'minimum: -1000000000'],
    ['const list = Type.Array(Line, { maxItems: 77 });', 'maxItems: 77'],
    ["const s = 'name must have 1 to 200 characters.';", '"200 characters" in a sentence'],
    ['const s = `at most 1,024 characters, $' + '{x}`;', '"1,024 characters" in a sentence'],
    ["const s = 'larger than 16 KiB';", '"16 KiB" in a sentence'],
    ["const s = 'The link is valid for 7 days.';", '"7 days" in a sentence'],
    ["const ROLES = ['owner', 'admin', 'member', 'viewer'];", 'the words of ROLES'],
    ["type Kind = 'mx' | 'smtp' | 'unknown';", 'the words of PRICED'],
    ["const kinds = ['email', 'domain', 'ip_address', 'mx_host'] as const;", 'the words of FILTER_TYPES'],
    ["type State = 'refused_everywhere' | 'port_closed';", 'the words of MAIL_SERVER_PROBLEMS'],
    ["const buckets = ['day', 'hour'];", 'the words of CHART_BUCKETS'],
    ["type Spoken = 'de' | 'en' | 'fr';", 'the words of LANGUAGES'],
  ])('%s', (text, what) => expect(found(`\n${text}`)).toEqual([`src/http/a.ts:2: ${what}`]));

  it('in pages as well', () => {
    expect(found('const a = <input maxLength={200} />;', 'web/src/a.tsx')).toEqual(['web/src/a.tsx:1: maxLength: 200']);
    expect(found('const a = <p>smtp costs 10 credits</p>;', 'web/src/a.tsx')).toEqual([
      'web/src/a.tsx:1: "10 credits" in a sentence',
    ]);
  });
});

describe('what is no second place is not found', () => {
  it.each([
    ['const answer = { status: 200 };'],
    ['const id = Type.Integer({ minimum: 1 });'],
    ['const name = Type.String({ maxLength: NAME_LENGTH.max });'],
    ['setTimeout(f, 10_000);'],
    ['const NAME_MAX = 200;'],
    ['const body = 16 * 1024;'],
    ['const kib = bytes / 1024;'],
    ["const roles = ['owner', 'admin'];"],
    ["const s = 'between 0 and 1 credits, 192.0.2.200';"],
    ['// 1,024 characters\nconst a = 1;'],
  ])('%s', (text) => expect(repeatedFacts({ path: 'src/http/a.ts', text })).toEqual([]));
});
