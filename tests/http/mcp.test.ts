/** Tools for assistants, by the official client: over HTTP and standard input. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODY_BYTES } from '../../src/kernel/facts/limits.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { of, signedIn } from './dashboard/client.ts';

const CLI = fileURLToPath(new URL('../../bin/mailvet.mjs', import.meta.url));
type Json = ReturnType<JSON['parse']>;

let lab: Lab;
let owner: Member;
let tester: Member;
beforeAll(async () => {
  lab = await startLab();
  owner = await lab.member({ credits: 1000, rateLimit: 1000 });
  tester = await lab.testMember(owner);
});
afterAll(() => lab.close());

const connected = async (transport: StreamableHTTPClientTransport | StdioClientTransport): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return client;
};
const overHttp = (key: string): Promise<Client> => {
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  return connected(new StreamableHTTPClientTransport(new URL(`${lab.url}/mcp`), { requestInit }));
};
const overStdio = (environment: Record<string, string>): Promise<Client> => {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NODE_NO_WARNINGS: '1', ...environment };
  return connected(new StdioClientTransport({ command: process.execPath, args: [CLI, 'mcp'], env, stderr: 'ignore' }));
};
/** The result of a tool; the client checks it against the tool's schema. */
const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<Json> => {
  const { isError, structuredContent, content } = (await client.callTool({ name, arguments: args })) as Json;
  return isError ? { failed: JSON.parse(content[0].text) } : structuredContent;
};

/** Messages with which the client begins. */
const CONNECTING = 2;
const ALL = ['create_list', 'explain_reply', 'get_list', 'get_usage', 'verify_email', 'verify_emails'];

