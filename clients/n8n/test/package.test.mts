/** What n8n asks of the package, and the workflows of the README. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { execute, FOLDER, file, type Item, type Json, testRequest, typeOf } from './host.mts';
import { stage } from './stage.mts';

const { prepared } = stage();
const OURS = /^n8n-nodes-mailvet\./;

const read = (name: string): Json => JSON.parse(readFileSync(`${FOLDER}/workflows/${name}.json`, 'utf8'));

/** Runs our nodes of a workflow, one after the other; those of n8n itself are passed by. */
async function flow(name: string, credentials: { url: string; apiKey: string }, items: Item[]): Promise<Json[]> {
  let now: Json[] = items;
  for (const { type, parameters } of read(name).nodes)
    if (OURS.test(type) && typeOf(type).execute !== undefined)
      now = await execute({ type, parameters, credentials, items: now });
  return now;
}

const account = async (id = 'verify-policy') => {
  const { url, key } = await prepared(id);
  return { url, apiKey: key };
};

test('passes the lint of verified community nodes', () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['node_modules/eslint/bin/eslint.js', '--max-warnings', '0', '.'],
    {
      cwd: FOLDER,
      encoding: 'utf8',
    },
  );
  assert.equal(status, 0, stdout);
});

test('the credentials are tested by a request, which fails for a wrong key', async () => {
  const given = await account();
  assert.equal((await testRequest({ ...given, url: `${given.url}/v1/` })).statusCode, 200);
  await assert.rejects(testRequest({ ...given, apiKey: 'mv_live_wrong' }), /401/);
});

test('an error becomes an item where the node goes on', async () => {
  const credentials = await account();
  const type = 'n8n-nodes-mailvet.mailvet';
  const items = ['insufficient_credits@example.com', 'ada@example.com'].map((email) => ({ json: { email } }));
  const [failed, verified] = await execute({ type, parameters: {}, credentials, items, continueOnFail: true });
  assert.deepEqual(
    [failed.json.status, failed.json.code, failed.pairedItem],
    [402, 'insufficient_credits', { item: 0 }],
  );
  assert.deepEqual([verified.json.status, verified.pairedItem], ['good', { item: 1 }]);
  await assert.rejects(execute({ type, parameters: {}, credentials, items }), { httpCode: '402' });
});

test('is charged once where n8n runs the node again, and anew in a loop', async () => {
  const credentials = await account('verify-idempotent');
  const run = {
    type: 'n8n-nodes-mailvet.mailvet',
    parameters: {},
    credentials,
    items: [{ json: { email: 'a@good.com' } }],
  };
  const [[first], [again], [turn]] = [await execute(run), await execute(run), await execute({ ...run, runIndex: 1 })];
  assert.equal(again.json.id, first.json.id);
  assert.notEqual(turn.json.id, first.json.id);
});

/** By workflow: what comes out of it. */
const WORKFLOWS: Readonly<Record<string, () => Promise<void>>> = {
  async verify() {
    const [{ json }] = await flow('verify', await account('verify'), [{ json: { email: 'someone@mailinator.com' } }]);
    assert.deepEqual([json.status, json.reason], ['bad', 'disposable_domain']);
  },
  async 'guard-a-form'() {
    const given = await account();
    const emails = ['disposable_domain@example.com', 'ada@example.com'];
    const items = emails.map((email) => ({ json: { email } }));
    const decided = await flow('guard-a-form', given, items);
    assert.deepEqual(
      decided.map(({ json }) => json.decision.action),
      ['reject', 'accept'],
    );
  },
  async 'clean-a-list'() {
    const people = file(
      'people.csv',
      'text/csv',
      'Name,Email\nAda,ada@example.com\nBob,disposable_domain@example.com\n',
    );
    const [{ binary }] = await flow('clean-a-list', await account(), [{ json: {}, binary: { data: people } }]);
    const results = Buffer.from(binary.data.data, 'base64').toString();
    assert.match(results, /^Name,Email,mailvet_status[\s\S]*disposable_domain@example\.com/);
    assert.match(binary.data.fileName, /^lst_.*\.results\.csv$/);
  },
  async 'receive-a-webhook'() {
    const given = await account();
    const type = 'n8n-nodes-mailvet.mailvet';
    const items = ['ada@example.com', 'disposable_domain@example.com'].map((email) => ({ json: { email } }));
    const [{ json: list }] = await execute({
      type,
      parameters: { resource: 'list', operation: 'upload' },
      credentials: given,
      items,
    });
    const parameters = { resource: 'list', operation: 'wait', list: list.id, interval: 0.1 };
    const [{ json: data }] = await execute({ type, parameters, credentials: given });
    // As the trigger gives it out (trigger.test.mts).
    const bad = await flow('receive-a-webhook', given, [{ json: { type: 'list.completed', data } }]);
    assert.deepEqual(
      bad.map(({ json }) => json.email),
      ['disposable_domain@example.com'],
    );
  },
};
for (const [name, run] of Object.entries(WORKFLOWS)) test(`the workflow ${name}`, run);

test('every workflow has a test, a place in the README, and parameters that the nodes have', () => {
  const names = readdirSync(`${FOLDER}/workflows`).map((path) => path.replace(/\.json$/, ''));
  assert.deepEqual(names.sort(), Object.keys(WORKFLOWS).sort());
  const readme = readFileSync(`${FOLDER}/README.md`, 'utf8');
  for (const name of names) {
    assert.ok(readme.includes(`(workflows/${name}.json)`), name);
    for (const { type, parameters } of read(name).nodes.filter((one: Json) => OURS.test(one.type))) {
      const known = typeOf(type).description.properties.map((one: Json) => one.name);
      assert.deepEqual(
        Object.keys(parameters).filter((one) => !known.includes(one)),
        [],
        `${name}, ${type}`,
      );
    }
  }
});
