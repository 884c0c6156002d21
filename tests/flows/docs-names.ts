/** What the documentation names: commands, flags, variables, metrics, paths, routes, scripts, links. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Command } from 'commander';
import { ROOT } from '../../scripts/fresh.mjs';
import { createProgram } from '../../src/cli/program.ts';
import { OPTIONS, optionsOf } from '../../src/config/options.ts';
import { RESULT_COLUMNS, RESULT_PREFIX } from '../../src/files/result-columns.ts';
import { rootRoutes } from '../../src/http/compat/table.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { COMPAT_VENDORS } from '../../src/kernel/compat-vendors.ts';
import { ERRORS, isErrorCode } from '../../src/kernel/errors.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const tracked: readonly string[] = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(ROOT, path)));

/** All pages for people, those about the project itself included. Files that are test data are none. */
export const PAGES: readonly string[] = tracked.filter((path) => path.endsWith('.md') && !path.startsWith('tests/'));

/** Where something stands, as `page:line`, and what. */
interface Place {
  readonly at: string;
  readonly text: string;
}

interface Page {
  /** Outside of fences. */
  readonly spans: readonly Place[];
  /** Of fences with shell commands, and those with no language. */
  readonly shell: readonly Place[];
  /** Targets of links to files and headings of the repository. */
  readonly links: readonly Place[];
}

/** A link whose target is no address of the web. */
const LINK = /\]\((?![a-z]+:)([^()\s]+)\)/gi;

