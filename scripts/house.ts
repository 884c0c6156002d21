/**
 * `npm run house`: how large the sources are and how far a reader has to jump. Counts lines, files, exports and long
 * functions in the syntax trees, and the files and functions that one warm verification enters, by the coverage of V8.
 *
 * `-- --names` lists what is counted, `-- --fragments` counts comments without a verb instead.
 *
 * Coverage is that of the main thread. A warm call is one like those before it, so the answers of the DNS are cached.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readOptions } from '../src/config/read.ts';
import { createLogger } from '../src/kernel/log.ts';
import { startService } from '../src/main.ts';
import { createKey } from '../src/service/keys.ts';
import { moduleOf } from '../tests/import-graph.ts';
import { zone } from '../tests/lab/dns.ts';
import { startSmtp } from '../tests/lab/smtp.ts';
import { allSources, lineAt, type Node, parse, placeOf, type Source, visit } from '../tests/syntax.ts';
import { ROOT } from './fresh.mjs';
import { fragmentsIn } from './house/fragments.ts';

const LONGEST_FUNCTION = 70;
const SMALL_FILE = 45;
/** Measured calls at each level. */
const RUNS = 15;
const GENERATED = ['sdk/src/schema.ts', 'web/src/api/schema.ts', 'docs/openapi.json'];

const { values: flags } = parseArgs({
  options: {
    fragments: { type: 'boolean' },
    names: { type: 'boolean' },
    'without-service': { type: 'boolean' },
  },
});

const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);
const linesOf = (text: string): number => text.split('\n').length - 1;
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

