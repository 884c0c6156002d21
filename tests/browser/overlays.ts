/** Every dialog, drawer and menu that the dashboard can open, by its names in the sources. */
import type { Page } from 'playwright-core';
import { OPEN } from '../lab/axe.ts';
import { allSources, type Node, parse, placeOf, type Source } from '../syntax.ts';

type Role = 'dialog' | 'menu';

/** What was opened, as the page names it. */
export interface Opened {
  readonly role: Role;
  readonly name: string;
}

/** A name in the sources; one with a condition in it counts as two. */
interface Overlay extends Opened {
  /** `path:line` */
  readonly place: string;
}

/** A kind of element that opens over a page, and the attribute that names it. */
interface Kind {
  readonly attribute: string;
  readonly role: Role;
}
const KINDS: readonly (readonly [element: string, kind: Kind])[] = [
  ['Modal', { attribute: 'title', role: 'dialog' }],
  ['Spotlight.Root', { attribute: 'title', role: 'dialog' }],
  ['Popover.Dropdown', { attribute: 'aria-label', role: 'dialog' }],
  ['Menu.Dropdown', { attribute: 'aria-label', role: 'menu' }],
];

/** Stands in a name for what differs each time. */
const ANY = '\u2026';

/** The page `/design` is in no build. */
const ofDashboard = ({ path }: Source) => /^web\/src\/.*\.tsx$/.test(path) && path !== 'web/src/pages/design.tsx';

/** Throws where something opens that has no name. */
export function overlaysIn(sources: readonly Source[] = allSources().filter(ofDashboard)): readonly Overlay[] {
  const trees = sources.map((source) => ({ source, tree: parse(source) }));
  const kinds = new Map(KINDS);
  // A component that names what it opens by a property of its own is a kind, too.
  for (;;) {
    const known = kinds.size;
    const found = trees.flatMap(({ source, tree }) => namedIn(source, tree, kinds));
    if (kinds.size === known) return found;
  }
}

/** The names in a file; to `kinds` it adds the components whose names come from where they are used. */
function namedIn(source: Source, tree: Node, kinds: Map<string, Kind>): Overlay[] {
  const found: Overlay[] = [];
  const look = (node: Node, within: readonly Node[]): void => {
    for (const child of childrenOf(node)) look(child, [...within, node]);
    const kind = kindOf(node, kinds);
    if (kind === undefined) return;
    const place = placeOf(source, node);
    const value = attributeOf(node, kind.attribute);
    if (value === undefined) throw new Error(`What opens at ${place} has no ${kind.attribute}.`);
    const property = propertyOf(value, within);
    if (property === null) {
      const names = new Set(namesOf(value, within));
      found.push(...[...names].filter(Boolean).map((name) => ({ place, name, role: kind.role })));
    } else kinds.set(componentOf(within), { attribute: property, role: kind.role });
  };
  look(tree, []);
  return found;
}

/** By the name of the element or, of one of HTML, by its role. */
function kindOf(node: Node, kinds: ReadonlyMap<string, Kind>): Kind | undefined {
  if (node.type !== 'JSXOpeningElement') return undefined;
  const role = attributeOf(node, 'role')?.value;
  if (role === 'dialog' || role === 'menu') return { attribute: 'aria-label', role };
  if (attributeOf(node, 'data-drawer') !== undefined) return { attribute: 'aria-label', role: 'dialog' };
  return kinds.get(nameOf(at(node, 'name')));
}

/** All that a name can be; `within`: the nodes around it, the outermost first. */
function namesOf(value: Node, within: readonly Node[]): readonly string[] {
  const of = (field: string) => namesOf(at(value, field), within);
  switch (value.type) {
    case 'Literal':
      return [String(value.value)];
    case 'JSXExpressionContainer':
      return of('expression');
    case 'TaggedTemplateExpression':
      return of('quasi');
    case 'ConditionalExpression':
      return [...of('consequent'), ...of('alternate')];
    case 'TemplateLiteral': {
      const values = list(value, 'expressions').map((one) => namesOf(one, within));
      const [first = '', ...rest] = list(value, 'quasis').map(cookedOf);
      return rest.reduce(
        (names, text, i) => names.flatMap((name) => values[i]!.map((one) => `${name}${one}${text}`)),
        [first],
      );
    }
    case 'Identifier': {
      const init = variableOf(value, within)?.init;
      return isNode(init) ? namesOf(init, within) : [ANY];
    }
    default:
      return [ANY];
  }
}