function pageOf(path: string): Page {
  const spans: Place[] = [];
  const shell: Place[] = [];
  const links: Place[] = [];
  let language: string | null = null;
  for (const [i, line] of read(path).split('\n').entries()) {
    const at = `${path}:${i + 1}`;
    const fence = /^ *```(\w*)/.exec(line);
    if (fence !== null) language = language === null ? (fence[1] ?? '') : null;
    else if (language === 'sh') shell.push({ at, text: line });
    else if (language === null) {
      for (const [, text = ''] of line.matchAll(/(?<!`)`([^`]+)`(?!`)/g))
        spans.push({ at, text: text.replaceAll('\\|', '|') });
      for (const [, text = ''] of line.replaceAll(/`[^`]*`/g, '').matchAll(LINK)) links.push({ at, text });
    }
  }
  return { spans, shell, links };
}

const all = (pick: (page: Page) => readonly Place[]): readonly Place[] => PAGES.flatMap((path) => pick(pageOf(path)));
const unless = (places: readonly Place[], isRight: (text: string) => boolean): string[] =>
  places.filter(({ text }) => !isRight(text)).map(({ at, text }) => `${at}: ${text}`);

const program = createProgram();
/** Some are taken in front of the command, too. */
const flagsIn = (command: Command): string[] => [
  ...command.options.flatMap(({ long, short }) => [long ?? '', short ?? '']),
  '--help',
  '-h',
  '--json',
  '--env-file',
];
const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)];

/** Words of a shell: what is quoted is one, and `$(…)` as well. */
const WORD = /(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s'"])+/g;
/** What ends a command. */
const END = /^(?:[|&;<>)]|\d?>)/;

/** What is wrong with the words behind `mailvet`; null: nothing. */
function commandFault(words: readonly string[]): string | null {
  let command = program;
  let isBehindDashes = false;
  for (const [i, word] of words.entries()) {
    if (END.test(word)) return null;
    if (words[i - 1] === '--env-file') continue;
    if (word === '--') isBehindDashes = true;
    else if (/^--?[a-z]/.test(word) && !isBehindDashes) {
      const flag = /^-[-\w]*/.exec(word)?.[0] ?? '';
      if (!flagsIn(command).includes(flag)) return `${command.name()} has no ${flag}`;
    } else if (command.commands.length > 0) {
      if (/^(?:…|<|\[|"\$@"|help$)/.test(word)) return null;
      const sub = command.commands.find((one) => one.name() === word.replace(/[,.]$/, ''));
      if (sub === undefined) return `${command.name()} has no command ${word}`;
      command = sub;
    }
  }
  return null;
}

/** `mailvet …`, however it is called. */
const CALL = /^(?:.*(?:[\s|"'(]|bin\/))?mailvet(?:\.mjs)? (.+)$/;
export const faultIn = (text: string): string | null => {
  const [, rest] = CALL.exec(text) ?? [];
  return rest === undefined ? null : commandFault(rest.match(WORD) ?? []);
};

export const commandsThatDoNotParse = (): string[] =>
  [
    ...all(({ spans }) => spans).filter(({ text }) => /^(?:\S*\/)?mailvet(?:\.mjs)? /.test(text)),
    ...all(({ shell }) => shell).filter(({ text }) => !text.trimStart().startsWith('#')),
  ].flatMap(({ at, text }) => {
    const fault = faultIn(text);
    return fault === null ? [] : [`${at}: ${fault}`];
  });

/** Names of other programs and of earlier versions, by who has them. */
const ELSEWHERE = {
  docker: ['--privileged', '--cap-add', '--stop-timeout'],
  'npm run replies': ['--accept'],
  'an argument of npm': ['--'],
  'comments of migrations': ['-- compatible-from: N', '-- concurrently'],
  ZITADEL: ['signingKey'],
  Litestream: ['LITESTREAM_ACCESS_KEY_ID', 'LITESTREAM_SECRET_ACCESS_KEY'],
  PostgreSQL: ['pg_restore'],
  Reacher: ['from_email', 'hello_name', 'smtp_port'],
  Kickbox: ['PUT /v2/verify-batch'],
  n8n: ['WEBHOOK_URL'],
  Kubernetes: ['preStop'],
  Stripe: ['checkout.session.async_payment_succeeded'],
  'a provider of OpenID Connect': ['/.well-known/openid-configuration'],
  'a package that lists of domains are made from': ['src/passwords.json'],
  'a build': ['library/dist/', 'sdk/dist/'],
  'earlier versions, in the changelog': ['mailvet_asker_state', 'operator.never_tells'],
} satisfies Record<string, readonly string[]>;
const elsewhere = new Set(Object.values(ELSEWHERE).flat());

/** What stands in ELSEWHERE and nowhere in the documentation. */
export const unusedExceptions = (): string[] => {
  const named = all(({ spans }) => spans).map(({ text }) => text);
  return [...elsewhere].filter((name) => !named.some((text) => text === name || text.startsWith(`${name} `)));
};

export function unknownFlags(): string[] {
  const known = new Set([...everyCommand(program).flatMap(flagsIn), ...elsewhere]);
  const spans = all(({ spans: own }) => own).filter(({ text }) => text.startsWith('--'));
  return unless(spans, (text) => known.has(text) || known.has(/^--[\w-]*/.exec(text)?.[0] ?? ''));
}

const SECRET_FILES = optionsOf('*').flatMap(([, { env, secret }]) => (secret ? [`${env}_FILE`] : []));

let words: ReadonlySet<string> | null = null;
/** Every word of the code and its data, and what is made of them; no documentation, and no tests of it. */
function knownWords(): ReadonlySet<string> {
  words ??= new Set([
    ...tracked
      .filter((path) => /\.(?:[cm]?tsx?|[cm]?js|json|ya?ml|py|php|sql|toml|sh|service)$|Dockerfile/.test(path))
      .filter((path) => !/package-lock|^docs\/|^tests\/flows\/docs-|^tests\/files\//.test(path))
      .flatMap((path) => read(path).match(/\w+/g) ?? []),
    ...tracked.flatMap((path) => posix.basename(path).split('.')),
    ...RESULT_COLUMNS.map((name) => RESULT_PREFIX + name),
    ...SECRET_FILES,
    OPTIONS.testKeys.default,
  ]);
  return words;
}

/** Words that only a program has: `snake_case`, `camelCase`, `list.completed`. */
const NAME = /^(?=.*(?:[._]|[a-z][A-Z]))[A-Za-z_]\w*(?:\.\w+)*(?:\(\))?$/;

/** Fields, error codes, events, metrics, functions, variables and the like that the code does not have. */
export const unknownNames = (): string[] =>
  unless(
    all(({ spans }) => spans).filter(({ text }) => NAME.test(text)),
    (text) =>
      elsewhere.has(text) ||
      isPrefix(text) ||
      text
        .replace('()', '')
        .split('.')
        .every((word) => knownWords().has(word)),
  );

/** Variables of ours, also within longer spans and samples. */
export function unknownVariables(): string[] {
  const options = new Set(optionsOf('*').flatMap(([, { env, aliases }]) => [env, ...(aliases ?? [])]));
  const named = [...all(({ spans }) => spans), ...all(({ shell }) => shell)].flatMap(({ at, text }) =>
    [...text.matchAll(/MAILVET_[A-Z0-9_]+(?![A-Z0-9_…*])/g)].map(([name]) => ({ at, text: name })),
  );
  return unless(named, (name) => options.has(name) || knownWords().has(name) || isPrefix(name));
}

/** What several variables begin with: `MAILVET_OIDC_`. */
const isPrefix = (name: string): boolean =>
  name.endsWith('_') && optionsOf('*').some(([, { env }]) => env.startsWith(name));

/** Rows of tables with a variable, or an option of the library, and a default that is not its default. */
export function otherDefaults(): string[] {
  const options = new Map(
    Object.entries(OPTIONS).flatMap(([key, { env, default: value }]) =>
      [env, key, key.replace(/^smtp([A-Z])/, (_, letter: string) => letter.toLowerCase())].map((name) => [name, value]),
    ),
  );
  return PAGES.filter((path) => path !== 'docs/options.md').flatMap((path) => {
    let isTable = false;
    return read(path)
      .split('\n')
      .flatMap((line, i) => {
        const [, first = '', second = ''] = /^\| ([^|]+) \| ([^|]+) \|/.exec(line) ?? [];
        if (first === '' || second === 'default') isTable = second === 'default';
        const [, name = ''] = /^`([\w]+)`$/.exec(first) ?? [];
        const value = options.get(name);
        if (!isTable || typeof value !== 'string' || second.replaceAll('`', '') === value) return [];
        return [`${path}:${i + 1}: ${name} is ${value}, not ${second}`];
      });
  });
}

