import { curl } from '../../parts/curl.ts';
import { CLIENT_CALLS } from './client-calls.ts';
import {
  type ApiDocument,
  bodyExample,
  type Entry,
  exampleIds,
  examplePath,
  queryExample,
  successOf,
  uploadType,
} from './document.ts';
import { javascript, php, python, Variable } from './literals.ts';
import { callOf } from './typescript.ts';

/** The languages of the clients. */
export const CLIENT_LANGUAGES = ['TypeScript', 'Python', 'PHP'] as const;
export type ClientLanguage = (typeof CLIENT_LANGUAGES)[number];

export const LANGUAGES = ['curl', ...CLIENT_LANGUAGES] as const;
export type Language = (typeof LANGUAGES)[number];

/** A request of a sample. Its values may be variables of the environment. */
export interface SampleRequest {
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  /** The parameters of the path, in its order. */
  readonly ids: readonly unknown[];
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined: none. */
  readonly body: unknown;
  /** The file that is sent in place of a body in JSON, or addresses in its place. */
  readonly upload: string | readonly string[];
  /** Where a reply that is a file is written; undefined: it is printed. */
  readonly file: string | undefined;
  readonly idempotencyKey?: string;
  /** What it does, on a line before it. */
  readonly comment?: string;
}

/** Where a sample sends its requests, and with which key. */
interface Access {
  readonly origin: string;
  readonly key: string | Variable;
}

const PROGRAMS: Readonly<Record<ClientLanguage, (requests: readonly SampleRequest[], access: Access) => string>> = {
  TypeScript: (requests, { origin, key }) => {
    const calls = requests.map(({ operationId, body, idempotencyKey, comment, ...rest }) => {
      const options = idempotencyKey === undefined ? {} : { idempotencyKey };
      const { imports = [], lines } = callOf(operationId, { ...rest, options, body: fieldsOf(body) });
      return { imports, lines: [...(comment === undefined ? [] : [`// ${comment}`]), ...lines] };
    });
    return [
      ...new Set(calls.flatMap(({ imports }) => imports)),
      "import { createMailvet } from '@mailvet/client';",
      '',
      `const mailvet = createMailvet({ url: ${javascript(origin)}, key: ${javascript(key)} });`,
      '',
      ...calls.flatMap(({ lines }) => lines),
    ].join('\n');
  },
  Python: (requests, { origin, key }) => {
    const lines = requests.flatMap((request) => [
      ...(request.comment === undefined ? [] : [`# ${request.comment}`]),
      ...pythonCall(request),
    ]);
    const made = `mailvet = Client(${python(origin)}, ${python(key)})`;
    const needsOs = [made, ...lines].some((line) => line.includes('os.environ'));
    return [...(needsOs ? ['import os', ''] : []), 'from mailvet import Client', '', made, ...lines].join('\n');
  },
  PHP: (requests, { origin, key }) =>
    [
      '<?php',
      '',
      "require 'vendor/autoload.php';",
      '',
      `$mailvet = new Mailvet\\Client(${php(origin)}, ${php(key)});`,
      ...requests.flatMap((request) => [
        ...(request.comment === undefined ? [] : [`// ${request.comment}`]),
        ...phpCall(request),
      ]),
    ].join('\n'),
};

/** A program that makes the requests with the client of the language. */
export const programOf = (language: ClientLanguage, requests: readonly SampleRequest[], access: Access): string =>
  PROGRAMS[language](requests, access);

function pythonCall(request: SampleRequest): string[] {
  const { operationId, file } = request;
  const { name, isFile } = clientCall(request);
  const given = argumentsOf(request, {
    literal: python,
    named: (field) => `${field}=`,
    message: (path) => `open(${python(path)}, "rb").read()`,
  });
  // `import` is a word of the language.
  const called = `mailvet.${name.replace(/\.import$/, '.import_')}${parenthesized(given, '    ')}`;
  if (isFile) return [file === undefined ? `print(${called}.read().decode())` : `${called}.save(${python(file)})`];
  return operationId === ITERATED ? [`for row in ${called}:`, '    print(row)'] : [`print(${called})`];
}

function phpCall(request: SampleRequest): string[] {
  const { operationId, file } = request;
  const { name, isFile } = clientCall(request);
  const given = argumentsOf(request, {
    literal: php,
    named: (field) => `${camelCase(field)}: `,
    message: (path) => `file_get_contents(${php(path)})`,
  });
  if (isFile && file !== undefined) given.push(`to: fopen(${php(file)}, 'wb')`);
  const called = `$mailvet->${camelCase(name.replace('.', '->'))}${parenthesized(given, '    ')}`;
  if (isFile) return [file === undefined ? `echo stream_get_contents(${called});` : `${called};`];
  return operationId === ITERATED
    ? [`foreach (${called} as $row) {`, '    print_r($row);', '}']
    : [`print_r(${called});`];
}

/** Those of operators have none in Python and PHP. */
const hasCall = (language: ClientLanguage, { operationId }: SampleRequest): boolean =>
  language === 'TypeScript' || CLIENT_CALLS[operationId] !== undefined;

function clientCall({ operationId, query }: SampleRequest): (typeof CLIENT_CALLS)[string] {
  const call = CLIENT_CALLS[operationId];
  if (call === undefined) throw new Error(`The clients have no call for ${operationId}.`);
  // A whole scope is another call than one mailbox.
  return operationId === 'forgetSeen' && query.email === undefined ? { ...call, name: 'seen.forget_scope' } : call;
}

const MESSAGE_FILE = 'bounce.eml';

