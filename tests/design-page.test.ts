import { expect, it } from 'vitest';
import { moduleOf } from './import-graph.ts';
import { allSources, type Node, parse, type Source } from './syntax.ts';

const PAGE = 'web/src/pages/design.tsx';
/** Parts that it does not place itself, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'web/src/parts/email-field.tsx HiddenUsername': 'nobody sees it',
  'web/src/parts/notify.tsx ToastRegion': 'stands around every page; a button shows a notification in it',
};
const isPart = (path: string): boolean => /^web\/src\/parts\/.*\.tsx$/.test(path);

/** Exported functions and constants that are named like components. */
function componentsOf(source: Source): string[] {
  return (parse(source).body as Node[]).flatMap((node) => {
    const declared = node.type === 'ExportNamedDeclaration' ? (node.declaration as Node | null) : null;
    const ids =
      declared?.type === 'FunctionDeclaration'
        ? [declared.id]
        : declared?.type === 'VariableDeclaration'
          ? (declared.declarations as Node[]).map(({ id }) => id)
          : [];
    return ids.map((id) => (id as { name: string }).name).filter((name) => /^[A-Z][a-z]/.test(name));
  });
}

/** What the page of all parts uses, directly or as a piece of a part: `path name`. */
function usedBy(sources: readonly Source[]): Set<string> {
  const modules = new Map(sources.map((source) => [source.path, moduleOf(source)]));
  const used = new Set<string>();
  const seen = new Set<string>();
  const follow = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { target, names } of modules.get(path)?.imports ?? []) {
      for (const name of names ?? []) used.add(`${target} ${name}`);
      if (isPart(target)) follow(target);
    }
  };
  follow(PAGE);
  return used;
}

const SOURCES = allSources().filter(({ path }) => path.startsWith('web/src/'));
const PARTS = SOURCES.filter(({ path }) => isPart(path));

it('the page of all parts shows every part', () => {
  const used = usedBy(SOURCES);
  const all = PARTS.flatMap((source) => componentsOf(source).map((name) => `${source.path} ${name}`));
  expect(all.length).toBeGreaterThan(50);
  expect(all.filter((part) => !used.has(part)).sort()).toEqual(Object.keys(ELSEWHERE));
});

it('a part that is missing there is found', () => {
  const without = SOURCES.map((source) =>
    source.path === PAGE ? { ...source, text: source.text.replace(/^import \{ FreshBar \}.*$/m, '') } : source,
  );
  expect(usedBy(SOURCES).has('web/src/parts/fresh-bar.tsx FreshBar')).toBe(true);
  expect(usedBy(without).has('web/src/parts/fresh-bar.tsx FreshBar')).toBe(false);
});
