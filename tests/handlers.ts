/**
 * Handlers that the engine registers with sockets, timers and signals: what one of them throws would end the process of
 * whoever uses the library, so each is given to `contain` (src/kernel/contain.ts).
 */
import { type Node, parse, placeOf, type Source, visit } from './syntax.ts';

/** What runs in the host's process. */
export const isEngine = ({ path }: Source): boolean =>
  /^src\/(engine\/|index\.ts$|kernel\/on-abort\.ts$)/.test(path) && !/\.test\.ts$/.test(path);

/** The handler's place among the arguments, by the function that registers it. */
const METHODS: Readonly<Record<string, number>> = {
  on: 1,
  once: 1,
  addListener: 1,
  prependListener: 1,
  addEventListener: 1,
  nextTick: 0,
};
const FUNCTIONS: Readonly<Record<string, number>> = {
  onAbort: 1,
  setTimeout: 0,
  setInterval: 0,
  setImmediate: 0,
  queueMicrotask: 0,
};

/** Of a name, a member, or what declares one; empty for other nodes. */
function nameOf(node: unknown): string {
  const { type, name, property } = (node ?? {}) as Node;
  if (type === 'MemberExpression') return nameOf(property);
  return typeof name === 'string' ? name : '';
}
const isCallOf = (node: unknown, names: ReadonlySet<string>): boolean =>
  (node as Node | null)?.type === 'CallExpression' && names.has(nameOf((node as Node).callee));

const CONTAIN: ReadonlySet<string> = new Set(['contain']);

/** Where handlers are contained, and where they are not, as `path:line`. */
export function handlersIn(source: Source): { contained: string[]; bare: string[] } {
  const tree = parse(source);
  // `const end = contain(…)`, and `const enter = (phase) => contain(…)`.
  const names = new Set<string>(CONTAIN);
  visit(tree, (node) => {
    const value = (node.type === 'VariableDeclarator' ? node.init : node.value) as Node | null | undefined;
    if (value?.type === 'CallExpression' && isCallOf(value, CONTAIN)) names.add(nameOf(node.id ?? node.key));
    if (value?.type === 'ArrowFunctionExpression' && isCallOf(value.body, CONTAIN)) names.add(nameOf(node.id));
  });
  const contained: string[] = [];
  const bare: string[] = [];
  visit(tree, (node) => {
    // A promise left alone: its rejection ends the process as well.
    if (node.type === 'UnaryExpression' && node.operator === 'void') bare.push(placeOf(source, node));
    if (node.type !== 'CallExpression') return;
    if (isCallOf(node, CONTAIN)) contained.push(placeOf(source, node));
    const registers = (node.callee as Node).type === 'MemberExpression' ? METHODS : FUNCTIONS;
    const at = registers[nameOf(node.callee)];
    const handler = at === undefined ? undefined : (node.arguments as Node[])[at];
    if (handler === undefined) return;
    if (!isCallOf(handler, names) && !names.has(nameOf(handler))) bare.push(placeOf(source, node));
  });
  return { contained, bare };
}
