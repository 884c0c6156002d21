/** Who imports what: cycles of imports, and exports that no other file imports. */
import { posix } from 'node:path';
import { type Node, parse, type Source, visit } from './syntax.ts';

interface Import {
  /** The file, relative to the root. */
  readonly target: string;
  /** Names that are taken from it; null: all of them. */
  readonly names: readonly string[] | null;
}

interface Module {
  readonly path: string;
  readonly imports: readonly Import[];
  /** What is declared here and exported. */
  readonly declared: readonly string[];
  /** With what is passed on from other files. */
  readonly exports: readonly string[];
}

/** Imports of types and late imports count as well: what a reader has to know of both files is the same. */
export function moduleOf(source: Source): Module {
  const tree = parse(source);
  const imports: Import[] = [];
  const declared: string[] = [];
  const reexported: string[] = [];
  const add = (from: unknown, names: readonly string[] | null): void => {
    const specifier = (from as { value?: unknown } | null | undefined)?.value;
    if (typeof specifier !== 'string' || !specifier.startsWith('.')) return;
    imports.push({ target: posix.join(posix.dirname(source.path), specifier), names });
  };
  visit(tree, (node, parent) => {
    if (node.type === 'ImportDeclaration') add(node.source, importedNames(node, tree));
    if (node.type === 'TSImportType') add(node.source, wordsOf(tree));
    if (node.type === 'ImportExpression') add(node.source, wordsOf(tree));
    if (node.type === 'ExportAllDeclaration') add(node.source, null);
    if (node.type !== 'ExportNamedDeclaration') return;
    const specifiers = node.specifiers as { local: unknown; exported: unknown }[];
    // What a `declare module` of another package exports is not ours.
    if (parent === tree) {
      declared.push(...declaredNames(node.declaration as Node | null));
      reexported.push(...specifiers.map((s) => nameOf(s.exported)));
    }
    add(
      node.source,
      specifiers.map((s) => nameOf(s.local)),
    );
  });
  return { path: source.path, imports, declared, exports: [...declared, ...reexported] };
}

function importedNames(node: Node, tree: Node): string[] | null {
  const names: string[] = [];
  for (const specifier of node.specifiers as Node[]) {
    if (specifier.type === 'ImportSpecifier') names.push(nameOf(specifier.imported));
    if (specifier.type !== 'ImportNamespaceSpecifier') continue;
    const members = membersOf(nameOf(specifier.local), tree);
    if (members === null) return null;
    names.push(...members);
  }
  return names;
}

/** `a` and `B` of `C.a` and `C.B`; null where the namespace is used as a value of its own. */
function membersOf(namespace: string, tree: Node): string[] | null {
  const members: string[] = [];
  let isValue = false;
  visit(tree, (node, parent) => {
    if (node.type !== 'Identifier' || node.name !== namespace || parent === null) return;
    if (parent.type === 'MemberExpression' && parent.object === node && !parent.computed)
      members.push(nameOf(parent.property));
    else if (parent.type === 'TSQualifiedName' && parent.left === node) members.push(nameOf(parent.right));
    else if (parent.type !== 'ImportNamespaceSpecifier') isValue = true;
  });
  return isValue ? null : members;
}

/** Identifiers and strings: what a file that imports late can take from the module, however it destructures it. */
function wordsOf(tree: Node): string[] {
  const words = new Set<string>();
  visit(tree, (node) => {
    if (node.type === 'Identifier' || node.type === 'Literal') words.add(nameOf(node));
  });
  return [...words];
}

/** Of an identifier or a string. */
function nameOf(node: unknown): string {
  const { name, value } = node as { name?: unknown; value?: unknown };
  return String(name ?? value ?? '');
}

function declaredNames(declaration: Node | null): string[] {
  if (declaration === null) return [];
  if (declaration.type !== 'VariableDeclaration') return [nameOf(declaration.id)];
  return (declaration.declarations as { id: Node }[]).flatMap(({ id }) => {
    if (id.type === 'Identifier') return [nameOf(id)];
    const properties = (id.properties ?? []) as { value?: unknown }[];
    return properties.map(({ value }) => nameOf(value));
  });
}

/** Exported names that several files of `src` declare. The folders of the two databases have one shape. */
export function namesOfSeveral(modules: readonly Module[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const { path, declared } of modules) {
    if (!path.startsWith('src/')) continue;
    const place = path.replace(/^src\/store\/(?:sqlite|postgres)\/.*/, 'src/store/(database)');
    for (const name of declared) places.set(name, (places.get(name) ?? new Set()).add(place));
  }
  return [...places].filter(([, at]) => at.size > 1).map(([name, at]) => `${name}: ${[...at].join(', ')}`);
}

/** Groups of files that reach each other by imports, each sorted; Tarjan's algorithm. */
export function importCycles(modules: readonly Module[]): string[][] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const cycles: string[][] = [];
  const seen = new Map<string, { index: number; low: number; onStack: boolean }>();
  const stack: string[] = [];
  function enter(module: Module): { low: number } {
    const own = { index: seen.size, low: seen.size, onStack: true };
    seen.set(module.path, own);
    stack.push(module.path);
    for (const { target } of module.imports) {
      const next = byPath.get(target);
      if (next === undefined) continue;
      const known = seen.get(target);
      if (known === undefined) own.low = Math.min(own.low, enter(next).low);
      else if (known.onStack) own.low = Math.min(own.low, known.index);
    }
    if (own.low !== own.index) return own;
    const group = stack.splice(stack.indexOf(module.path));
    for (const path of group) seen.set(path, { index: 0, low: 0, onStack: false });
    const importsItself = module.imports.some(({ target }) => target === module.path);
    if (group.length > 1 || importsItself) cycles.push(group.sort());
    return own;
  }
  for (const module of modules) if (!seen.has(module.path)) enter(module);
  return cycles;
}

/** Every export that no other file imports, as `path: name`. `entries`: files whose exports are for others than us. */
export function unusedExports(modules: readonly Module[], entries: readonly string[]): string[] {
  const used = new Set<string>();
  const exportsOf = new Map(modules.map(({ path, exports }) => [path, exports]));
  for (const { path, imports } of modules)
    for (const { target, names } of imports)
      if (target !== path) for (const name of names ?? exportsOf.get(target) ?? []) used.add(`${target}: ${name}`);
  return modules
    .filter(({ path }) => !entries.includes(path))
    .flatMap(({ path, exports }) => exports.map((name) => `${path}: ${name}`))
    .filter((name) => !used.has(name));
}
