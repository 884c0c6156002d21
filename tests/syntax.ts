/** The sources of the repository and their syntax trees, for the tests that judge the sources themselves. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vitest/node';

export interface Node {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

export interface Source {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly text: string;
}

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['src', 'tests', 'scripts', 'bench', 'sdk/src', 'web/src'];
/** Made by `npm run gen`. */
const GENERATED = /^(sdk\/src\/schema|web\/src\/api\/schema)\.ts$/;

/** Every TypeScript file that is written by hand. */
export function allSources(root = ROOT): Source[] {
  return FOLDERS.flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
      .map((name) => `${top}/${name.replaceAll('\\', '/')}`)
      .filter((path) => /(?<!\.d)\.tsx?$/.test(path) && !GENERATED.test(path))
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  );
}

export function parse({ path, text }: Source): Node {
  // The types of the parser name every kind of node; these tests look at a few fields of some.
  return parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts', astType: 'ts' }) as unknown as Node;
}

/** Calls `see` for `node` and everything below it, in order; where it returns false, what is below is left out. */
export function visit(node: Node, see: (node: Node, parent: Node | null) => unknown, parent: Node | null = null): void {
  if (see(node, parent) === false) return;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, see, node);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** `path:line` */
export const placeOf = ({ path, text }: Source, { start }: Node): string => `${path}:${lineAt(text, start)}`;
