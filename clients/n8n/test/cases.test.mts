/** The cases of all clients (clients/README.md) that are about what the nodes do. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Case, Cases, Step } from '../../case.ts';
import { difference, filled } from '../../compare.ts';
import { execute, file, type Item, type Json, receive, stream } from './host.mts';
import { stage } from './stage.mts';

const NODE = 'n8n-nodes-mailvet.mailvet';
const { cases }: Cases = JSON.parse(readFileSync(new URL('../../cases.json', import.meta.url), 'utf8'));
const { prepared } = stage();

/** Calls that the nodes do not have, and why; cases with one of them do not run. */
const WITHOUT: Readonly<Record<string, string>> = {
  'verifications.get': 'Flows keep their own results.',
  'verifications.list': 'Flows keep their own results.',
  'filters.change': 'Filters are added and removed.',
  'filters.import': 'A flow adds an item at a time.',
  'seen.forget': 'Mailboxes are forgotten by who keeps the accounts, not by flows.',
  'lists.update': 'A flow uploads with its options.',
  'lists.start': 'A flow uploads and starts in one step.',
  calibration: 'It is a report for people.',
  guard: 'A policy decides, and a node of n8n acts on it.',
  client: 'n8n checks the credentials by a request.',
  'outcomes.report': 'Outcomes come from mail servers.',
  'policies.put': 'Policies are edited in the dashboard.',
  'webhooks.create': 'The trigger does it by itself (trigger.test.mts).',
};
/** Cases that do not run for another reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'webhook-wrong-secret': 'Nobody enters the secret of a trigger.',
  'webhook-tolerance': 'The trigger has the tolerance of Standard Webhooks.',
  'webhook-genuine': 'The trigger has one secret; trigger.test.mts has the rest of the case.',
  'lists-broken-source': 'Files come from n8n, which reports those that it cannot read.',
};

interface Performer {
  readonly values: Json;
  readonly client: Json;
}

/** The items of an operation. */
function run({ values, client }: Performer, resource: string, operation: string, given: Json, items?: Item[]) {
  const { url = values.url, key = values.key, retries, timeout_ms } = client;
  const request = { ...(retries === undefined ? {} : { retries }), ...(timeout_ms ? { timeout: timeout_ms } : {}) };
  return execute({
    type: NODE,
    credentials: { url, apiKey: key },
    parameters: { resource, operation, request, ...given },
    ...(items === undefined ? {} : { items }),
    // Each step is an execution of its own.
    executionId: String(Math.random()),
  });
}
const single = async (items: Promise<Json[]>): Promise<Json> => (await items)[0].json;
const jsons = async (items: Promise<Json[]>): Promise<Json> => (await items).map(({ json }) => json);
const withTime = (by: Performer, timeout_ms: Json): Performer =>
  timeout_ms === undefined ? by : { ...by, client: { ...by.client, timeout_ms } };

function itemsOf({ addresses, file: of, stream: chunks }: Json, type: string | undefined): Item[] {
  if (addresses !== undefined) return addresses.map((email: string) => ({ json: { email } }));
  async function* content() {
    for (const chunk of chunks) yield new TextEncoder().encode(chunk);
  }
  const data = of ? file(of.name, of.type, of.text) : stream(undefined, type ?? 'text/csv', content);
  return [{ json: {}, binary: { data } }];
}

