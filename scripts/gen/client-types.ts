import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DASHBOARD_ROUTES } from '../../src/http/dashboard/table.ts';
import { dashboardDocument, publicDocument } from '../../src/http/openapi.ts';
import { V1_ROUTES } from '../../src/http/routes.ts';
import { ROOT } from '../fresh.mjs';
import { DEFAULT_URL } from './openapi-files.ts';

/**
 * Generates the types of the published client and of the dashboard's client from the server's OpenAPI documents. The
 * generator is a command of the sdk workspace, because it needs its own TypeScript version.
 */
export async function clientTypes(): Promise<Record<string, string>> {
  return {
    'sdk/src/schema.ts': typesOf(publicDocument(V1_ROUTES, DEFAULT_URL)),
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
