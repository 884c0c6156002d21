/**
 * An `error` event that nobody listens for ends the process. So whatever emits one gets a listener where it is made, or
 * goes at once to what listens, such as a pipeline.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allSources, type Node, parse, placeOf, type Source, visit } from './syntax.ts';

/** By the name that is called, without what it is a member of. */
const MAKES_EMITTER =
  /^(Worker|Pool|Client|PgBoss|EventEmitter|Duplex|PassThrough|Readable|Transform|Writable|createReadStream|createWriteStream|createServer|createSocket|createConnection|create(Brotli|Deflate|Gunzip|Gzip|Inflate|Unzip)\w*|createTransport|destination|exec|execFile|fork|spawn|wrapTls)$/;
/** Of these, calls of the module's own function alone. */
const MEMBERS = new Set(['Readable.from', 'http.request', 'https.request', 'net.connect', 'tls.connect']);
/** `connect` of node:net is called without an object before it. */
const PLAIN = new Set(['connect', 'PostgresClient']);
/** What it is passed to at once. */
const LISTENS = /\b(pipeline|finished)\(\s*$/;

/** Where the listener is elsewhere: by the place, as `path: callee`. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'src/cli/input-file.ts: handle.createReadStream': 'the body of a request, which fetch reads',
  'src/cli/input-file.ts: file.createWriteStream': 'the end of a pipeline',
  'src/cli/lists.ts: handle.createReadStream': 'iterated over, which listens',
  'src/cli/outcomes.ts: handle.createReadStream': 'iterated over, which listens',
  'src/cli/reply.ts: handle.createReadStream': 'iterated over, which listens',
  'src/cli/verify-file.ts: handle.createReadStream': 'iterated over, which listens',
  'src/engine/http/post.ts: https.request': 'exchange, which calls requestTo, listens',
  'src/engine/http/post.ts: http.request': 'exchange, which calls requestTo, listens',
  'src/files/formats.ts: createGunzip': 'the end of a pipeline',
  'src/files/xlsx/zip-read.ts: createInflateRaw': 'the end of a pipeline',
  'src/store/moving-file.ts: createGzip': 'the beginning of a pipeline',
  'src/store/moving-file.ts: createWriteStream': 'the end of a pipeline',
  'src/store/moving-file.ts: createGunzip': 'the end of a pipeline',
  'src/store/postgres/connect.ts: PostgresClient': 'its constructor listens',
  'src/store/sqlite/file.ts: connect': 'of our own: no emitter',
};

const calleeOf = (node: Node): string | null => {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return null;
  const callee = node.callee as Node & { name?: string; object?: Node & { name?: string }; property?: Node };
  if (callee.type === 'Identifier') return callee.name ?? null;
  const member = (callee.property as { name?: string } | undefined)?.name;
  return member === undefined ? null : `${callee.object?.name ?? '?'}.${member}`;
};

function makesEmitter(name: string): boolean {
  const [last = ''] = name.split('.').slice(-1);
  if (name.includes('.') && !MEMBERS.has(name)) return MAKES_EMITTER.test(last) && last !== 'exec';
  return MEMBERS.has(name) || PLAIN.has(name) || MAKES_EMITTER.test(name);
}

/** What the emitter is kept in: a variable or a field. */
function holderOf(text: string, { start }: Node): string | null {
  return (
    /(?:\b(?:const|let)\s+|(?:^|[\s(]))((?:this\.)?#?\w+)(?::\s*[\w.<>]+)?\s*=\s*(?:await\s+)?$/.exec(
      text.slice(0, start),
    )?.[1] ?? null
  );
}

function unheard(source: Source): string[] {
  const found: string[] = [];
  visit(parse(source), (node) => {
    const name = calleeOf(node);
    if (name === null || !makesEmitter(name) || LISTENS.test(source.text.slice(0, node.start))) return;
    const holder = holderOf(source.text, node);
    if (holder !== null && source.text.includes(`${holder}.on('error'`)) return;
    if (`${source.path}: ${name}` in ELSEWHERE) {
      used.add(`${source.path}: ${name}`);
      return;
    }
    found.push(`${placeOf(source, node)}: ${name}`);
  });
  return found;
}
const used = new Set<string>();

const SOURCES = [
  ...allSources().filter(({ path }) => /^(src|sdk\/src)\//.test(path) && !path.endsWith('.test.ts')),
  ...['bin/mailvet.mjs', 'bin/pinned-node.mjs'].map((path) => ({
    path,
    text: readFileSync(join(import.meta.dirname, '..', path), 'utf8'),
  })),
];

it('every emitter has a listener for its errors', () => {
  expect(SOURCES.flatMap(unheard)).toEqual([]);
  expect([...used].sort()).toEqual(Object.keys(ELSEWHERE).sort());
});

it('so has every pool of a test, whose connections may outlive it until the database is dropped', () => {
  const tests = allSources().filter(({ path }) => path.startsWith('tests/'));
  expect(tests.flatMap(unheard).filter((place) => place.endsWith(': pg.Pool'))).toEqual([]);
});

it.each([
  'const worker = new Worker(CODE);',
  "const worker = new Worker(CODE); worker.once('error', stop);",
  'this.#pool = new pg.Pool({});',
  'const socket = connect(25, host);',
  'body.pipe(createGzip());',
  "send(createReadStream('x'));",
])('finds %s', (text) => {
  expect(unheard({ path: 'src/x.ts', text })).toHaveLength(1);
});

it.each([
  "const worker = new Worker(CODE); worker.on('error', stop);",
  "this.#pool = new pg.Pool({}); this.#pool.on('error', () => undefined);",
  'const done = pipeline(Readable.from(pieces), inflate);',
  'await client.connect();',
])('accepts %s', (text) => {
  expect(unheard({ path: 'src/x.ts', text })).toEqual([]);
});