/** Its call goes through all pages. */
const ITERATED = 'listRows';

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null ? { ...body } : {};

/** On one line where they fit. */
function parenthesized(given: readonly string[], indent: string): string {
  const short = given.join(', ');
  if (short.length < 60 && !short.includes('\n')) return `(${short})`;
  return `(\n${given.map((one) => `${indent}${one},\n`).join('')})`;
}

/** Of the call of a client: what is in the path, then a file, then fields of the body and the query by name. */
function argumentsOf(
  request: SampleRequest,
  write: {
    readonly literal: (value: unknown) => string;
    readonly named: (field: string) => string;
    readonly message: (path: string) => string;
  },
): string[] {
  const { ids, query, body, upload, idempotencyKey } = request;
  const call = clientCall(request);
  const named = [
    ...Object.entries(call.body === 'fields' ? fieldsOf(body) : {}),
    ...Object.entries(query),
    ...(idempotencyKey === undefined ? [] : [['idempotency_key', idempotencyKey] as const]),
  ];
  return [
    ...ids.map(write.literal),
    ...(call.body === 'message' ? [write.message(String(upload))] : []),
    ...(call.body === 'upload' ? [write.literal(upload)] : []),
    ...named.map(([name, value]) => `${write.named(name)}${write.literal(value)}`),
  ];
}

/** Without the client, which has no operations of operators. */
const pythonRequest = ({ method, url, body }: SampleRequest, key: string | Variable): string =>
  [
    ...(key instanceof Variable ? ['import os', ''] : []),
    'import httpx',
    '',
    'response = httpx.request(',
    `    ${python(method)},`,
    `    ${python(url)},`,
    `    headers={"Authorization": ${key instanceof Variable ? `f"Bearer {os.environ['${key.name}']}"` : python(`Bearer ${key}`)}},`,
    ...(body === undefined ? [] : [`    json=${python(body)},`]),
    '    timeout=35,',
    ')',
    'response.raise_for_status()',
    'print(response.json())',
  ].join('\n');

const phpRequest = ({ method, url, body }: SampleRequest, key: string | Variable): string =>
  [
    '<?php',
    '',
    `$curl = curl_init(${php(url)});`,
    'curl_setopt_array($curl, [',
    `    CURLOPT_CUSTOMREQUEST => ${php(method)},`,
    `    CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . ${php(key)}, 'Content-Type: application/json'],`,
    ...(body === undefined ? [] : [`    CURLOPT_POSTFIELDS => json_encode(${php(body)}),`]),
    '    CURLOPT_RETURNTRANSFER => true,',
    ']);',
    '$reply = curl_exec($curl);',
    'if (curl_getinfo($curl, CURLINFO_RESPONSE_CODE) >= 400) {',
    '    throw new Exception($reply);',
    '}',
    'echo $reply, "\\n";',
  ].join('\n');

/** The key in the environment. */
const KEY = new Variable('MAILVET_KEY');

/** A program that verifies an address, with the key of the environment. */
export function verifySample(language: Language, origin: string, email: string): string {
  const request = { method: 'POST', url: `${origin}/v1/verify`, body: { email } };
  if (language === 'curl') return curl({ ...request, key: null });
  const sent = { ...request, operationId: 'verify', ids: [], query: {}, upload: '', file: undefined };
  return programOf(language, [sent], { origin, key: KEY });
}

/**
 * A program that makes the request of the entry to the service at `origin`. `key`: null to read it from the
 * environment.
 */
export function sampleOf(
  language: Language,
  document: ApiDocument,
  entry: Entry,
  origin: string,
  key: string | null,
): string {
  const { method, operation } = entry;
  const { operationId } = operation;
  const type = uploadType(operation);
  const content = successOf(operation)?.[1].content ?? {};
  const url = origin + examplePath(document, entry) + queryExample(operation);
  const body = bodyExample(operation);
  const upload = FILES[operationId] ?? 'addresses.csv';
  const file = 'text/csv' in content ? (FILES[operationId] ?? 'results.csv') : undefined;
  if (language === 'curl') {
    const sent = type === null ? {} : { upload: { file: upload, type } };
    return curl({ method, url, key, body, ...sent, ...(file && { output: file }) });
  }
  const query = Object.fromEntries([...new URLSearchParams(queryExample(operation))].map(([k, v]) => [k, typed(v)]));
  const ids = exampleIds(document, entry).map(typed);
  const request = { operationId, method, url, ids, query, body, upload, file };
  if (hasCall(language, request)) return programOf(language, [request], { origin, key: key ?? KEY });
  return (language === 'Python' ? pythonRequest : phpRequest)(request, key ?? KEY);
}

/** What a text of a URL stands for. */
export function typed(text: string): string | number | boolean {
  if (/^\d+$/.test(text)) return Number(text);
  return text === 'true' || (text !== 'false' && text);
}

/** What the file of an operation is called, if it has no addresses or results. */
const FILES: Readonly<Record<string, string>> = {
  importFilters: 'filters.csv',
  exportFilters: 'filters.csv',
  reportOutcomeMessage: MESSAGE_FILE,
};

/** A server that receives events and checks their signature. */
export const RECEIVER = `import { createServer } from 'node:http';
import { verifyWebhook } from '@mailvet/client';

createServer(async (request, reply) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = await verifyWebhook(
      Buffer.concat(chunks),
      request.headers,
      process.env.MAILVET_WEBHOOK_SECRET,
    );
    console.log(event.type, event.data);
    reply.writeHead(204).end();
  } catch {
    reply.writeHead(400).end();
  }
}).listen(3000);`;
