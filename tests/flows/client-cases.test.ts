/** The cases of all clients (clients/README.md), with the client in TypeScript. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Case, Cases, Step } from '../../clients/case.ts';
import { difference, filled, type Same } from '../../clients/compare.ts';
import { ROOT } from '../../scripts/fresh.mjs';
import {
  createMailvet,
  type Guard,
  guard,
  type Mailvet,
  MailvetError,
  verifyWebhook,
  WebhookVerificationError,
} from '../../sdk/src/index.ts';

type Json = ReturnType<JSON['parse']>;
type Values = Record<string, Json>;

const read = (name: string): Json => JSON.parse(readFileSync(join(ROOT, 'clients', name), 'utf8'));
const { cases }: Cases = read('cases.json');

let server: ChildProcess;
let stage: string;
beforeAll(async () => {
  server = spawn(process.execPath, [join(ROOT, 'clients/server.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: server.stdout! }), 'line');
  stage = JSON.parse(line).url;
});
afterAll(async () => {
  server.stdin?.end();
  await once(server, 'exit');
});

const prepared = async (path: string): Promise<Json> => (await fetch(`${stage}/${path}`)).json();

function expectLike(expected: Json, actual: Json, where: string, same: Same = new Map()): void {
  expect(difference(expected, actual, where, same)).toBe(null);
}

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const ownTime = ({ timeout_ms, ...options }: Values): Values =>
  timeout_ms === undefined ? options : { ...options, timeout: timeout_ms };
const guardOptions = (options: Values): Values =>
  ownTime(Object.fromEntries(Object.entries(options).map(([k, v]) => [k === 'timeout_ms' ? k : camel(k), v])));

function sourceOf({ addresses, file, stream, fails }: Json): Json {
  if (addresses !== undefined) return addresses;
  if (file !== undefined) return new File([file.text], file.name, { type: file.type });
  async function* chunks() {
    for (const chunk of stream) yield new TextEncoder().encode(chunk);
    if (fails !== undefined) throw new RangeError(fails);
  }
  return chunks();
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

interface Performer {
  readonly client: () => Mailvet;
  readonly check: () => Guard;
  readonly requests: () => Promise<Json>;
  /** Counted by `lists.wait`. */
  looks: number;
}

type Perform = (by: Performer, args: Json) => Json;
const CALLS: Readonly<Record<string, Perform>> = {
  client: ({ client }) => client(),
  verify: ({ client }, { evidence, idempotency_key: idempotencyKey, timeout_ms: timeout, ...request }) =>
    client().verify(request, { evidence, idempotencyKey, timeout }),
  'verifications.get': ({ client }, { id }) => client().verifications.get(id),
  'verifications.list': ({ client }, query) => client().verifications.list(query),
  usage: ({ client }, query) => client().usage(query),
  calibration: ({ client }) => client().calibration(),
  'seen.forget': ({ client }, mailbox) => client().seen.forget(mailbox),
  'seen.forget_scope': ({ client }, { scope }) => client().seen.forgetScope(scope),
  'outcomes.report': ({ client }, { outcomes }) => client().outcomes.report(outcomes),
  'filters.add': ({ client }, filter) => client().filters.add(filter),
  'filters.list': ({ client }, query) => client().filters.list(query),
  'filters.all': ({ client }, query) => all(client().filters.all(query)),
  'filters.get': ({ client }, { id }) => client().filters.get(id),
  'filters.change': ({ client }, { id, ...change }) => client().filters.change(id, change),
  'filters.remove': ({ client }, { id }) => client().filters.remove(id),
  'filters.import': ({ client }, { source, ...options }) => client().filters.import(sourceOf(source), options),
  'filters.export': async ({ client }) => text((await client().filters.export()) as Json),
  'lists.create': ({ client }, { source, idempotency_key: idempotencyKey, ...options }) =>
    client().lists.create(sourceOf(source), { ...options, idempotencyKey }),
  'lists.get': ({ client }, { list }) => client().lists.get(list),
  'lists.list': ({ client }, query) => client().lists.list(query),
  'lists.update': ({ client }, { list, ...change }) => client().lists.update(list, change),
  'lists.start': ({ client }, { list }) => client().lists.start(list),
  'lists.pause': ({ client }, { list }) => client().lists.pause(list),
  'lists.resume': ({ client }, { list }) => client().lists.resume(list),
  'lists.cancel': ({ client }, { list }) => client().lists.cancel(list),
  'lists.remove': ({ client }, { list }) => client().lists.remove(list),
  'lists.wait': (by, { list, interval_ms: interval }) =>
    by.client().lists.wait(list, { interval, onProgress: () => (by.looks += 1) }),
  'lists.rows': ({ client }, { list, ...query }) => all(client().lists.rows(list, query)),
  'lists.results': async ({ client }, { list, ...query }) => text((await client().lists.results(list, query)) as Json),
  'policies.put': ({ client }, { name, ...policy }) => client().policies.put(name, policy),
  'policies.get': ({ client }, { name }) => client().policies.get(name),
  'policies.list': ({ client }) => client().policies.list(),
  'policies.remove': async ({ client }, { name }) => (await client().policies.remove(name)) ?? null,
  'webhooks.create': ({ client }, webhook) => client().webhooks.create(webhook),
  'webhooks.list': ({ client }) => client().webhooks.list(),
  'webhooks.get': ({ client }, { id }) => client().webhooks.get(id),
  'webhooks.change': ({ client }, { id, ...change }) => client().webhooks.change(id, change),
  'webhooks.remove': async ({ client }, { id }) => (await client().webhooks.remove(id)) ?? null,
  'webhooks.rotate_secret': ({ client }, { id }) => client().webhooks.rotateSecret(id),
  'webhooks.test': ({ client }, { id }) => client().webhooks.test(id),
  'webhooks.deliveries': ({ client }, { id, ...query }) => client().webhooks.deliveries(id, query),
  'webhooks.replay': ({ client }, { delivery }) => client().webhooks.replay(delivery),
  async verify_webhook({ requests }, { received, secret, tolerance_seconds: toleranceSeconds, ...sent }) {
    const { body: payload, headers } =
      received === undefined ? { ...sent, body: sent.payload } : (await requests())[received];
    return verifyWebhook(payload, headers, secret, { toleranceSeconds });
  },
  guard: ({ check }, { email, client_ip: clientIp, ...more }) => check()(email, { clientIp, ...more }),
};

