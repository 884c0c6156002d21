import { type Node, parse, placeOf, type Source, visit } from './syntax.ts';

const ASSIGNMENTS = new Set(['=', '??=', '||=', '&&=']);

/**
 * Functions that V8 allocates in the old generation: literals assigned to a property, and accessors of object literals.
 * A scavenge takes them for alive, so that all they close over stays in memory until a full collection. A function that
 * goes through a constant first, a method and a class field are allocated like anything else. Returns `path:line` of
 * each.
 */
export function oldClosuresIn(sources: readonly Source[]): string[] {
  const found: string[] = [];
  for (const source of sources) {
    visit(parse(source), (node, parent) => {
      const isOld = node.type === 'AssignmentExpression' ? isAssigned(node) : isAccessor(node, parent);
      if (isOld) found.push(placeOf(source, node));
    });
  }
  return found;
}

function isAssigned({ operator, left, right }: Node): boolean {
  const isFunction = ['ArrowFunctionExpression', 'FunctionExpression'].includes(bare(right as Node).type);
  return ASSIGNMENTS.has(String(operator)) && (left as Node).type === 'MemberExpression' && isFunction;
}

const isAccessor = ({ type, kind }: Node, parent: Node | null): boolean =>
  type === 'Property' && parent?.type === 'ObjectExpression' && (kind === 'get' || kind === 'set');

/** Without parentheses and types. */
function bare(node: Node): Node {
  const isWrapped = ['ParenthesizedExpression', 'TSAsExpression', 'TSSatisfiesExpression'].includes(node.type);
  return isWrapped ? bare(node.expression as Node) : node;
}
