/**
 * The guide shows requests in all languages of the clients. The pages have them as curl commands, of which the tabs are
 * made: the command as it is, and programs that make the same requests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, entries, readDocument } from '../../web/src/pages/reference/document.ts';
import { Variable } from '../../web/src/pages/reference/literals.ts';
import {
  CLIENT_LANGUAGES,
  type ClientLanguage,
  programOf,
  type SampleRequest,
  typed,
} from '../../web/src/pages/reference/samples.ts';
import { ROOT } from '../fresh.mjs';

/** Where the pages have the service. */
const ORIGIN = 'http://127.0.0.1:8025';

/** After a fence: the language of the highlighting, and the label of the tab. */
const FENCES: Readonly<Record<ClientLanguage, string>> = {
  // They run without types as well.
  TypeScript: 'js [TypeScript]',
  Python: 'python [Python]',
  PHP: 'php [PHP]',
};

/** Shell commands of a page, but for those that are in a tab. */
const SHELL = /^```sh\n([\s\S]*?)^```$/gm;

const OPERATIONS = entries(readDocument(JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')))).filter(
  ({ kind }) => kind === 'operation',
);

/** A workflow among the tabs: a link on a line of its own. */
const WORKFLOW = /^\[n8n\]\(\.\.\/(clients\/n8n\/workflows\/[\w-]+\.json)\)$/gm;

const withWorkflows = (page: string): string =>
  page.replace(WORKFLOW, (_, path: string) => fenced('json [n8n]', readFileSync(join(ROOT, path), 'utf8').trimEnd()));

/** A page with tabs in place of its requests to the API. Throws Error for a request that no program can make. */
export const withTabs = (page: string): string =>
  withWorkflows(page).replace(SHELL, (block: string, commands: string) => {
    const programs = programsOf(commands);
    if (programs === null) return block;
    const tabs = programs.map(([language, code]) => fenced(FENCES[language], code));
    return ['::: code-group', fenced('sh [curl]', commands.trimEnd()), ...tabs, ':::'].join('\n\n');
  });

const fenced = (info: string, code: string): string => `\`\`\`${info}\n${code}\n\`\`\``;

/** The programs that do what the commands do, in each language; null where one of those is no request to the API. */
function programsOf(commands: string): (readonly [ClientLanguage, string])[] | null {
  const found = commandsOf(commands);
  if (!found.every(({ words }) => words[0] === 'curl' && words.some((word) => word.startsWith(`${ORIGIN}/v1/`))))
    return null;
  const requests = found.map(({ words, comment }) => ({ ...requestOf(words), ...(comment && { comment }) }));
  const [{ key } = { key: '' }] = requests;
  if (requests.some((request) => request.key !== key))
    throw new Error(`These requests have several keys, and a program has one:\n${commands}`);
  const access = { origin: ORIGIN, key: new Variable(key) };
  return CLIENT_LANGUAGES.map((language) => [language, programOf(language, requests, access)]);
}

interface Command {
  readonly words: readonly string[];
  /** The line before it. */
  readonly comment?: string;
}

/** A word of a command: parts in quotes and parts without, the end of a line, or a comment. */
const TOKEN = /(?:'[^']*'|"[^"]*"|[^\s'"\\])+|\\\n|\n|[^\S\n]+/g;

/** Of a shell, with the variables as they are. */
function commandsOf(text: string): readonly Command[] {
  const commands: Command[] = [];
  let words: string[] = [];
  let comment: string | undefined;
  const end = (): void => {
    if (words[0] === '#') comment = words.slice(1).join(' ');
    else if (words.length > 0) {
      commands.push({ words, ...(comment && { comment }) });
      comment = undefined;
    }
    words = [];
  };
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '\n') end();
    else if (token.trim() !== '' && token !== '\\\n') words.push(token.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  end();
  return commands;
}

interface CurlCommand {
  method?: string;
  url: string;
  key: string;
  idempotencyKey?: string;
  body?: Readonly<Record<string, unknown>>;
  readonly fields: Record<string, unknown>;
  upload?: string;
  file?: string;
}

type Option = (command: CurlCommand, value: string) => void;

const HEADERS: Readonly<Record<string, Option>> = {
  authorization: (command, value) => (command.key = value.replace('Bearer $', '')),
  'content-type': () => {},
  'idempotency-key': (command, value) => (command.idempotencyKey = value),
};

const OPTIONS: Readonly<Record<string, Option>> = {
  '-X': (command, value) => (command.method = value),
  '-H': (command, value) => {
    const [name = '', ...rest] = value.split(': ');
    found(HEADERS, name.toLowerCase(), 'header')(command, rest.join(': '));
  },
  '-d': (command, value) => (command.body = JSON.parse(value)),
  '-F': (command, value) => {
    const [name = '', text = ''] = value.split('=');
    if (text.startsWith('@')) command.upload = text.slice(1);
    else command.fields[name] = typed(text);
  },
  '--data-binary': (command, value) => (command.upload = value.slice(1)),
  '-o': (command, value) => (command.file = value),
};

function found<T>(table: Readonly<Record<string, T>>, name: string, what: string): T {
  const value = table[name];
  if (value === undefined) throw new Error(`scripts/build/guide-tabs.ts does not know the ${what} ${name} of curl.`);
  return value;
}

/** What the words after `curl` say. */
function readCurl([, ...words]: readonly string[]): CurlCommand {
  const command: CurlCommand = { url: '', key: '', fields: {} };
  let option: Option | null = null;
  for (const word of words) {
    if (option !== null) {
      option(command, word);
      option = null;
    } else if (!word.startsWith('-')) command.url = word;
    else if (word !== '-s') option = found(OPTIONS, word, 'option');
  }
  return command;
}

/** The clients fetch all pages of rows. */
const PAGING = ['limit', 'after'];

function requestOf(words: readonly string[]): SampleRequest & { readonly key: string } {
  const { method: given, url, key, idempotencyKey, body, fields, upload, file } = readCurl(words);
  const method = given ?? (body === undefined && upload === undefined ? 'GET' : 'POST');
  const [path = '', search = ''] = url.slice(ORIGIN.length).split('?');
  const { operation, ids } = operationOf(method, path);
  const { operationId } = operation;
  const asked = [...new URLSearchParams(search)].map(([name, text]) => [name, typed(text)] as const);
  const query = asked.filter(([name]) => operationId !== 'listRows' || !PAGING.includes(name));
  const request = {
    operationId,
    method,
    url,
    ids,
    key,
    file,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  // The clients take addresses in place of a file.
  if (operationId === 'createList' && body !== undefined) {
    const { emails, ...rest } = body;
    if (!Array.isArray(emails)) throw new Error(`There are no addresses in ${JSON.stringify(body)}.`);
    return { ...request, query: rest, body: undefined, upload: emails };
  }
  return { ...request, query: { ...Object.fromEntries(query), ...fields }, body, upload: upload ?? '' };
}

/** The operation of a request, and what its path has in place of the parameters. */
function operationOf(method: string, path: string): Pick<Entry, 'operation'> & { readonly ids: readonly unknown[] } {
  const parts = path.split('/');
  for (const entry of OPERATIONS) {
    const template = entry.path.split('/');
    const fits = template.every((part, n) => part === parts[n] || (part.startsWith('{') && parts[n] !== undefined));
    if (entry.method !== method || template.length !== parts.length || !fits) continue;
    const given = parts.filter((_, n) => template[n]?.startsWith('{'));
    const ids = given.map((part) => (part.startsWith('$') ? new Variable(part.slice(1)) : typed(part)));
    return { operation: entry.operation, ids };
  }
  throw new Error(`There is no operation ${method} ${path}.`);
}
