/** The samples of the API reference: each is run, with the ids of what the service has, and changes or returns it. */
import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMailvet } from '../../sdk/src/index.ts';
import { publicDocument } from '../../src/http/openapi.ts';
import { V1_ROUTES } from '../../src/http/routes.ts';
import { OPERATOR_SCOPES } from '../../src/kernel/facts/scopes.ts';
import { createKey } from '../../src/service/keys.ts';
import { createOperatorKey } from '../../src/service/operator-keys.ts';
import {
  type ApiDocument,
  type Entry,
  entries,
  exampleIds,
  readDocument,
} from '../../web/src/pages/reference/document.ts';
import { type Language, sampleOf } from '../../web/src/pages/reference/samples.ts';
import { SAMPLE_REPORTS } from '../lab/mail-reports.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

const run = promisify(execFile);
const CLIENT = new URL('../../sdk/src/index.ts', import.meta.url).href;

let lab: Lab;
let folder: string;
let document: ApiDocument;
let operations: readonly Entry[];
beforeAll(async () => {
  // Nobody works on lists, so that they stay as the test has them.
  lab = await startLab({ MAILVET_ROLE: 'api' }, { net: { 'example.com': { A: ['127.0.0.1'] } } });
  folder = await mkdtemp(join(tmpdir(), 'mailvet-samples-'));
  await writeFile(join(folder, 'addresses.csv'), 'email\njane@good.com\n');
  await writeFile(join(folder, 'bounce.eml'), SAMPLE_REPORTS[0]?.raw ?? '');
  document = readDocument(JSON.parse(JSON.stringify(publicDocument(V1_ROUTES, lab.url))));
  operations = entries(document).filter(({ kind }) => kind === 'operation');
});
afterAll(async () => {
  await lab.close();
  await rm(folder, { recursive: true });
});

/** Between the outputs of samples that run in one process, because it takes longer to start than they do. */
const MARK = '--- next sample';
const filesOf = (samples: readonly string[], ending: string) =>
  Promise.all(
    samples.map(async (sample, n) => {
      const file = join(folder, `sample-${n}.${ending}`);
      await writeFile(file, sample);
      return file;
    }),
  );
const outputsOf = (stdout: string): readonly string[] => stdout.split(`${MARK}\n`).slice(1);

/** What each of the samples prints. Rejects where one fails. */
const RUNNERS: Readonly<
  Record<Language, (samples: readonly string[], env: NodeJS.ProcessEnv) => Promise<readonly string[]>>
> = {
  curl: async (samples, env) => {
    const script = samples.map(
      (sample) => `echo '${MARK}'\n${sample.replace('-sS', '-sS --fail-with-body')} || exit 1\n`,
    );
    return outputsOf((await run('/bin/sh', ['-c', script.join('')], { cwd: folder, env })).stdout);
  },
  TypeScript: async (samples, env) => {
    const modules = samples.map((sample) => sample.replace("'@mailvet/client'", JSON.stringify(CLIENT)));
    const files = await filesOf(modules, 'ts');
    const main = `for (const file of ${JSON.stringify(files)}) { console.log('${MARK}'); await import(file); }`;
    return outputsOf((await run(process.execPath, ['--input-type=module', '-e', main], { cwd: folder, env })).stdout);
  },
  Python: async (samples, env) => {
    const files = JSON.stringify(await filesOf(samples, 'py'));
    const main = `for file in ${files}:\n    print('${MARK}')\n    exec(open(file).read())`;
    const found = { ...env, PYTHONPATH: fileURLToPath(new URL('../../clients/python/src', import.meta.url)) };
    return outputsOf((await run(PYTHON ?? 'python3', ['-c', main], { cwd: folder, env: found })).stdout);
  },
  PHP: async (samples, env) => {
    const files = await filesOf(
      samples.map((sample) => sample.replace("require 'vendor/autoload.php';", '')),
      'php',
    );
    const sources = JSON.stringify(fileURLToPath(new URL('../../clients/php/src/', import.meta.url)));
    const main = `spl_autoload_register(function ($name) {
        require ${sources} . str_replace('\\\\', '/', substr($name, strlen('Mailvet') + 1)) . '.php';
      });
      foreach (json_decode('${JSON.stringify(files)}') as $file) { echo "${MARK}\\n"; include $file; }`;
    return outputsOf((await run('php', ['-r', main], { cwd: folder, env })).stdout);
  },
};

/** An id that the operation can be run with: made for it, so that operations do not depend on each other. */
async function idFor({ path, operation }: Entry, { key }: Member): Promise<string> {
  const { lists, filters, policies, webhooks, verify } = createMailvet({ url: lab.url, key });
  if (path.startsWith('/v1/verifications/')) return (await verify({ email: 'a@null-mx.com' })).id;
  if (path.startsWith('/v1/lists/')) {
    const start = ['pauseList', 'resumeList'].includes(operation.operationId);
    const { id } = await lists.create(['jane@good.com'], { start });
    if (operation.operationId === 'resumeList') await lists.pause(id);
    return id;
  }
  if (path.startsWith('/v1/filters/')) return String((await filters.add({ value: 'spam.example.org' })).id);
  if (path.startsWith('/v1/policies/')) return (await policies.put('trial', {})).name;
  const { id } = await webhooks.create({ url: 'http://127.0.0.1:9/', events: ['*'] });
  return path.startsWith('/v1/webhooks/') ? id : (await webhooks.test(id)).id;
}

