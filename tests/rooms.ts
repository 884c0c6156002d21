/**
 * The rules of the house that a machine can hold: who may import whom, and which room alone touches the clock, the
 * environment, the network and SQL. Works on the syntax tree, so comments and strings do not count as code.
 */
import { posix } from 'node:path';
import { parseAst } from 'vitest/node';

/** Room → the rooms it may import beside itself. Files directly in src/ are rooms of their own. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  contract: ['kernel'],
  config: ['kernel'],
  engine: ['kernel'],
  store: ['kernel'],
  service: ['kernel', 'engine', 'store'],
  jobs: ['kernel', 'service'],
  http: ['kernel', 'contract', 'service'],
  // The library: the engine without a server.
  'index.ts': ['kernel', 'engine'],
};
const EVERYTHING = ['main.ts', 'cli'];

/** Files that are tables: rows, one after the other, which nobody reads from top to bottom. */
const TABLES: readonly string[] = ['src/config/options.ts', 'src/kernel/errors.ts'];
const LONGEST = 300;

/** Members that only one room may use. */
const ONLY_IN: Readonly<Record<string, string>> = {
  'process.env': 'config',
  'new Date': 'kernel',
  'Date.now': 'kernel',
  'Date.parse': 'kernel',
  'performance.now': 'kernel',
  'Math.random': 'kernel',
};
const NETWORK = /^(node:)?(net|dgram|tls|dns|dns\/promises)$/;
const NETWORK_ROOMS = ['src/engine/dns/', 'src/engine/smtp/'];
/** Of node:net, what only looks at the text of addresses. */
const NOT_A_SOCKET = ['BlockList', 'SocketAddress', 'isIP', 'isIPv4', 'isIPv6'];
const HTTP_SERVER = /^(node:)?(http|https|http2)$/;
const SQL =
  /^\s*(select\s[\s\S]*\sfrom\s|insert\s+(or\s+\w+\s+)?into\s|update\s+\w+\s+set\s|delete\s+from\s|(create|alter|drop)\s+(table|index|unique|view|trigger)\s|pragma\s|begin(\s+immediate)?\s*$|commit\s*$|with\s+\w+\s+as\s*\()/i;
const BAD_NAME = /(^|[/.-])(utils?|helpers?|managers?|misc|common)([/.-]|$)/i;
const SUPPRESSION = /(biome-ignore|oxlint-disable|eslint-disable|@ts-ignore|@ts-expect-error|@ts-nocheck)/;

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

/** Every broken rule of one file, as `path:line: what`. `path` is relative to the root of the clone. */
export function brokenRules(path: string, text: string): string[] {
  const found: string[] = [];
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const say = (what: string, offset = 0): number => found.push(`${path}:${lineAt(offset)}: ${what}`);

  if (BAD_NAME.test(path)) say('the name of the file says nothing of what is in it');
  const length = text.trimEnd().split('\n').length;
  if (length > LONGEST && !TABLES.includes(path)) say(`${length} lines; the longest allowed has ${LONGEST}`);
  const suppression = SUPPRESSION.exec(text);
  // The checker and its test spell them too.
  if (suppression && !path.startsWith('tests/rooms.')) say(`${suppression[0]}: mend the cause`, suppression.index);

  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts', astType: 'ts' }) as unknown as Node, (node) => {
    if (node.type === 'TSAnyKeyword') say('any', node.start);
    if (!path.startsWith('src/') || path.endsWith('.test.ts')) return;
    for (const what of inSource(path, node)) say(what, node.start);
  });
  return found;
}

function* inSource(path: string, node: Node): Generator<string> {
  const room = path.split('/')[1]!;
  const member = takesEnvironment(node) ? 'process.env' : memberOf(node);
  if (member !== null && room !== (ONLY_IN[member] ?? room)) yield `${member} belongs to src/${ONLY_IN[member]}`;
  const from = importedFrom(node);
  if (from !== null) yield* badImport(path, room, from, node);
  const literal = textOf(node);
  if (literal !== null && room !== 'store' && SQL.test(literal)) yield 'SQL belongs to src/store';
}

function* badImport(path: string, room: string, from: string, node: Node): Generator<string> {
  const inNetworkRoom = NETWORK_ROOMS.some((start) => path.startsWith(start));
  if (NETWORK.test(from) && !inNetworkRoom && !onlyLooksAtAddresses(from, node))
    yield `${from} belongs to ${NETWORK_ROOMS.join(' and ')}`;
  if (HTTP_SERVER.test(from) && !['http', ...EVERYTHING].includes(room)) yield `${from} belongs to src/http`;
  if (!from.startsWith('.')) return;
  const target = posix.join(posix.dirname(path), from);
  if (!target.startsWith('src/')) return;
  const other = target.split('/')[1]!;
  if (other === room || EVERYTHING.includes(room)) return;
  if (!(MAY_IMPORT[room] ?? []).includes(other)) yield `src/${room} may not import src/${other}`;
}

/** `import { isIP } from 'node:net'`, or types only: neither opens anything. */
function onlyLooksAtAddresses(from: string, node: Node): boolean {
  if (node.type === 'TSImportType' || node.importKind === 'type') return true;
  if (!/net$/.test(from) || node.type !== 'ImportDeclaration') return false;
  const specifiers = node.specifiers as { imported?: { name: string }; importKind?: string }[];
  return specifiers.every((s) => s.importKind === 'type' || NOT_A_SOCKET.includes(s.imported?.name ?? '*'));
}

/** What an import, a re-export, an `import()` or a type import names. */
function importedFrom(node: Node): string | null {
  const imports = [
    'ImportDeclaration',
    'ExportNamedDeclaration',
    'ExportAllDeclaration',
    'ImportExpression',
    'TSImportType',
  ];
  if (!imports.includes(node.type)) return null;
  return (node.source as { value?: string } | null | undefined)?.value ?? null;
}

/** `const { env } = process`, `import { env } from 'node:process'`. */
function takesEnvironment(node: Node): boolean {
  if (node.type === 'VariableDeclarator')
    return (node.init as Node | null)?.name === 'process' && (node.id as Node).type === 'ObjectPattern';
  if (!/^(node:)?process$/.test(importedFrom(node) ?? '')) return false;
  const specifiers = (node.specifiers ?? []) as { imported?: { name: string } }[];
  return specifiers.some((s) => s.imported?.name === 'env');
}

/** `Date.now` of `Date.now()`, `globalThis.Date.now()` or `Date['now']`; `new Date` of `new Date()` and `Date()`. */
function memberOf(node: Node): string | null {
  const isDate = (callee: unknown): boolean =>
    (callee as Node).type === 'Identifier' && (callee as Node).name === 'Date';
  if ((node.type === 'NewExpression' || node.type === 'CallExpression') && isDate(node.callee)) return 'new Date';
  if (node.type !== 'MemberExpression') return null;
  const property = node.property as { name?: string; value?: unknown };
  const object = node.object as Node & { property?: { name?: string } };
  const owner = object.type === 'Identifier' ? object.name : object.property?.name;
  return `${owner}.${property.name ?? property.value}`;
}

function textOf(node: Node): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node.type !== 'TemplateLiteral') return null;
  return (node.quasis as { value: { raw: string } }[]).map((part) => part.value.raw).join('x');
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && typeof child.type === 'string') visit(child as Node, see);
    }
  }
}
