/**
 * The rules of architecture that can be checked: which room may import which, and which rooms may use the clock, the
 * environment, the network and SQL. Works on the syntax tree, so comments and strings do not count.
 */
import { posix } from 'node:path';
import { lineAt, type Node, parse, visit } from './syntax.ts';

const SERVER = ['kernel', 'config', 'contract', 'engine', 'files', 'store', 'service', 'jobs', 'http'] as const;

/**
 * Room → the rooms it may import besides itself. Files directly in src/ are rooms of their own. Folders outside src/
 * that are not listed, tests and scripts, may import everything.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernel: ['package.json'],
  contract: ['kernel'],
  config: ['kernel'],
  engine: ['kernel', 'data'],
  files: ['kernel', 'engine'],
  store: ['kernel'],
  service: ['kernel', 'engine', 'files', 'store'],
  jobs: ['kernel', 'service'],
  http: ['kernel', 'contract', 'service'],
  // A program of its own.
  relay: ['kernel', 'engine'],
  // The library: the engine without a server.
  'index.ts': ['kernel', 'engine'],
  'main.ts': [...SERVER, 'main'],
  main: SERVER,
  cli: [...SERVER, 'relay', 'main.ts', 'main', 'index.ts', 'sdk'],
  // Published without dependencies.
  sdk: [],
  web: ['sdk'],
};
/** Parts of kernel that run in browsers as well, so they import only each other: no Node, no package. */
const FOR_BROWSERS = /^src\/kernel\/(facts\/[\w-]+|ip)\.ts$/;
/** What adapters may import: their framework, an optional peer dependency. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  'sdk/src/better-auth.ts': ['better-auth', 'better-auth/api'],
  'sdk/src/nest.ts': ['@nestjs/common'],
};
const STARTS_SERVERS = ['http', 'main.ts', 'main', 'cli'];

/** The formatter keeps code to this width, but leaves comments as they are. */
const WIDE_COMMENT = /^(?=.{121})\s*(\/\/|\/?\*)/mu;
/** Generated, with descriptions of any length. */
const GENERATED = /^(sdk\/src|web\/src\/api)\/schema\.ts$/;