function canRun(what: string, command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    console.warn(`LEFT OUT: the samples in ${what}.`);
    return false;
  }
}
/** Debian's has the module of its package, whichever comes first on the PATH. */
const PYTHON = ['python3', '/usr/bin/python3'].find((command) =>
  canRun(`Python by ${command}, which need httpx`, command, ['-c', 'import httpx']),
);
const hasPhp = canRun('PHP, which need its extension curl', 'php', ['-r', 'exit(extension_loaded("curl") ? 0 : 1);']);

/** What is returned is written to a file. */
const WRITERS = ['listResults', 'exportFilters'];

const OPERATOR = '/v1/operator/';
const PRIVACY = '/v1/privacy/';
const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;

/** Of the example of the document, which an account and a grant have once. */
const OF_CALLERS = /customer_4711|pi_3QxYzA2eZvKYlo2C/g;

/** What the sample of an operation of the operator API becomes: with an account of its own, and a key of that. */
async function ofOperator(sample: string, member: Member): Promise<string> {
  const { key } = await createKey(lab.store, member.account.id, { name: 'sample', allowIps: [] });
  return sample
    .replaceAll('acc_0VkP3Zq1n7Jc2mQ9sT4bXd', member.account.id)
    .replaceAll('key_0VkP3Zq1n7Jc2mQ9sT4bXd', key.id)
    .replaceAll(OF_CALLERS, randomUUID());
}

/** A key by default has no scope for these. */
const privacyKey = async ({ account }: Member): Promise<string> =>
  (await createKey(lab.store, account.id, { name: 'privacy', allowIps: [], scopes: ['privacy'] })).value;

/** Where there is nothing to print: no reply, or no filters. */
const SILENT: Readonly<Partial<Record<Language, readonly string[]>>> = {
  TypeScript: ['deleteWebhook', 'deletePolicy', 'deleteAccount'],
  PHP: ['deleteWebhook', 'deletePolicy'],
};
const isSilent = (language: Language, operationId: string): boolean => SILENT[language]?.includes(operationId) === true;

const RUN = [
  ...(['curl', 'TypeScript'] as const),
  ...(PYTHON === undefined ? [] : (['Python'] as const)),
  ...(hasPhp ? (['PHP'] as const) : []),
];

describe.each(RUN)('in %s', (language) => {
  it('every operation, with the key in the sample', async () => {
    const input = {
      name: 'samples',
      allowIps: ['127.0.0.1'],
      scopes: OPERATOR_SCOPES,
      expiresAt: Date.now() + 3_600_000,
    };
    const { value: operatorKey } = await createOperatorKey(lab.store, input, BY);
    const samples = await Promise.all(
      operations.map(async (entry) => {
        const member = await lab.member({ credits: 100, plan: 'premium' });
        if (entry.path.startsWith(OPERATOR))
          return ofOperator(sampleOf(language, document, entry, lab.url, operatorKey), member);
        const [example] = exampleIds(document, entry);
        const key = entry.path.startsWith(PRIVACY) ? await privacyKey(member) : member.key;
        const sample = sampleOf(language, document, entry, lab.url, key);
        if (example === undefined) return sample;
        const id = await idFor(entry, member);
        // Not in the address of the service or in the key, which may have the digits of an id.
        const outside = (text: string) => text.split(key).map((part) => part.replace(example, id));
        return sample
          .split(lab.url)
          .map((part) => outside(part).join(key))
          .join(lab.url);
      }),
    );
    // The samples import it, and then export to it.
    await writeFile(join(folder, 'filters.csv'), 'value,reason\nspam.com,test\n');
    const outputs = await RUNNERS[language](samples, { PATH: process.env.PATH });
    expect(outputs.length).toBe(operations.length);
    for (const [n, { operation }] of operations.entries()) {
      const shown = [operation.operationId, outputs[n]];
      if (WRITERS.includes(operation.operationId) || isSilent(language, operation.operationId))
        expect(shown).toEqual([operation.operationId, '']);
      else expect(shown).toEqual([operation.operationId, expect.stringMatching(/\S/)]);
    }
    expect(outputs[0]).toContain('jane.doe@example.com');
    expect(await readFile(join(folder, 'results.csv'), 'utf8')).toContain('jane@good.com');
    expect(await readFile(join(folder, 'filters.csv'), 'utf8')).toMatch(/^filter_type,value,reason/);
    await rm(join(folder, 'results.csv'));
  });

  it('with the key in the environment', async () => {
    const { key } = await lab.member({ credits: 100 });
    const usage = operations.find(({ path }) => path === '/v1/usage')!;
    const sample = sampleOf(language, document, usage, lab.url, null);
    expect(sample).not.toContain('mv_');
    const runWith = (MAILVET_KEY: string) => RUNNERS[language]([sample], { PATH: process.env.PATH, MAILVET_KEY });
    expect((await runWith(key))[0]).toContain('remaining');
    await expect(runWith('mv_live_wrong')).rejects.toThrow();
  });
});
