/** The document of the API as others use it: with the three common generators of TypeScript clients. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DASHBOARD_ROUTES } from '../../src/http/dashboard/table.ts';
import { dashboardDocument, publicDocument } from '../../src/http/openapi.ts';
import { V1_ROUTES } from '../../src/http/routes.ts';
import { WEBHOOK_EVENT_TYPES } from '../../src/kernel/facts/events.ts';
import { readDocument } from '../../web/src/pages/reference/document.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const document = JSON.parse(JSON.stringify(publicDocument(V1_ROUTES, 'http://127.0.0.1:8025')));
const dashboard = JSON.parse(JSON.stringify(dashboardDocument(DASHBOARD_ROUTES, 'http://127.0.0.1:8025')));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailvet-clients-'));
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
});
afterAll(() => rm(folder, { recursive: true }));

/** The generators use the compiler's JavaScript API, which TypeScript 7 no longer has. */
const COMPILER = join(ROOT, 'sdk/node_modules/typescript/lib/typescript.js');
const hook = `import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => next(name === 'typescript' ? ${JSON.stringify(pathToFileURL(COMPILER).href)} : name, context) });`;
const generate = (command: string, ...args: string[]) =>
  run(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, join(ROOT, command), ...args],
    {
      cwd: folder,
    },
  );

const USES = {
  'types-use.ts': `import type { components, paths } from './types.ts';
const body: components['schemas']['VerifyRequest'] = { email: 'a@example.com' };
type Reply = paths['/v1/verify']['post']['responses'][200]['content']['application/json'];
export const reasonOf = ({ reason }: Reply): components['schemas']['Reason'] | null => reason;
export const bodies = [body];`,
  'hey-use.ts': `import { usage, verify } from './hey/index.ts';
export const used = async () => {
  const { data, error } = await verify({ body: { email: 'a@example.com' } });
  await usage();
  return data === undefined ? error.code : data.warnings;
};`,
  'orval-use.ts': `import { verify } from './orval/api.ts';
export const used = async (): Promise<string[]> => {
  const reply = await verify({ email: 'a@example.com' });
  return reply.status === 200 ? reply.data.warnings : [reply.data.code];
};`,
};

it('makes clients that compile, with names for what is repeated', { timeout: 180_000 }, async () => {
  await generate('sdk/node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'types.ts');
  await generate('node_modules/@hey-api/openapi-ts/dist/run.mjs', '-i', 'openapi.json', '-o', 'hey', '--no-log-file');
  const orval = {
    api: { input: './openapi.json', output: { target: './orval/api.ts', client: 'fetch', mode: 'split' } },
  };
  await writeFile(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(orval)};`);
  await generate('sdk/node_modules/orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs');
  for (const [name, text] of Object.entries(USES)) await writeFile(join(folder, name), text);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
  };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*.ts', 'hey', 'orval'] }),
  );
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder }).catch(
    ({ stdout }: { stdout: string }) => expect(stdout).toBe(''),
  );
});

const complete = readDocument(document);
const operations = Object.values(complete.paths).flatMap((methods) => Object.values(methods));

it.each([
  ['public', document],
  ['dashboard', dashboard],
])('describes errors and their headers once in the %s document', (_, { paths, components }) => {
  const replies = Object.values<Record<string, { responses: Record<string, { headers?: object }> }>>(paths).flatMap(
    (methods) => Object.values(methods).flatMap(({ responses }) => Object.entries(responses)),
  );
  const errors = replies.filter(([status]) => !status.startsWith('2')).map(([, error]) => error);
  const names = Object.keys(components.responses).map((name) => ({ $ref: `#/components/responses/${name}` }));
  expect(names).toEqual(expect.arrayContaining(errors));
  expect(errors).toEqual(expect.arrayContaining(names));
  const headers = [...replies.map(([, reply]) => reply), ...Object.values<{ headers?: object }>(components.responses)]
    .flatMap((reply) => Object.entries(reply.headers ?? {}))
    .filter(([name]) => Object.hasOwn(components.headers ?? {}, name));
  for (const [name, header] of headers) expect(header).toEqual({ $ref: `#/components/headers/${name}` });
});

it('has an example of every JSON request, reply and error, which fits its schema', () => {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
  ajv.addSchema({ ...document, $id: 'api' });
  const bodies = operations.flatMap(({ operationId, requestBody, responses }) =>
    [['request', requestBody] as const, ...Object.entries(responses)].flatMap(([where, body]) => {
      const media = body?.content?.['application/json'];
      return media === undefined || media.schema.type === 'string' ? [] : [{ place: `${operationId} ${where}`, media }];
    }),
  );
  expect(bodies.length).toBeGreaterThan(100);
  const events = Object.entries(complete.webhooks ?? {}).flatMap(([type, { post }]) => {
    const media = post?.requestBody?.content['application/json'];
    return media === undefined ? [] : [{ place: `the event ${type}`, media }];
  });
  expect(events.map(({ media }) => media.example)).toMatchObject(WEBHOOK_EVENT_TYPES.map((type) => ({ type })));
  bodies.push(...events);
  for (const { place, media } of bodies) {
    expect(media.schema.$ref, place).toMatch(/^#\/components\/schemas\//);
    const examples = [media.example, ...Object.values(media.examples ?? {}).map(({ value }) => value)].filter(Boolean);
    expect(examples.length, place).toBeGreaterThan(0);
    const check = ajv.getSchema(`api${media.schema.$ref}`);
    for (const example of examples) {
      const isValid = check?.(example);
      expect(isValid, `${place}: ${JSON.stringify(check?.errors)}`).toBe(true);
    }
  }
});
