/**
 * Changes that went wrong without a word as long as some code had a copy of a type's keys, of a closed set or of a
 * table's columns. Compiler or tests have to name every place.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Copy, copySources } from './copy.ts';

let copy: Copy;
const changed = new Map<string, string>();
beforeAll(() => {
  copy = copySources();
});
afterEach(() => {
  for (const [path, text] of changed) copy.write(path, text);
  changed.clear();
});
afterAll(() => copy.remove());

function edit(path: string, from: string, to: string): void {
  if (!changed.has(path)) changed.set(path, copy.read(path));
  copy.edit(path, from, to);
}

const passes = (...args: string[]): void => {
  const { ok, output } = copy.test(...args);
  expect(ok, output).toBe(true);
};

it('a field of the verdict that depends on the domain has each address its own value', () => {
  edit(
    'src/engine/report.ts',
    '  is_role: boolean | null;\n',
    '  is_role: boolean | null;\n  labels: number | null;\n',
  );
  const others = [
    'src/http/dashboard/log.ts',
    'src/http/v1/verifications.ts',
    'src/http/v1/verify.ts',
    'src/service/stored-reply.ts',
    'tests/http/schema.test.ts',
  ];
  expect(copy.compile()).toEqual(['src/engine/report.ts', ...others]);
  edit(
    'src/engine/report.ts',
    '    is_role: e.flags?.role ?? null,\n',
    "    is_role: e.flags?.role ?? null,\n    labels: address?.domain.split('.').length ?? null,\n",
  );
  expect(copy.compile()).toEqual(others);
  edit('src/service/stored-reply.ts', '  warnings: [],\n', '  warnings: [],\n  labels: null,\n');
  edit(
    'src/contract/verify.ts',
    "    is_role: NullableFlag('A function, not a person: info@, sales@.'),\n",
    "    is_role: NullableFlag('A function, not a person: info@, sales@.'),\n    labels: Nullable(Type.Integer()),\n",
  );
  expect(copy.compile('.')).not.toContain('tests/http/schema.test.ts');
  passes('tests/trials/in-the-copy/labels.copy.ts');
});

it('a list with a new status can be seen', () => {
  edit(
    'src/kernel/facts/lists.ts',
    "'cancelled', 'failed'] as const;\nexport type ListStatus",
    "'cancelled', 'failed', 'archived'] as const;\nexport type ListStatus",
  );
  // Whether it ends a list, and what can be done in it.
  expect(copy.compile()).toContain('src/kernel/facts/lists.ts');
  edit(
    'src/kernel/facts/lists.ts',
    "  failed: { isFinal: true, actions: ['delete'] },\n",
    "  failed: { isFinal: true, actions: ['delete'] },\n  archived: { isFinal: true, actions: ['delete'] },\n",
  );
  // What another service calls it; the event of its end.
  expect(copy.compile()).toEqual(['src/http/compat/reacher.ts', 'src/store/lists/end.ts']);
  expect(copy.compile('web')).toEqual(['web/src/pages/lists/queries.ts', 'web/src/pages/lists/status.tsx']);
  passes('tests/trials/in-the-copy/archived.copy.ts');
});

describe('a new action of filters', () => {
  it('does not compile until something is found by it', () => {
    edit('src/kernel/facts/filter-types.ts', "['block', 'allow']", "['block', 'allow', 'review']");
    expect(copy.compile()).toEqual(['src/kernel/facts/filter-types.ts']);
    edit(
      'src/kernel/facts/filter-types.ts',
      '  allow: { blocks: false, mayCoverAll: false, yields: false },\n',
      '  allow: { blocks: false, mayCoverAll: false, yields: false },\n  review: { blocks: false, mayCoverAll: true, yields: true },\n',
    );
    expect(copy.compile()).toEqual([]);
    expect(copy.compile('web')).toEqual([
      'web/src/pages/filters.tsx',
      'web/src/pages/filters/types.ts',
      'web/src/pages/log/entry-detail.tsx',
    ]);
  });

  it('as a new column does not compile in any place that reads or writes filters', () => {
    edit('src/store/tables.ts', '  filter_type: FilterKind;\n', '  filter_type: FilterKind;\n  severity: string;\n');
    edit(
      'src/store/filter-kinds.ts',
      'export interface FilterRule {\n',
      'export interface FilterRule {\n  readonly severity: string;\n',
    );
    expect(copy.compile()).toEqual(['src/store/columns.ts', 'src/store/contents.ts', 'src/store/filters.ts']);
  });
});

describe('columns of verifications', () => {
  const COLUMNS = 'src/store/columns.ts';
  const [status, deliverability] = ['status', 'deliverability'].map(
    (name) => `  ${name}: textColumn(({ record }) => record.${name}),\n`,
  );

  it('may stand in any order', () => {
    edit(COLUMNS, `${status}${deliverability}`, `${deliverability}${status}`);
    passes('tests/store/charging.test.ts', 'tests/store/shared-holds.test.ts');
  });

  it('that have the values of each other do not compile', () => {
    edit(
      COLUMNS,
      `${status}${deliverability}`,
      `  status: textColumn(({ record }) => record.deliverability),\n${deliverability}`,
    );
    expect(copy.compile()).toEqual([COLUMNS]);
  });

  it('that have the values of each other, of one type, fail a test', () => {
    edit(COLUMNS, '({ record }) => record.requested', '({ record }) => record.validationType');
    expect(copy.compile()).toEqual([]);
    expect(copy.test('tests/store/verifications.test.ts').ok).toBe(false);
  });

  it('of which one is forgotten do not compile', () => {
    edit(COLUMNS, '  via: textColumn(({ record }) => record.via ?? null),\n', '');
    expect(copy.compile()).toEqual([COLUMNS]);
  });
});

it.each([
  ['as it is to be', '    locked: numberColumn(({ locked }) => locked),\n'],
  ['as a move changes it', "  locked: 'a.locked + c.locked',\n"],
])('a counter of accounts that is not written does not compile: %s', (_, row) => {
  edit('src/store/columns.ts', row, '');
  expect(copy.compile()).toEqual(['src/store/columns.ts']);
});

it('a field of a reply that no contract names does not compile', () => {
  edit(
    'src/http/v1/filters.ts',
    'return { body: filterRemoved(id) };',
    'return { body: { ...filterRemoved(id), id } };',
  );
  expect(copy.compile()).toEqual(['src/http/v1/filters.ts']);
});

it('a page has its route and its place in the navigation', () => {
  const usage = "  '/usage': { title: 'Usage',";
  edit('src/kernel/facts/pages.ts', usage, `  '/plans': { title: 'Plans', for: 'account' },\n${usage}`);
  const links = ['web/src/shell/palette/items.ts', 'web/src/shell/shell.tsx'];
  expect(copy.compile('web')).toEqual(['web/src/routes.tsx', 'web/src/shell/pages.ts', ...links]);
});
