/**
 * Two services on loopback (one works on lists, one leaves them as they are), and an HTTP server that prepares cases,
 * answers as their scripts say and records what it was sent. Started by server.mjs.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { type Lab, startLab } from '../tests/lab/service.ts';
import type { Case, Cases, ScriptedReply, SignedWebhook } from './case.ts';

interface Recorded {
  readonly method: string;
  /** Below the address of the run. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
interface Run {
  readonly script: readonly ScriptedReply[];
  readonly requests: Recorded[];
}

const { cases }: Cases = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8'));
/** A webhook is thanked for. */
const THANKS: readonly ScriptedReply[] = [{ status: 200, json: {} }];
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';
/** Nobody works on the lists of `idle`, so that they stay as a case has them. */
const labs = { busy: await startLab(), idle: await startLab({ MAILVET_ROLE: 'api' }) };
const runs: Run[] = [];
const server = createServer((request, reply) => void answer(request, reply).catch((error) => reply.destroy(error)));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const [, place = '', name = '', ...below] = (request.url ?? '').split('/');
  const run = runs[Number(name)];
  if (place === 'cases') return json(reply, await prepare(name));
  if (run === undefined) return void reply.writeHead(404).end();
  if (place === 'requests') return json(reply, run.requests);
  const { method = '', headers } = request;
  run.requests.push({ method, path: `/${below.join('/')}`, headers, body: await text(request) });
  await perform(run.script[Math.min(run.requests.length, run.script.length) - 1]!, reply);
}

const json = (reply: ServerResponse, body: unknown): void =>
  void reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

async function perform(scripted: ScriptedReply, reply: ServerResponse): Promise<void> {
  if (scripted.silent) return;
  const { status = 200, json: body, text: said = '', bytes = 0 } = scripted;
  reply.writeHead(status, {
    'content-type': body ? 'application/json' : 'text/plain',
    ...(scripted.gzip ? { 'content-encoding': 'gzip' } : {}),
    ...(scripted.header_bytes === undefined ? {} : { 'x-large': 'x'.repeat(scripted.header_bytes) }),
    ...scripted.headers,
  });
  const content = (body === undefined ? said : JSON.stringify(body)).padEnd(bytes);
  if (!scripted.endless) return void reply.end(scripted.gzip ? gzipSync(content) : content);
  for (reply.write(content); !reply.destroyed; await after(5)) reply.write(' ');
}

/** What the case with this id needs, anew: the values that its steps name in {{…}}. */
async function prepare(id: string): Promise<Record<string, unknown>> {
  const one = cases.find((found) => found.id === id);
  if (one === undefined) throw new Error(`There is no case ${id}.`);
  const run = runs.push({ script: one.script ?? THANKS, requests: [] }) - 1;
  const scripted = `${url}/runs/${run}`;
  const signed = Object.entries(one.signed ?? {}).map(([name, webhook]) => [name, headersOf(webhook)]);
  const more = { receiver: scripted, requests: `${url}/requests/${run}`, ...Object.fromEntries(signed) };
  if (one.script !== undefined) return { url: scripted, key: 'mv_test_scripted', ...more };
  if (one.service === 'none') return { url: NOWHERE, key: 'mv_test_nowhere', ...more };
  const lab = labs[one.service ?? 'busy'];
  return { url: lab.url, key: await keyFor(lab, one), ...more };
}

async function keyFor(lab: Lab, { account = {} }: Case): Promise<string> {
  const { plan, credits, rate_limit, test = false } = account;
  const member = await lab.member({
    ...(plan === undefined ? {} : { plan }),
    ...(credits === undefined ? {} : { credits }),
    rateLimit: rate_limit ?? 100_000,
  });
  return (test ? await lab.testMember(member) : member).key;
}

/** As the reference implementation of Standard Webhooks signs. */
function headersOf({ payload, secrets, seconds_ago = 0, headers }: SignedWebhook): Record<string, string> {
  const at = new Date(Date.now() - seconds_ago * 1000);
  const signatures = secrets.map((secret) => new Webhook(secret).sign('msg_1', at, payload));
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
    ...headers,
  };
}

async function close(): Promise<void> {
  server.closeAllConnections();
  server.close();
  await Promise.all([labs.busy.close(), labs.idle.close()]);
}

let isEnding = false;
function end(): void {
  if (isEnding) return;
  isEnding = true;
  // A service that does not stop must not keep a suite from ending.
  void Promise.race([close(), after(10_000)]).finally(() => process.exit(0));
}
process.stdin.on('end', end).on('error', end).resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
console.log(JSON.stringify({ url }));