/** What every transport to the service does. */
async function usesEveryTool(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(ALL);
  for (const { name, annotations, inputSchema, outputSchema } of tools) {
    expect([name, annotations?.readOnlyHint]).toEqual([name, name !== 'create_list']);
    expect(JSON.stringify([inputSchema, outputSchema])).not.toMatch(/"(~|x-)/);
  }
  const email = 'mailbox_not_found@example.com';
  const verdict = await call(client, 'verify_email', { email, validation_type: 'smtp' });
  expect(verdict).toMatchObject({ email, status: 'bad', reason: 'mailbox_not_found', credits_used: 0, warnings: [] });
  const scope = `assistant-${randomUUID()}`;
  for (const before of [false, true])
    expect(await call(client, 'verify_email', { email, scope })).toMatchObject({ seen: { before } });
  const emails = ['deliverable@example.com', 'insufficient_credits@example.com', 'catch_all@example.com'];
  const { results } = await call(client, 'verify_emails', { emails, validation_type: 'smtp' });
  expect(results.map(({ result, error }: Json) => result?.deliverability ?? error.code)).toEqual([
    'deliverable',
    'insufficient_credits',
    'risky',
  ]);
  const some = await call(client, 'verify_emails', { emails: ['', emails[0], 'x'.repeat(2000)] });
  expect(some.results.map(({ result, error }: Json) => error?.code ?? result.status)).toEqual([
    'invalid_parameter',
    'good',
    'invalid_parameter',
  ]);
  const both = await call(client, 'verify_emails', {
    emails: ['relay@example.com', 'catch_all@example.com'],
    validation_type: 'smtp',
  });
  expect(both.results.map(({ result }: Json) => result)).toMatchObject([
    { relay_provider: 'Example Relay', checks: { mx: { provider: null, provider_kind: null } } },
    { checks: { catch_all: { result: 'fail', checked_at: expect.stringMatching(/^20\d\d-.*Z$/) } } },
  ]);
  const once = await call(client, 'create_list', { emails: ['a.b@gmail.com', 'ab@gmail.com'], dedupe: 'mailbox' });
  expect(once).toMatchObject({ dedupe: 'mailbox', rows: { addresses: 1, duplicates: 1 } });
  const list = await call(client, 'create_list', {
    emails: ['deliverable@example.com', 'not an address'],
    name: 'mine',
  });
  expect(list).toMatchObject({ name: 'mine', rows: { addresses: 2 }, error: null });
  await expect
    .poll(() => call(client, 'get_list', { id: list.id }), { timeout: 30_000 })
    .toMatchObject({ status: 'completed', progress: { good: 1, bad: 1 } });
  expect(await call(client, 'explain_reply', { reply: '550 5.1.1 User unknown' })).toMatchObject({
    code: 550,
    finding: 'mailbox_not_found',
  });
  expect(await call(client, 'get_usage')).toMatchObject({ plan: 'premium' });
  // Invalid input and what the service refuses are errors of the tool, with what is wrong.
  expect(await call(client, 'verify_email', {})).toMatchObject({
    failed: { code: 'missing_parameter', field: 'email' },
  });
  expect(await call(client, 'verify_emails', { emails: [] })).toMatchObject({ failed: { field: 'emails' } });
  const level = { email, validation_type: 'all' };
  expect(await call(client, 'verify_email', level)).toMatchObject({ failed: { code: 'invalid_validation_type' } });
  expect(await call(client, 'get_list', { id: 'lst_nowhere' })).toMatchObject({ failed: { code: 'not_found' } });
  expect(await call(client, 'explain_reply', { reply: 'hello' })).toMatchObject({ failed: { field: 'reply' } });
  await expect(client.callTool({ name: 'delete_everything', arguments: {} })).rejects.toThrow(/no tool/);
  await takesPolicies(client);
  await warnsOfUnknown(client);
  await client.close();
}

/** As the API does: with its level, its decision, and what was seen in a scope. */
async function takesPolicies(client: Client): Promise<void> {
  const { key } = tester;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const rules = { signals: { role: 'reject', seen_before: 'review' }, validation_type: 'smtp', on_outage: 'review' };
  await fetch(`${lab.url}/v1/policies/assistants`, { method: 'PUT', headers, body: JSON.stringify(rules) });
  const policy = 'assistants';
  expect(await call(client, 'verify_email', { email: 'role@example.com', policy })).toMatchObject({
    validation_type: 'smtp',
    decision: { action: 'reject', because: ['role'] },
  });
  const scope = `assistant-${randomUUID()}`;
  const emails = ['deliverable@example.com', 'deliverable+x@example.com', 'verification_unavailable@example.com'];
  const { results } = await call(client, 'verify_emails', { emails: emails.slice(0, 1), policy, scope });
  expect(results).toMatchObject([{ result: { seen: { before: false }, decision: { action: 'accept' } } }]);
  expect(
    (await call(client, 'verify_emails', { emails: [emails[0], emails[2]], policy, scope })).results,
  ).toMatchObject([
    { result: { seen: { before: true }, decision: { action: 'review', because: ['seen_before'] } } },
    { error: { code: 'verification_unavailable', decision: { action: 'review', because: ['outage'] } } },
  ]);
  expect(await call(client, 'create_list', { emails: emails.slice(0, 1), policy })).toMatchObject({
    policy,
    validation_type: 'smtp',
  });
  for (const [name, input] of [
    ['verify_email', { email: emails[0] }],
    ['create_list', { emails }],
  ] as const)
    expect(await call(client, name, { ...input, policy: 'none' })).toMatchObject({
      failed: { code: 'policy_not_found' },
    });
}

/** What a tool does not take changes nothing, and is named. */
async function warnsOfUnknown(client: Client): Promise<void> {
  const email = 'deliverable@example.com';
  const warnings = ['Unknown field "level"; did you mean "validation_type"?'];
  expect(await call(client, 'verify_email', { email, level: 'smtp' })).toMatchObject({
    validation_type: 'mx',
    warnings,
  });
  expect(await call(client, 'verify_emails', { emails: [email], level: 'smtp' })).toMatchObject({
    results: [{ result: { validation_type: 'mx' } }],
    warnings,
  });
  expect(await call(client, 'explain_reply', { reply: '550 No', mxx: 'mx.example.com' })).toMatchObject({
    warnings: ['Unknown field "mxx"; did you mean "mx"?'],
  });
  expect(await call(client, 'explain_reply', { reply: '550 No' })).toMatchObject({ warnings: [] });
}

describe('over HTTP', () => {
  it('every tool', async () => usesEveryTool(await overHttp(tester.key)));

  it('names what is wrong with a request, in words of ours', async () => {
    const answer = async (method: string, params?: unknown) =>
      (await owner.call('POST', '/mcp', { jsonrpc: '2.0', id: 7, method, params })).json;
    const wrong = (message: string) => ({ jsonrpc: '2.0', id: 7, error: { code: -32602, message } });
    expect(await answer('tools/call')).toEqual(wrong('params must be an object.'));
    expect(await answer('tools/call', {})).toEqual(wrong('params.name must be a string.'));
    expect(await answer('tools/call', { name: 5 })).toEqual(wrong('params.name must be a string.'));
    for (const args of [[], 'x', 5])
      expect(await answer('tools/call', { name: 'verify_email', arguments: args })).toEqual(
        wrong('params.arguments must be an object.'),
      );
    expect(await answer('tools/list', { cursor: 5 })).toEqual(wrong('params.cursor must be a string.'));
    expect(await answer('initialize', { protocolVersion: 5 })).toEqual(
      wrong('params.protocolVersion must be a string.'),
    );
  });

  it('is charged and limited like the API, and keeps to the scopes of the key', async () => {
    const client = await overHttp(owner.key);
    const before = (await call(client, 'get_usage')).credits.remaining;
    expect(await call(client, 'verify_email', { email: 'a@null-mx.com' })).toMatchObject({ credits_used: 1 });
    expect((await call(client, 'get_usage')).credits.remaining).toBe(before - 1);
    await client.close();
    const scoped = await overHttp((await lab.member({ scopes: ['verify'] })).key);
    expect(await call(scoped, 'get_usage')).toMatchObject({ failed: { code: 'scope_missing' } });
    expect(await call(scoped, 'create_list', { emails: ['a@good.com'] })).toMatchObject({
      failed: { code: 'scope_missing' },
    });
    await scoped.close();
    const limited = await overHttp((await lab.member({ rateLimit: CONNECTING + 2 })).key);
    const { results } = await call(limited, 'verify_emails', {
      emails: ['a@null-mx.com', 'b@null-mx.com', 'c@null-mx.com'],
    });
    expect(results.filter(({ error }: Json) => error?.code === 'rate_limit_exceeded')).toHaveLength(1);
    await limited.close();
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('counts and records calls that it cannot use', async () => {
    const member = await lab.member({ rateLimit: CONNECTING + 3 });
    const client = await overHttp(member.key);
    expect(await call(client, 'verify_email', {})).toMatchObject({ failed: { code: 'missing_parameter' } });
    expect(await call(client, 'get_list', {})).toMatchObject({ failed: { code: 'missing_parameter' } });
    await expect(client.callTool({ name: 'drop_tables', arguments: {} })).rejects.toThrow(/no tool/);
    expect(await call(client, 'verify_email', {})).toMatchObject({ failed: { code: 'rate_limit_exceeded' } });
    await client.close();
    const person = await signedIn(lab, { account: member.account });
    const rejected = async () =>
      (await person.call('GET', of(member.account, '/log?status=rejected'))).json.rejected.map(
        ({ code }: Json) => code,
      );
    await expect
      .poll(rejected, { timeout: 10_000 })
      .toEqual(['rate_limit_exceeded', 'invalid_parameter', 'missing_parameter', 'missing_parameter']);
  });

  it.each([
    ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } }],
    ['tools/list', {}],
    ['ping', {}],
    ['no/such/method', {}],
    // Which no tool is told of.
    ['tools/call', {}],
    ['tools/call', { name: 5 }],
  ])('counts %s %j as a request of the account, whatever the scopes of the key, and bounds it', async (method, params) => {
    const { key } = await lab.member({ rateLimit: 3, scopes: ['usage'] });
    const post = (more: object) =>
      request(
        lab.url,
        'POST',
        '/mcp',
        { jsonrpc: '2.0', id: 1, method, params: { ...params, ...more } },
        { accept: 'application/json, text/event-stream', authorization: `Bearer ${key}` },
      );
    expect((await post({})).status).toBe(200);
    const large = await post({ padding: 'x'.repeat(BODY_BYTES) });
    expect(large.status).toBe(method === 'tools/call' ? 200 : 413);
    expect((await post({})).status).toBe(200);
    for (const _ of [1, 2]) expect((await post({})).json.code).toBe('rate_limit_exceeded');
  });

  it('refuses a missing or wrong key, another site’s page, large messages and what is no message', async () => {
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      request(lab.url, 'POST', '/mcp', body, {
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${owner.key}`,
        ...headers,
      });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await post(list)).json.result.tools).toHaveLength(ALL.length);
    // Replies are JSON always, so a program need not say that it would take a stream.
    for (const accept of ['*/*', 'application/json']) expect((await post(list, { accept })).status).toBe(200);
    const none = await post(list, { authorization: '' });
    expect([none.status, none.json.code, none.headers.get('www-authenticate')]).toEqual([
      401,
      'missing_api_key',
      'Bearer',
    ]);
    await expect(overHttp(`mv_live_${'x'.repeat(32)}`)).rejects.toThrow(/invalid_api_key/);
    const wrong = await post(list, { authorization: `Bearer mv_live_${'x'.repeat(32)}` });
    expect([wrong.status, wrong.json.code, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      'invalid_api_key',
      'Bearer',
    ]);
    const elsewhere = await lab.member({ allowIps: ['192.0.2.0/24'] });
    const refused = await post(list, { authorization: `Bearer ${elsewhere.key}` });
    expect([refused.status, refused.json.code]).toEqual([403, 'ip_not_allowed']);
    // By DNS rebinding, a page has its own name in Host and Origin, and this address.
    const rebound = await post(list, { origin: 'http://evil.example' });
    expect([rebound.status, rebound.json.code]).toEqual([403, 'cross_origin']);
    expect((await post(list, { origin: lab.url })).status).toBe(200);
    expect((await post({ ...list, params: { padding: 'x'.repeat(300_000) } })).status).toBe(413);
    expect((await post([list])).status).toBe(400);
    expect((await post({ hello: 1 })).status).toBe(400);
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await request(lab.url, method, '/mcp');
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    }
  });
});

describe('over standard input', () => {
  it('with a key: every tool of the service', async () =>
    usesEveryTool(await overStdio({ MAILVET_URL: lab.url, MAILVET_KEY: tester.key })));

  it('with a wrong address: what is set, and what to set', async () => {
    const client = await overStdio({ MAILVET_URL: `${lab.url}/app`, MAILVET_KEY: tester.key });
    expect(await call(client, 'get_usage')).toMatchObject({
      failed: { code: 'not_found', error: expect.stringContaining(`MAILVET_URL is ${lab.url}/app`) },
    });
    await client.close();
  });

  it('without one: the engine, and only what needs no account', async () => {
    const client = await overStdio({
      MAILVET_DNS_SERVERS: `${lab.dns.address}:${lab.dns.port}`,
      MAILVET_DNS_CONTROL_NAMES: 'none',
      MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(['explain_reply', 'verify_email', 'verify_emails']);
    expect(await call(client, 'verify_email', { email: 'a@good.com', scope: 'signup' })).toMatchObject({
      failed: { code: 'seen_disabled', error: expect.stringContaining('MAILVET_KEY') },
    });
    expect(await call(client, 'verify_email', { email: 'a@null-mx.com' })).toMatchObject({
      status: 'bad',
      reason: 'null_mx',
      credits_used: 0,
    });
    expect(await call(client, 'verify_email', { email: 'a@null-mx.com', policy: 'signup' })).toMatchObject({
      decision: { action: 'reject', because: ['undeliverable'] },
    });
    expect(await call(client, 'verify_email', { email: 'a@good.com', policy: 'mine' })).toMatchObject({
      failed: { code: 'policy_not_found', error: expect.stringMatching(/only "signup" or "strict"/) },
    });
    expect(await call(client, 'verify_email', { email: '' })).toMatchObject({ failed: { field: 'email' } });
    await client.close();
  });
});