/** `422 `invalid_filter``, or a row of a table: an error with another status than its own. */
const STATUS = /\b([45]\d\d),? `(\w+)`|^\| `(\w+)(?:@…)?` \| ([45]\d\d) \|/gm;

export const otherStatuses = (): string[] =>
  PAGES.filter((path) => path !== 'CHANGELOG.md').flatMap((path) =>
    [...read(path).matchAll(STATUS)].flatMap(([text, status, code = '', named = code, listed = status]) =>
      isErrorCode(named) && ERRORS[named].status !== Number(listed) ? [`${path}: ${text}`] : [],
    ),
  );

/** Paths of the repository, with the folder that they begin in. */
const FOLDERS = new Set(tracked.filter((path) => path.includes('/')).map((path) => path.slice(0, path.indexOf('/'))));
const present = (path: string): boolean => existsSync(join(ROOT, path.replace(/[/…]+$/, '')));

export const unknownPaths = (): string[] =>
  unless(
    all(({ spans }) => spans).filter(({ text }) => {
      const [, folder = ''] = /^([\w.-]+)\/[\w./-]*$/.exec(text) ?? [];
      return FOLDERS.has(folder);
    }),
    (text) => elsewhere.has(text) || present(text),
  );

export function brokenLinks(): string[] {
  return all(({ links }) => links).flatMap(({ at, text }) => {
    const page = at.slice(0, at.lastIndexOf(':'));
    const [target = '', anchor] = text.split('#');
    const file = target === '' ? page : posix.normalize(posix.join(posix.dirname(page), target));
    if (!present(file)) return [`${at}: ${text}`];
    return anchor === undefined || !file.endsWith('.md') || anchorsOf(file).has(anchor) ? [] : [`${at}: ${text}`];
  });
}

/** As GitHub makes them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const found = new Set([...read(page).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id));
  for (const [, title = ''] of read(page)
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .matchAll(/^#+ (.+)$/gm)) {
    const plain = title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll('`', '')
      .trim()
      .toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let name = slug;
    for (let i = 1; found.has(name); i++) name = `${slug}-${i}`;
    found.add(name);
  }
  return found;
}

export function unknownScripts(): string[] {
  const scripts: ReadonlySet<string> = new Set(
    tracked
      .filter((path) => /(?:^|\/)package\.json$/.test(path))
      .flatMap((path) => Object.keys(JSON.parse(read(path)).scripts ?? {})),
  );
  const named = [...all(({ spans }) => spans), ...all(({ shell }) => shell)].flatMap(({ at, text }) =>
    [...text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => ({ at, text: name })),
  );
  return unless(named, (name) => scripts.has(name));
}

/** Each path of the service, with what stands for a parameter in it, and what a vendor's contract has at the root. */
const SERVED = [...ROUTES, ...rootRoutes(COMPAT_VENDORS, [])].map(({ method, path }) => ({
  method,
  parts: path.split('/').slice(1),
}));
const FIRST_PARTS = new Set(SERVED.map(({ parts }) => parts[0]));
const isParameter = (part: string | undefined): boolean => /^[:*{<…]/.test(part ?? '');

function isServed(method: string | undefined, path: string): boolean {
  const asked = path.split('/').slice(1);
  const isBeginning = method === undefined || asked.at(-1) === '…';
  return SERVED.some(({ method: own, parts }) => {
    const isLongEnough = parts.length === asked.length || isBeginning || isParameter(parts.at(-1));
    const same = asked.every(
      (part, i) => part === parts[i] || part === '' || isParameter(part) || isParameter(parts[i]),
    );
    return isLongEnough && same && (method === undefined || own === method);
  });
}

/** Requests and paths that no route serves; a path alone may be one of a file system, or of a page of the dashboard. */
export const unknownRoutes = (): string[] =>
  unless(
    all(({ spans }) => spans).filter(({ text }) => REQUEST.test(text) && !elsewhere.has(text)),
    (text) => {
      const [, method, path = ''] = REQUEST.exec(text) ?? [];
      return (method === undefined && !FIRST_PARTS.has(path.split('/')[1])) || isServed(method, path);
    },
  );
const REQUEST = /^(?:(GET|POST|PUT|PATCH|DELETE) )?(\/[\w/:{}<>.…-]*)(?:\?.*)?$/;