const CALLS: Readonly<Record<string, (by: Performer, args: Json) => Promise<Json>>> = {
  verify: (by, { email, timeout_ms, ...verifyOptions }) =>
    single(run(withTime(by, timeout_ms), 'address', 'verify', { email, verifyOptions })),
  usage: (by, usageOptions) => single(run(by, 'usage', 'get', { usageOptions })),
  'filters.add': (by, { value, ...filterOptions }) => single(run(by, 'filter', 'add', { value, filterOptions })),
  'filters.list': async (by, { per_page: limit = 50, ...filtersOptions }) => ({
    filters: await jsons(run(by, 'filter', 'getAll', { limit, filtersOptions })),
  }),
  'filters.all': (by, filtersOptions) => jsons(run(by, 'filter', 'getAll', { returnAll: true, filtersOptions })),
  'lists.list': async (by, { per_page: limit = 50, ...listsOptions }) => ({
    lists: await jsons(run(by, 'list', 'getAll', { limit, listsOptions })),
  }),
  'filters.remove': (by, { id: filter }) => single(run(by, 'filter', 'remove', { filter })),
  'lists.create': (by, { source, type, ...uploadOptions }) => {
    const from = source.addresses === undefined ? 'file' : 'items';
    return single(run(by, 'list', 'upload', { source: from, uploadOptions }, itemsOf(source, type)));
  },
  'lists.get': (by, { list }) => single(run(by, 'list', 'get', { list })),
  'lists.wait': (by, { list, interval_ms = 1000 }) =>
    single(run(by, 'list', 'wait', { list, interval: interval_ms / 1000 })),
  'lists.rows': (by, { list, ...rowOptions }) => jsons(run(by, 'list', 'rows', { list, rowOptions })),
  'lists.results': async (by, { list, ...resultOptions }) => {
    const [{ binary }] = await run(by, 'list', 'results', { list, resultOptions });
    return Buffer.from(binary.data.data, 'base64').toString();
  },
  async verify_webhook(_, { payload, headers, secret }) {
    const { items, status, said } = await receive({ secret }, headers, Buffer.from(payload));
    if (items !== null) return items[0].json;
    assert.equal(status, 400);
    throw new Forged(said.error);
  },
};

class Forged extends Error {}

function thrown(error: Json): Json {
  if (error instanceof Forged) return { forged: error.message };
  if (error.name === 'NodeOperationError') return { misuse: error.message };
  if (error.name !== 'NodeApiError') throw error;
  const { status, code, field, retry_after, request_id, details } = error.context;
  const text = `${error.stack} ${JSON.stringify(error)}`;
  return { error: { status, code, field, retry_after, request_id, details, text, message: error.message } };
}

async function take(step: Step, by: Performer, where: string): Promise<void> {
  const { reply, error, misuse, forged, save = {}, arguments: args = {} } = step;
  const perform = CALLS[step.call];
  assert.ok(perform, `${where}: is ${step.call} done by the nodes? If not, say why in WITHOUT.`);
  const outcome = await perform(by, filled(args, by.values)).then((value) => ({ reply: value }), thrown);
  const wanted = Object.entries(filled({ reply, error }, by.values)).filter(([, one]) => one !== undefined);
  for (const [name, pattern] of Object.entries({ misuse, forged }))
    if (pattern !== undefined) wanted.push([name, { $matches: pattern }]);
  assert.equal(wanted.length, 1, where);
  const [[name, expected]] = wanted as [[string, Json]];
  assert.deepEqual(Object.keys(outcome), [name], `${where}: ${JSON.stringify(outcome)}`);
  assert.equal(difference(expected, outcome[name], where, new Map()), null);
  for (const [value, field] of Object.entries(save)) by.values[value] = outcome.reply[field];
}

async function runCase(one: Case): Promise<void> {
  const values = await prepared(one.id);
  const by = { values, client: filled({ retries: 0, ...one.client }, values) };
  for (const [n, step] of one.steps.entries()) await take(step, by, `${one.id}, step ${n + 1}, ${step.call}`);
  if (one.requests === undefined) return;
  const requests = await (await fetch(values.requests)).json();
  assert.equal(difference(one.requests, requests, `${one.id}, requests`, new Map()), null);
}

const reasonOf = ({ id, steps }: Case): string | undefined =>
  LEFT_OUT[id] ?? steps.map(({ call }) => WITHOUT[call]).find((reason) => reason !== undefined);

const taken = cases.filter((one) => reasonOf(one) === undefined);
for (const one of taken) test(`${one.id}: ${one.does}`, () => runCase(one));

test('every reason for leaving out a case is one of a case', () => {
  const ids = new Set(cases.map(({ id }) => id));
  assert.deepEqual(
    Object.keys(LEFT_OUT).filter((id) => !ids.has(id)),
    [],
  );
  const calls = new Set(cases.flatMap(({ steps }) => steps.map(({ call }) => call)));
  assert.deepEqual(
    Object.keys(WITHOUT).filter((call) => !calls.has(call) || call in CALLS),
    [],
  );
  assert.ok(taken.length > 40, String(taken.length));
});
