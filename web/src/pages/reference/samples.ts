import { curl } from '../../parts/curl.ts';
import { CLIENT_CALLS } from './client-calls.ts';
import {
  type ApiDocument,
  bodyExample,
  type Entry,
  exampleId,
  examplePath,
  queryExample,
  successOf,
  uploadType,
} from './document.ts';
import { javascript, php, python } from './literals.ts';
import { callOf } from './typescript.ts';

export const LANGUAGES = ['curl', 'TypeScript', 'Python', 'PHP'] as const;
export type Language = (typeof LANGUAGES)[number];

/** What a sample sends, with the examples of the document. */
interface Sample {
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  /** Of the service. */
  readonly origin: string;
  /** Null: read from the environment. */
  readonly key: string | null;
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  /** Undefined: none. */
  readonly body: unknown;
  /** The file that is sent, in place of a body in JSON. */
  readonly upload: { readonly file: string; readonly type: string } | undefined;
  /** The file for a reply that is one. */
  readonly file: string | undefined;
}

const WRITERS: Readonly<Record<Language, (sample: Sample) => string>> = {
  curl: ({ method, url, key, body, upload, file }) =>
    curl({ method, url, key, body, upload, ...(file && { output: file }) }),
  TypeScript: ({ operationId, origin, key, id, body }) => {
    const { imports = [], lines } = callOf(operationId, id, body);
    const options = `{ url: ${javascript(origin)}, key: ${key === null ? 'process.env.MAILVET_KEY' : javascript(key)} }`;
    return [
      ...imports,
      "import { createMailvet } from '@mailvet/client';",
      '',
      `const mailvet = createMailvet(${options});`,
      '',
      ...lines,
    ].join('\n');
  },
  Python: (sample) => {
    const { operationId, origin, key, file } = sample;
    const call = CLIENT_CALLS[operationId];
    if (call === undefined) return pythonRequest(sample);
    const [service = '', method = ''] = call.name.includes('.') ? call.name.split('.') : ['', call.name];
    const name = [...(service === '' ? [] : [service]), method === 'import' ? 'import_' : method].join('.');
    const given = argumentsOf(sample, call, {
      ...{ literal: python, named: (field) => `${field}=` },
      ...{ upload: (path) => python(path), message: (path) => `open(${python(path)}, "rb").read()` },
    });
    const called = `mailvet.${name}${parenthesized(given, '    ')}`;
    const lines = call.isFile
      ? [`${called}.save(${python(file ?? 'results.csv')})`]
      : operationId === ITERATED
        ? [`for row in ${called}:`, '    print(row)']
        : [`print(${called})`];
    return [
      ...(key === null ? ['import os', ''] : []),
      'from mailvet import Client',
      '',
      `mailvet = Client(${python(origin)}, ${key === null ? 'os.environ["MAILVET_KEY"]' : python(key)})`,
      ...lines,
    ].join('\n');
  },
  PHP: (sample) => {
    const { operationId, origin, key, file } = sample;
    const call = CLIENT_CALLS[operationId];
    const from = key === null ? "getenv('MAILVET_KEY')" : php(key);
    if (call === undefined) return phpRequest(sample, from);
    const given = argumentsOf(sample, call, {
      ...{ literal: php, named: (field) => `${camelCase(field)}: ` },
      ...{ upload: php, message: (path) => `file_get_contents(${php(path)})` },
    });
    if (call.isFile) given.push(`to: fopen(${php(file ?? 'results.csv')}, 'wb')`);
    const called = `$mailvet->${camelCase(call.name.replace('.', '->'))}${parenthesized(given, '    ')}`;
    const lines = call.isFile
      ? [`${called};`]
      : operationId === ITERATED
        ? [`foreach (${called} as $row) {`, '    print_r($row);', '}']
        : [`print_r(${called});`];
    return [
      '<?php',
      '',
      "require 'vendor/autoload.php';",
      '',
      `$mailvet = new Mailvet\\Client(${php(origin)}, ${from});`,
      ...lines,
    ].join('\n');
  },
};

