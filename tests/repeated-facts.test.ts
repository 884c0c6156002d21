import { describe, expect, it } from 'vitest';
import { repeatedFacts } from './repeated-facts.ts';
import { allSources } from './syntax.ts';

/** Numbers that happen to be those of a limit, or whose second place is not ours to join: file → what, and why. */
const ALLOWED: Readonly<Record<string, readonly (readonly [found: string, why: string])[]>> = {
  'src/cli/user.ts': [['STDIN_MAX = 1024', 'bytes read of standard input; more than a password may have']],
  'src/config/values.ts': [['BEARER_TOKEN_MIN = 16', 'of an option, used in its help and its parser']],
  'src/engine/address/parse.ts': [['1024', 'before the name is put into ASCII']],
  'src/engine/smtp/limits.ts': [
    ['262144', 'bytes of replies of one session'],
    ['15000', 'ms of a step of a dialogue'],
  ],
  'src/main/services.ts': [['MAX_RUNNING = 5000', 'checks of one process']],
  'src/service/traffic.ts': [['COUNTERS_MAX = 100000', 'counters in memory']],
  'src/service/sign-in/library.ts': [['ERROR_MAX = 300', 'characters of a log line']],
  'src/service/sign-in/passwords.ts': [['QUEUE_MAX = 100', 'passwords waiting for a core']],
  'src/store/charge/apply-batch.ts': [['MOST = 1000', 'allowlists in memory']],
  'sdk/src/client.ts': [['PER_PAGE = 100', 'published on its own; what the API takes stands in its generated schema']],
  'sdk/src/guard.ts': [
    ['the words of LEVELS', 'published on its own, as above'],
    ['SHORTEST_CHECK = 1000', 'likewise'],
    ['LONGEST_CHECK = 30000', 'likewise'],
    ['OFFERED_MOST = 10000', 'addresses in memory'],
    ['LONGEST_FORWARDED = 100', 'of a header, with port, zone and blanks'],
  ],
  'sdk/src/lists.ts': [['ROWS_PER_PAGE = 1000', 'published on its own, as above']],
  'web/src/pages/account.tsx': [['maxLength: 6', 'digits of a number of days']],
  'web/src/pages/keys/table.tsx': [['MAX_SHOWN = 3', 'addresses of a row before "and more"']],
  'web/src/pages/operator.tsx': [['maxLength: 15', 'digits of a number, and what sets them apart']],
  'web/src/pages/operator-account.tsx': [['maxLength: 15', 'likewise']],
  'web/src/parts/chart/bars-plot.tsx': [['DAY_HOURS = 24', 'of a day']],
  'web/src/pages/log/hours.tsx': [
    ['HOURS = 24', 'bars of a chart'],
    ['"24 hours" in a sentence', 'what they show'],
  ],
  'web/src/pages/log/search.ts': [
    ['"24 hours" in a sentence', 'a range of the log'],
    ['"7 days" in a sentence', 'likewise'],
    ['"30 days" in a sentence', 'likewise'],
  ],
  'web/src/pages/usage/range.ts': [
    ['"24 hours" in a sentence', 'a range of the charts'],
    ['"7 days" in a sentence', 'likewise'],
    ['"30 days" in a sentence', 'likewise'],
  ],
  'web/src/pages/design.tsx': [
    ['maxLength: 64', 'of a search box that is only shown'],
    ['"30 days" in a sentence', 'sample text'],
    ['"12 days" in a sentence', 'likewise'],
    ['"24 hours" in a sentence', 'likewise'],
  ],
  'web/src/pages/keys/notices.tsx': [['MOST_NAMED = 2', 'names in one line']],
  'web/src/pages/reference/navigation.tsx': [['maxLength: 100', 'characters of a search in the browser']],
  'web/src/pages/reference/sample-panel.tsx': [['maxLength: 100', 'characters of a key that is pasted']],
  'web/src/pages/reference/schema.ts': [['MAX_DEPTH = 5', 'objects within objects that a page shows']],
  'web/src/pages/filters/import/lines.ts': [
    ['MAX_LINES = 100000', 'what a browser shows at once'],
    ['1024', 'bytes of a body around its lines'],
  ],
  'web/src/pages/filters/import/import-dialog.tsx': [['PER_PAGE = 50', 'rows of a table in the browser']],
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
    ['const NAME_MAX = 200;', 'NAME_MAX = 200'],
    ['const limits = { PER_PAGE: 25 };', 'PER_PAGE = 25'],
    ['const body = 16 * 1024;', '16384'],
    ['const body = 16_384;', '16384'],
    ['if (days > 36_500) f();', '36500'],
    ["const s = 'name must have 1 to 200 characters.';", '"200 characters" in a sentence'],
    ['const s = `at most 1,024 characters, $' + '{x}`;', '"1,024 characters" in a sentence'],
    ["const s = 'larger than 16 KiB';", '"16 KiB" in a sentence'],
    ["const s = 'The link is valid for 7 days.';", '"7 days" in a sentence'],
    ["const ROLES = ['owner', 'admin', 'member'];", 'the words of ROLES'],
    ["type Plan = 'starter' | 'premium' | 'enterprise';", 'the words of PLAN_NAMES'],
    ["const kinds = ['email', 'domain', 'ip_address'] as const;", 'the words of FILTER_TYPES'],
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
    ['const kib = bytes / 1024;'],
    ["const roles = ['owner', 'admin'];"],
    ["const s = 'between 0 and 1 credits, 192.0.2.200';"],
    ['// 1,024 characters\nconst a = 1;'],
  ])('%s', (text) => expect(repeatedFacts({ path: 'src/http/a.ts', text })).toEqual([]));

  it('nor the protocols of the engine', () =>
    expect(repeatedFacts({ path: 'src/engine/smtp/a.ts', text: 'const MAX_LINES = 100;' })).toEqual([]));
});
