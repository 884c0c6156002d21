import { curl } from '../../parts/curl.ts';
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
import { javascript, python } from './literals.ts';
import { callOf } from './typescript.ts';

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
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
  Python: ({ method, url, key, body, upload, file }) =>
    [
      ...(key === null ? ['import os', ''] : []),
      'import requests',
      '',
      `response = requests.${method.toLowerCase()}(`,
      `    ${python(url)},`,
      `    headers={"Authorization": ${key === null ? `f"Bearer {os.environ['MAILVET_KEY']}"` : python(`Bearer ${key}`)}${
        upload ? `, "Content-Type": ${python(upload.type)}` : ''
      }},`,
      ...(upload === undefined ? [] : [`    data=open(${python(upload.file)}, "rb"),`]),
      ...(body === undefined ? [] : [`    json=${python(body)},`]),
      // A check may take 30 seconds.
      '    timeout=35,',
      ')',
      'response.raise_for_status()',
      ...(file === undefined
        ? ['print(response.json())']
        : [`with open(${python(file)}, "wb") as file:`, '    file.write(response.content)']),
    ].join('\n'),
};

/** A program that verifies an address, with the key of the environment. */
export const verifySample = (language: Language, origin: string, email: string): string =>
  WRITERS[language]({
    operationId: 'verify',
    method: 'POST',
    url: `${origin}/v1/verify`,
    origin,
    key: null,
    id: '',
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
    body: bodyExample(operation),
    upload: type === null ? undefined : { file: FILES[operation.operationId] ?? 'addresses.csv', type },
    file: 'text/csv' in content ? (FILES[operation.operationId] ?? 'results.csv') : undefined,
  });
}

/** What the file of an operation is called, if it has no addresses or results. */
const FILES: Readonly<Record<string, string>> = {
  importFilters: 'filters.csv',
  exportFilters: 'filters.csv',
  reportOutcomeMessage: 'bounce.eml',
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