/** What a call threw, in the words of the cases. */
function thrown(error: unknown): Json {
  if (error instanceof MailvetError) {
    const { status, code, message, field, retryAfter: retry_after, requestId: request_id, details, stack } = error;
    const said = `${stack} ${JSON.stringify(error)}`;
    return { error: { status, code, message, field, retry_after, request_id, details, text: said } };
  }
  if (error instanceof WebhookVerificationError) return { forged: error.message };
  if (error instanceof TypeError) return { misuse: error.message };
  if (error instanceof RangeError) return { fails: error.message };
  throw error;
}

async function take(step: Step, by: Performer, values: Values, where: string): Promise<void> {
  const { reply, error, misuse, forged, fails, looks, save = {}, arguments: args = {} } = step;
  const perform = CALLS[step.call];
  if (perform === undefined) throw new Error(`${where}: the client has no call ${step.call}`);
  const outcome: Json = await (async () => ({ reply: await perform(by, filled(args, values)) }))().catch(thrown);
  const wanted = filled({ reply, error, fails }, values);
  const patterns = { misuse, forged };
  for (const [name, pattern] of Object.entries(patterns))
    if (pattern !== undefined)
      expect([where, outcome]).toEqual([where, { [name]: expect.stringMatching(new RegExp(pattern)) }]);
  for (const [name, expected] of Object.entries(wanted))
    if (expected !== undefined) {
      expect([where, Object.keys(outcome), outcome]).toEqual([where, [name], outcome]);
      expectLike(expected, outcome[name], where);
    }
  if (looks !== undefined) expectLike(looks, by.looks, where);
  for (const [name, field] of Object.entries(save)) values[name] = outcome.reply[field];
}

async function runCase(one: Case): Promise<void> {
  const values: Values = await prepared(`cases/${one.id}`);
  const requests = () => fetch(values.requests).then((reply) => reply.json());
  const { url, key, ...options } = ownTime(filled({ url: '{{url}}', key: '{{key}}', ...one.client }, values));
  let made: Guard | null = null;
  const reported: unknown[] = [];
  const onError = (error: unknown) => reported.push(error instanceof MailvetError ? error.code : String(error));
  const check = () => {
    made ??= guard({ url, key, onError, ...guardOptions({ ...one.guard }) });
    return made;
  };
  const by: Performer = { client: () => createMailvet({ url, key, ...options }), check, requests, looks: 0 };
  for (const [n, step] of one.steps.entries()) {
    const where = `${one.id}, step ${n + 1}, ${step.call}`;
    by.looks = 0;
    reported.splice(0);
    await take(step, by, values, where);
    if (step.reported !== undefined) expect([where, reported]).toEqual([where, step.reported]);
  }
  if (one.requests !== undefined) expectLike(one.requests, await requests(), `${one.id}, requests`);
}

const ran: string[] = [];
it.each(cases.map((one) => [one.id, one.does, one] as const))('%s: %s', async (id, _, one) => {
  await runCase(one);
  ran.push(id);
});

it('runs every case of the file, which its schema describes', () => {
  const validate = new Ajv({ allErrors: true, strict: true, strictRequired: false }).compile(read('cases.schema.json'));
  validate(read('cases.json'));
  expect(validate.errors).toEqual(null);
  expect(ran).toEqual(cases.map(({ id }) => id));
  expect(new Set(ran).size).toBe(ran.length);
});
