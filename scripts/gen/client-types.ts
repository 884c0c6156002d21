import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildDashboardApi } from '../../src/http/dashboard/openapi.ts';
import { buildOpenApi } from '../../src/http/openapi.ts';
import { ROOT } from '../fresh.mjs';

/**
 * The types of the published client and of the dashboard's, from the documents that the server makes. The generator is a
 * command of the sdk workspace, as it needs a TypeScript of its own.
 */
export async function clientTypes(): Promise<Record<string, string>> {
  const dashboard = buildDashboardApi();
  return {
    'sdk/src/schema.ts': typesOf(await buildOpenApi()),
    'web/openapi.json': `${JSON.stringify(dashboard, null, 2)}\n`,
    'web/src/api/schema.ts': typesOf(dashboard),
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
