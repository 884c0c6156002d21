/** The samples of the API reference: each is run, with the ids of what the service has, and changes or returns it. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { outputsOf, RUNNABLE } from '../lab/sample-programs.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

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

describe.each(RUNNABLE)('in %s', (language) => {
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
    const outputs = await outputsOf(
      language,
      samples.map((code) => ({ code })),
      folder,
    );
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
    const runWith = (MAILVET_KEY: string) =>
      outputsOf(language, [{ code: sample, environment: { MAILVET_KEY } }], folder);
    expect((await runWith(key))[0]).toContain('remaining');
    await expect(runWith('mv_live_wrong')).rejects.toThrow();
  });
});
