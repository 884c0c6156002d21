/** What the compiler is told instead of asked: `as` (but not `as const`) and `!`. */
import { parse, placeOf, type Source, visit } from './syntax.ts';

interface Assertions {
  /** Each as `path:line`. */
  readonly casts: readonly string[];
  readonly nonNull: readonly string[];
}

export function assertionsIn(sources: readonly Source[]): Assertions {
  const casts: string[] = [];
  const nonNull: string[] = [];
  for (const source of sources) {
    visit(parse(source), (node) => {
      if (node.type === 'TSTypeAssertion' || (node.type === 'TSAsExpression' && !isConst(node.typeAnnotation)))
        casts.push(placeOf(source, node));
      if (node.type === 'TSNonNullExpression') nonNull.push(placeOf(source, node));
    });
  }
  return { casts, nonNull };
}

const isConst = (type: unknown): boolean =>
  (type as { typeName?: { name?: string } } | undefined)?.typeName?.name === 'const';