const MESSAGE_FILE = 'bounce.eml';

/** Its call goes through all pages. */
const ITERATED = 'listRows';

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** On one line where they fit. */
function parenthesized(given: readonly string[], indent: string): string {
  const short = given.join(', ');
  if (short.length < 60 && !short.includes('\n')) return `(${short})`;
  return `(\n${given.map((one) => `${indent}${one},\n`).join('')})`;
}

/** Of the call of a client: what is in the path, then a file, then fields of the body and the query by name. */
function argumentsOf(
  { id, query, body, upload }: Sample,
  call: (typeof CLIENT_CALLS)[string],
  write: {
    readonly literal: (value: unknown) => string;
    readonly named: (field: string) => string;
    readonly upload: (path: string) => string;
    readonly message: (path: string) => string;
  },
): string[] {
  const plain = (text: string): unknown => (/^\d+$/.test(text) ? Number(text) : text);
  const fields = typeof body === 'object' && body !== null && call.body === 'fields' ? Object.entries(body) : [];
  const named = [...fields, ...Object.entries(query).map(([name, text]) => [name, plain(text)] as const)];
  return [
    ...call.parameters.map(() => write.literal(plain(id))),
    ...(call.body === 'message' ? [write.message(MESSAGE_FILE)] : []),
    ...(call.body === 'upload' && upload !== undefined ? [write.upload(upload.file)] : []),
    ...named.map(([name, value]) => `${write.named(name)}${write.literal(value)}`),
  ];
}

/** Without the client, which has no operations of operators. */
const pythonRequest = ({ method, url, key, body }: Sample): string =>
  [
    ...(key === null ? ['import os', ''] : []),
    'import httpx',
    '',
    'response = httpx.request(',
    `    ${python(method)},`,
    `    ${python(url)},`,
    `    headers={"Authorization": ${key === null ? `f"Bearer {os.environ['MAILVET_KEY']}"` : python(`Bearer ${key}`)}},`,
    ...(body === undefined ? [] : [`    json=${python(body)},`]),
    '    timeout=35,',
    ')',
    'response.raise_for_status()',
    'print(response.json())',
  ].join('\n');

const phpRequest = ({ method, url, body }: Sample, key: string): string =>
  [
    '<?php',
    '',
    `$curl = curl_init(${php(url)});`,
    'curl_setopt_array($curl, [',
    `    CURLOPT_CUSTOMREQUEST => ${php(method)},`,
    `    CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . ${key}, 'Content-Type: application/json'],`,
    ...(body === undefined ? [] : [`    CURLOPT_POSTFIELDS => json_encode(${php(body)}),`]),
    '    CURLOPT_RETURNTRANSFER => true,',
    ']);',
    '$reply = curl_exec($curl);',
    'if (curl_getinfo($curl, CURLINFO_RESPONSE_CODE) >= 400) {',
    '    throw new Exception($reply);',
    '}',
    'echo $reply, "\\n";',
  ].join('\n');

/** A program that verifies an address, with the key of the environment. */
export const verifySample = (language: Language, origin: string, email: string): string =>
  WRITERS[language]({
    operationId: 'verify',
    method: 'POST',
    url: `${origin}/v1/verify`,
    origin,
    key: null,
    id: '',
    query: {},
    body: { email },
    upload: undefined,
    file: undefined,
  });

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
  const id = exampleId(document, entry) ?? '';
  const type = uploadType(operation);
  const content = successOf(operation)?.[1].content ?? {};
  return WRITERS[language]({
    operationId: operation.operationId,
    method,
    url: origin + examplePath(document, entry) + queryExample(operation),
    origin,
    key,
    id,
    query: Object.fromEntries(new URLSearchParams(queryExample(operation))),
    body: bodyExample(operation),
    upload: type === null ? undefined : { file: FILES[operation.operationId] ?? 'addresses.csv', type },
    file: 'text/csv' in content ? (FILES[operation.operationId] ?? 'results.csv') : undefined,
  });
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
