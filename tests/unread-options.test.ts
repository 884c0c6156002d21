import { expect, it } from 'vitest';
import { OPTIONS } from '../src/config/options.ts';
import { allSources, parse, type Source, visit } from './syntax.ts';

/**
 * Properties that a file takes from an object: `options.host`, `const { host } = options`, `({ host }) => …`. In the
 * config itself only what it reads of complete options counts, not what it checks and completes.
 */
function propertiesRead(source: Source): string[] {
  const isConfig = source.path.startsWith('src/config/');
  const names: string[] = [];
  visit(parse(source), (node) => {
    const isRead = node.type === 'MemberExpression' && (!isConfig || nameOf(node.object) === 'options');
    if (isRead) names.push(nameOf(node.property));
    if (isConfig || node.type !== 'ObjectPattern') return;
    for (const { key } of node.properties as { key?: unknown }[]) names.push(nameOf(key));
  });
  return names;
}

const nameOf = (node: unknown): string => String((node as { name?: unknown } | undefined)?.name ?? '');

const unread = (sources: readonly Source[]): string[] => {
  const read = new Set(sources.flatMap(propertiesRead));
  return Object.keys(OPTIONS).filter((key) => !read.has(key));
};

it('every option is read by the program', () => {
  const program = allSources().filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'));
  expect(unread(program)).toEqual([]);
});

it('an option that is only passed on in a spread is unread', () => {
  const text = Object.keys(OPTIONS)
    .filter((key) => key !== 'host')
    .map((key) => `options.${key};`)
    .join('');
  expect(unread([{ path: 'src/a.ts', text: `${text} start({ ...options });` }])).toEqual(['host']);
  expect(unread([{ path: 'src/a.ts', text: `${text} const { host } = options;` }])).toEqual([]);
});
