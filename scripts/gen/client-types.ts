import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DASHBOARD_ROUTES } from '../../src/http/dashboard/table.ts';
import { dashboardDocument, publicDocument } from '../../src/http/openapi.ts';
import { V1_ROUTES } from '../../src/http/routes.ts';
import { readDocument } from '../../web/src/pages/reference/document.ts';
import { ROOT } from '../fresh.mjs';
import { apiTypes } from './api-types.ts';
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
    // A package has its own.
    ...Object.fromEntries(['python', 'php'].map((name) => [`clients/${name}/LICENSE`, license])),
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
