import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DASHBOARD_ROUTES } from '../../src/http/dashboard/table.ts';
import { dashboardDocument, publicDocument } from '../../src/http/openapi.ts';
import { V1_ROUTES } from '../../src/http/routes.ts';
import { readDocument } from '../../web/src/pages/reference/document.ts';
import { ROOT } from '../fresh.mjs';
import { type ApiTypes, apiTypes } from './api-types.ts';
import { n8nFiles } from './n8n.ts';
import { DEFAULT_URL } from './openapi-files.ts';
import { phpFiles } from './php.ts';
import { pythonFiles } from './python.ts';

/**
 * Generates the types of the published clients and of the dashboard's client from the server's OpenAPI documents. The
 * generator for TypeScript is a command of the sdk workspace, because it needs its own TypeScript version.
 */
export async function clientTypes(): Promise<Record<string, string>> {
  const document = publicDocument(V1_ROUTES, DEFAULT_URL);
  const types = apiTypes(readDocument(JSON.parse(JSON.stringify(document))));
  const license = readFileSync(join(ROOT, 'LICENSE'), 'utf8');
  return {
    ...pythonFiles(types),
    ...phpFiles(types),
    ...n8nFiles(types),
    // A package has its own.
    ...Object.fromEntries(['python', 'php', 'n8n'].map((name) => [`clients/${name}/LICENSE`, license])),
    'web/src/pages/reference/client-calls.ts': clientCalls(types),
    'sdk/src/schema.ts': typesOf(document),
    'web/src/api/schema.ts': typesOf(dashboardDocument(DASHBOARD_ROUTES, DEFAULT_URL)),
  };
}

function typesOf(document: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'mailvet-types-'));
  try {
    const [source, made] = [join(folder, 'openapi.json'), join(folder, 'schema.ts')];
    writeFileSync(source, JSON.stringify(document));
    const command = join(ROOT, 'sdk/node_modules/openapi-typescript/bin/cli.js');
    const flags = ['--root-types', '--root-types-no-schema-prefix', '--alphabetize=false'];
    execFileSync(process.execPath, [command, source, '-o', made, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
    return readFileSync(made, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The calls of the clients in other languages than TypeScript, for the samples of the API reference. */
function clientCalls({ calls }: ApiTypes): string {
  const rows = calls.map(({ operationId, name, parameters, body, reply }) => {
    const kind = Array.isArray(body) ? 'fields' : body;
    const call = {
      // What is wrapped by hand has the name without the underscore.
      name: name.replace('._', '.'),
      parameters: parameters.map((parameter) => parameter.name),
      body: kind,
      isFile: reply.kind === 'file',
    };
    return `  ${operationId}: ${JSON.stringify(call)},\n`;
  });
  return `// Generated from the OpenAPI document by \`npm run gen\`; edit the contract or scripts/gen/client-types.ts.

interface ClientCall {
  readonly name: string;
  /** Of the path, in its order. */
  readonly parameters: readonly string[];
  readonly body: string | null;
  readonly isFile: boolean;
}

/** By operation. Operations of the service's operators have none. */
export const CLIENT_CALLS: Readonly<Record<string, ClientCall>> = {
${rows.join('')}};
`;
}
