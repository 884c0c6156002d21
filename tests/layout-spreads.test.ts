import { expect, it } from 'vitest';
import { allSources, type Node, parse, placeOf, type Source, visit } from './syntax.ts';

/** Literals that are spread into another: they only make the formatter break lines elsewhere. */
function layoutSpreads(source: Source): string[] {
  const found: string[] = [];
  visit(parse(source), (node) => {
    if (node.type !== 'SpreadElement') return;
    let spread = node.argument as Node;
    while (spread.type === 'TSAsExpression') spread = spread.expression as Node;
    if (/^(Array|Object)Expression$/.test(spread.type)) found.push(placeOf(source, node));
  });
  return found;
}

it('no literal is spread into another', () => expect(allSources().flatMap(layoutSpreads)).toEqual([]));

it.each(['f(...[1, 2]);', 'const a = [...([b] as const), c];', 'const a = { ...{ b, c } };'])('is found: %s', (text) =>
  expect(layoutSpreads({ path: 'src/a.ts', text })).toEqual(['src/a.ts:1']));
it.each(['f(...a);', 'const a = [...(b ? [c] : [])];', 'const a = { ...(b && { c }), ...d };'])('is not: %s', (text) =>
  expect(layoutSpreads({ path: 'src/a.ts', text })).toEqual([]));