/** Members reserved for one room. */
const ONLY_IN: Readonly<Record<string, string>> = {
  'process.env': 'config',
  'new Date': 'kernel',
  'Date.now': 'kernel',
  'Date.parse': 'kernel',
  'performance.now': 'kernel',
  'Math.random': 'kernel',
};
const NETWORK = /^(node:)?(net|dgram|tls|dns|dns\/promises)$/;
const NETWORK_ROOMS = ['src/engine/dns/', 'src/engine/smtp/', 'src/relay/'];
/** The one HTTP client. */
const HTTP_CLIENT = 'src/engine/http/';
/** What of node:net only parses addresses, and of node:tls is data. */
const NOT_A_SOCKET = ['BlockList', 'SocketAddress', 'isIP', 'isIPv4', 'isIPv6', 'rootCertificates'];
const HTTP = /^(node:)?(http|https|http2)$/;
const SQL =
  /^\s*(select\s[\s\S]*\sfrom\s|insert\s+(or\s+\w+\s+)?into\s|update\s+\w+\s+set\s|delete\s+from\s|(create|alter|drop)\s+(table|index|unique|view|trigger)\s|pragma\s|begin(\s+immediate)?\s*$|commit\s*$|with\s+\w+\s+as\s*\()/i;
const BAD_NAME = /(^|[/.-])(utils?|helpers?|managers?|misc|common)([/.-]|$)/i;
const SUPPRESSION = /(biome-ignore|oxlint-disable|eslint-disable|@ts-ignore|@ts-expect-error|@ts-nocheck)/;

/** The violations in one file, as `path:line: what`. `path` is relative to the repository root. */
export function brokenRules(path: string, text: string): string[] {
  const found: string[] = [];
  const say = (what: string, offset = 0): number => found.push(`${path}:${lineAt(text, offset)}: ${what}`);

  if (BAD_NAME.test(path)) say('the file name says nothing about its content');
  const wide = WIDE_COMMENT.exec(text);
  if (wide && !GENERATED.test(path)) say('a comment wider than 120 columns', wide.index);
  const suppression = SUPPRESSION.exec(text);
  // The checker and its test contain them too.
  if (suppression && !path.startsWith('tests/rooms.')) say(`${suppression[0]}: fix the cause`, suppression.index);

  visit(parse({ path, text }), (node) => {
    if (node.type === 'TSAnyKeyword') say('any', node.start);
    if (/\.test\.tsx?$/.test(path)) return;
    for (const what of badImport(path, node)) say(what, node.start);
    if (!path.startsWith('src/')) return;
    for (const what of inSource(path, node)) say(what, node.start);
  });
  return found;
}

function* inSource(path: string, node: Node): Generator<string> {
  const room = roomOf(path);
  const member = takesEnvironment(node) ? 'process.env' : memberOf(node);
  if (member !== null && room !== (ONLY_IN[member] ?? room)) yield `${member} belongs to src/${ONLY_IN[member]}`;
  const from = importedFrom(node);
  if (from !== null) yield* badNetworkImport(path, room, from, node);
  const literal = textOf(node);
  if (literal !== null && room !== 'store' && SQL.test(literal)) yield 'SQL belongs to src/store';
}

/** `src/store/open.ts` → `store`, `src/main.ts` → `main.ts`, `web/src/main.tsx` → `web`. */
const roomOf = (path: string): string => path.split('/')[path.startsWith('src/') ? 1 : 0]!;
const folderOf = (room: string): string => (room === 'sdk' || room === 'web' ? room : `src/${room}`);

function* badImport(path: string, node: Node): Generator<string> {
  const from = importedFrom(node);
  const room = roomOf(path);
  const mayImport = MAY_IMPORT[room] ?? [];
  if (from === null || !(path.startsWith('src/') || Object.hasOwn(MAY_IMPORT, room))) return;
  const target = posix.join(posix.dirname(path), from);
  if (FOR_BROWSERS.test(path) && !FOR_BROWSERS.test(target)) yield `${path} runs in browsers: ${from}`;
  if (!from.startsWith('.')) {
    if (room === 'sdk' && !PEERS[path]?.includes(from)) yield `sdk has no dependencies: ${from}`;
    return;
  }
  const other = roomOf(target);
  if (other === room || mayImport.includes(other)) return;
  if (room === 'web' && FOR_BROWSERS.test(target)) return;
  yield `${folderOf(room)} may not import ${target.startsWith('src/') ? folderOf(other) : other}`;
}

function* badNetworkImport(path: string, room: string, from: string, node: Node): Generator<string> {
  const inNetworkRoom = NETWORK_ROOMS.some((start) => path.startsWith(start));
  if (NETWORK.test(from) && !inNetworkRoom && !onlyLooksAtAddresses(from, node))
    yield `${from} belongs to ${NETWORK_ROOMS.join(', ')}`;
  if (HTTP.test(from) && !STARTS_SERVERS.includes(room) && !path.startsWith(HTTP_CLIENT))
    yield `${from} belongs to src/http`;
}

/** `import { isIP } from 'node:net'`, or types only: no connection. */
function onlyLooksAtAddresses(from: string, node: Node): boolean {
  if (node.type === 'TSImportType' || node.importKind === 'type') return true;
  if (!/(net|tls)$/.test(from) || node.type !== 'ImportDeclaration') return false;
  const specifiers = node.specifiers as { imported?: { name: string }; importKind?: string }[];
  return specifiers.every((s) => s.importKind === 'type' || NOT_A_SOCKET.includes(s.imported?.name ?? '*'));
}

/** The specifier of an import, a re-export, an `import()` or a type import. */
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