const tracked = new Set(execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0'));
const sources = allSources(ROOT);
const product = sources.filter(({ path }) => path.startsWith('src/') && !isTest(path));
const web = sources.filter(({ path }) => path.startsWith('web/src/') && !isTest(path));

if (flags.fragments) reportFragments();
else {
  reportSources();
  if (!flags['without-service']) await entered();
}

function reportSources(): void {
  report('lines', [
    ['src without tests', sum(product.map(({ text }) => linesOf(text)))],
    ['web by hand', sum(web.map(({ text }) => linesOf(text))) + styleLines()],
    [
      'generated',
      sum(GENERATED.filter((path) => tracked.has(path)).map((path) => linesOf(readFileSync(join(ROOT, path), 'utf8')))),
    ],
    ['tests', sum(sources.filter(({ path }) => isTest(path) || path.startsWith('tests/')).map((s) => linesOf(s.text)))],
  ]);

  const { oneUser, exported, oneImporter, folded } = users();
  const long = longFunctions([...product, ...web]);
  const longWithInner = longFunctions([...product, ...web], { withInner: true });
  const twice = declaredTwice(product);
  report('src without tests', [
    ['files', product.length],
    ['files with exactly one importer', oneImporter.length],
    [`those of them with at most ${SMALL_FILE} lines`, folded.length],
    ['exports', exported],
    ['exports with exactly one user', `${oneUser} (${Math.round((100 * oneUser) / exported)} %)`],
    ['names declared in two files or more', twice.length],
    [`functions above ${LONGEST_FUNCTION} lines, web included`, longWithInner.length],
    ['  without the functions inside them', long.length],
  ]);
  if (flags.names) for (const line of [...folded, ...twice, ...long]) console.log(`  ${line}`);
}

function report(title: string, rows: readonly (readonly [name: string, figure: number | string])[]): void {
  console.log(`\n${title}`);
  for (const [name, figure] of rows)
    console.log(`  ${name.padEnd(44)} ${typeof figure === 'number' ? figure.toLocaleString('en') : figure}`);
}

function reportFragments(): void {
  const found = product.flatMap(fragmentsIn);
  const byRoom = Object.groupBy(found, (line) => /^src\/([^/.]+)/.exec(line)?.[1] ?? '');
  report('comments without a verb', [
    ...Object.entries(byRoom).map(([room, lines = []]) => [room, lines.length] as const),
    ['total', found.length],
  ]);
  if (flags.names) for (const line of found) console.log(`  ${line}`);
}

function styleLines(): number {
  const names = readdirSync(join(ROOT, 'web/src'), { recursive: true, encoding: 'utf8' });
  return sum(
    names
      .filter((name) => name.endsWith('.css'))
      .map((name) => linesOf(readFileSync(join(ROOT, 'web/src', name), 'utf8'))),
  );
}

/**
 * Users are files of the service and of the dashboard: a test does not make an export shared. A name of several
 * signatures, or of a schema and its type, counts once.
 */
function users() {
  const modules = [...product, ...web].map(moduleOf);
  const exportsOf = new Map(modules.map(({ path, exports }) => [path, exports]));
  const usersOf = new Map<string, Set<string>>();
  const importersOf = new Map<string, Set<string>>();
  for (const { path, imports } of modules)
    for (const { target, names } of imports) {
      if (target === path) continue;
      importersOf.set(target, (importersOf.get(target) ?? new Set()).add(path));
      for (const name of names ?? exportsOf.get(target) ?? []) {
        const key = `${target}: ${name}`;
        usersOf.set(key, (usersOf.get(key) ?? new Set()).add(path));
      }
    }
  const ours = new Set(product.map(({ path }) => path));
  const all = modules
    .filter(({ path }) => ours.has(path))
    .flatMap(({ path, exports }) => [...new Set(exports)].map((name) => `${path}: ${name}`));
  const single = product.filter(({ path }) => importersOf.get(path)?.size === 1);
  return {
    exported: all.length,
    oneUser: all.filter((key) => usersOf.get(key)?.size === 1).length,
    oneImporter: single,
    folded: single
      .filter(({ text }) => linesOf(text) <= SMALL_FILE)
      .map(({ path, text }) => `${linesOf(text)} ${path}`),
  };
}

/** Names of functions, classes, types and constants at the top of two files or more. */
function declaredTwice(files: readonly Source[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const source of files)
    for (const statement of parse(source).body as Node[])
      for (const name of namesOf((statement.declaration as Node | null | undefined) ?? statement))
        places.set(name, (places.get(name) ?? new Set()).add(source.path));
  return [...places].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(' ')}`);
}

function namesOf(declaration: Node): string[] {
  const declarations = (declaration.declarations as { id: Node }[] | undefined) ?? [declaration];
  return declarations.flatMap(({ id }) => {
    const name = (id as { name?: unknown } | null | undefined)?.name;
    return typeof name === 'string' ? [name] : [];
  });
}

/** Without what is inside them, factories of flat functions and components count by their own lines. */
function longFunctions(files: readonly Source[], { withInner = false } = {}): string[] {
  return files.flatMap((source) => {
    const found: string[] = [];
    const measure = (node: Node): number => {
      let inner = 0;
      for (const child of functionsBelow(node)) inner += measure(child);
      const lines = lineAt(source.text, node.end) - lineAt(source.text, node.start) + 1;
      const own = withInner ? lines : lines - inner;
      if (own > LONGEST_FUNCTION) found.push(`${own} ${placeOf(source, node)}`);
      return lines;
    };
    for (const top of functionsBelow(parse(source))) measure(top);
    return found;
  });
}

function functionsBelow(node: Node): Node[] {
  const found: Node[] = [];
  visit(node, (child) => {
    if (child === node || !/^(ArrowFunctionExpression|FunctionExpression|FunctionDeclaration)$/.test(child.type))
      return;
    found.push(child);
    return false;
  });
  return found;
}

/** Files and functions of ours that a warm `POST /v1/verify` enters, at each level. */
async function entered(): Promise<void> {
  const smtp = await startSmtp();
  const dns = await zone({
    'warm.example.net': { MX: [[10, 'mx.warm.example.net']] },
    'mx.warm.example.net': { A: [smtp.address] },
  });
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-house-'));
  const read = readOptions({
    MAILVET_DATABASE_URL: `sqlite:${join(dir, 'house.db')}`,
    MAILVET_PORT: '0',
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_SMTP_PORT: String(smtp.port),
    MAILVET_SMTP_HELO: 'verifier.lab',
    MAILVET_SMTP_RATE_PER_OPERATOR: '0',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_LISTS_DIR: join(dir, 'lists'),
    MAILVET_LISTS_UPDATE: 'off',
    MAILVET_LISTS_LEARN_HOSTS: 'false',
    MAILVET_LOG_LEVEL: 'silent',
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const service = await startService(read.options, createLogger('silent'));
  const account = await service.store.accounts.create({
    name: 'house',
    plan: 'enterprise',
    rateLimit: 100_000,
    credits: 1_000_000,
  });
  const { value: key } = await createKey(service.store, account.id, { name: 'house', allowIps: [] });
  const verify = async (validation_type: string): Promise<void> => {
    const response = await fetch(`${service.url}/v1/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'good@warm.example.net', validation_type }),
    });
    const reply = (await response.json()) as { validation_type?: string };
    if (reply.validation_type !== validation_type)
      throw new Error(`not at level ${validation_type}: ${JSON.stringify(reply)}`);
  };
  const rows: [string, string][] = [];
  for (const level of ['mx', 'smtp']) {
    for (let i = 0; i < 5; i += 1) await verify(level);
    const calls = new Map<string, number>();
    for (let i = 0; i < RUNS; i += 1)
      for (const name of await covered(() => verify(level))) calls.set(name, (calls.get(name) ?? 0) + 1);
    // Timers run beside some of the calls, on a busy machine beside most of them.
    const names = [...calls].filter(([, times]) => times === RUNS).map(([name]) => name);
    const files = new Set(names.map((name) => name.slice(0, name.indexOf(' '))));
    rows.push([`${level}: files (functions)`, `${files.size} (${names.length})`]);
    if (flags.names) console.log([...files].sort().join('\n'));
  }
  report('entered by one warm POST /v1/verify', rows);
  await service.stop();
  await Promise.all([dns.close(), smtp.close()]);
  rmSync(dir, { recursive: true, force: true });
}

/** The named functions of ours that `work` enters, as `file name offset`. */
async function covered(work: () => Promise<void>): Promise<Set<string>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result }: Profiler.TakePreciseCoverageReturnType = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const ours = pathToFileURL(join(ROOT, 'src/')).href;
  return new Set(
    result
      .filter(({ url }) => url.startsWith(ours))
      .flatMap(({ url, functions }) =>
        functions
          .filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0)
          .map(({ functionName, ranges }) => `${url.slice(ours.length)} ${functionName} ${ranges[0]?.startOffset}`),
      ),
  );
}