/** Where the name is a property of the component, this property. */
function propertyOf(value: Node, within: readonly Node[]): string | null {
  if (value.type === 'JSXExpressionContainer') return propertyOf(at(value, 'expression'), within);
  const component = within.find(({ type }) => FUNCTIONS.has(type));
  const [properties] = component === undefined ? [] : list(component, 'params');
  if (properties === undefined) return null;
  if (value.type === 'MemberExpression')
    return nameOf(at(value, 'object')) === nameOf(properties) ? nameOf(at(value, 'property')) : null;
  if (value.type !== 'Identifier') return null;
  const name = nameOf(value);
  const variable = variableOf(value, within);
  const isTaken = variable !== undefined && nameOf(at(variable, 'init')) === nameOf(properties);
  const pattern = isTaken ? at(variable, 'id') : properties;
  return pattern.type === 'ObjectPattern' && namesIn(pattern).includes(name) ? name : null;
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);

/** The name of the outermost function or variable around a node. */
function componentOf(within: readonly Node[]): string {
  const named = within.find(({ type }) => type === 'FunctionDeclaration' || type === 'VariableDeclarator');
  return named === undefined ? '' : nameOf(at(named, 'id'));
}

/** The declaration of an identifier, in the blocks around it. */
function variableOf(identifier: Node, within: readonly Node[]): Node | undefined {
  const name = nameOf(identifier);
  return within
    .filter(({ type }) => type === 'BlockStatement' || type === 'Program')
    .flatMap((block) => list(block, 'body'))
    .flatMap((statement) => (statement.type === 'VariableDeclaration' ? list(statement, 'declarations') : []))
    .findLast((one) => namesIn(at(one, 'id')).includes(name));
}

/** Of an identifier, or of what takes an object apart. */
const namesIn = (pattern: Node): readonly string[] =>
  pattern.type === 'ObjectPattern'
    ? list(pattern, 'properties').flatMap((one) => (one.type === 'Property' ? [nameOf(at(one, 'key'))] : []))
    : [nameOf(pattern)];

function attributeOf(element: Node, name: string): Node | undefined {
  const attribute = list(element, 'attributes').find((one) => isNode(one.name) && nameOf(one.name) === name);
  return attribute === undefined ? undefined : isNode(attribute.value) ? attribute.value : attribute;
}

const nameOf = (node: Node): string =>
  node.type === 'JSXMemberExpression'
    ? `${nameOf(at(node, 'object'))}.${nameOf(at(node, 'property'))}`
    : `${node.name}`;

const cookedOf = ({ value }: Node): string =>
  typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : '';

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const list = (node: Node, field: string): readonly Node[] => [node[field]].flat().filter(isNode);
const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);
/** A field that the syntax requires. */
function at(node: Node, field: string): Node {
  const value = node[field];
  if (!isNode(value)) throw new Error(`A ${node.type} has no ${field}.`);
  return value;
}

/** What is open on a page. */
export const openedOn = (page: Page): Promise<readonly Opened[]> =>
  page.evaluate(`${OPEN}.map((one) => ({
    role: one.getAttribute('role') === 'menu' ? 'menu' : 'dialog',
    name: one.ariaLabel ?? one.ariaLabelledByElements.map((label) => label.textContent).join(' '),
  }))`);

/** A pattern in which `ANY` stands for some text. */
const patternOf = (name: string): RegExp =>
  new RegExp(`^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(ANY, '.+')}$`);
const fixed = ({ name }: Overlay): number => name.replaceAll(ANY, '').length;

/**
 * Those of `overlays` that no row opened; `opened`: by row. What was opened belongs to the names with the most letters
 * that fit. Where several places have one name, as many rows must open it.
 */
export function notOpened(overlays: readonly Overlay[], opened: readonly (readonly Opened[])[]): readonly string[] {
  const fitting = opened.flatMap((row) => {
    const names = row.flatMap(({ role, name }) => {
      const fits = overlays.filter((one) => one.role === role && patternOf(one.name).test(name));
      const most = Math.max(...fits.map(fixed));
      return fits.filter((one) => fixed(one) === most).map((one) => `${one.role} ${one.name}`);
    });
    return [...new Set(names)];
  });
  const left = [...fitting];
  return overlays.flatMap(({ role, name, place }) => {
    const found = left.indexOf(`${role} ${name}`);
    if (found !== -1) left.splice(found, 1);
    return found === -1 ? [`${place}: ${role} ${name}`] : [];
  });
}
