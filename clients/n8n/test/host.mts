/**
 * Runs the built nodes as n8n does, with n8n-workflow's own parameters, expressions and errors, and with HTTP by axios
 * as n8n sends it. A whole n8n (2.41: 2.9 GB) takes five minutes to install.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export type Json = ReturnType<JSON['parse']>;

const require = createRequire(import.meta.url);
const axios: Json = require('axios');
const { Expression, NodeHelpers }: Json = require('n8n-workflow');
export const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const { n8n } = JSON.parse(readFileSync(`${FOLDER}/package.json`, 'utf8'));

/** The class in a file has the name of the file. */
function loaded(path: string): Json {
  const name = path.replace(/^.*\//, '').replace(/\..*/, '');
  return new (require(`${FOLDER}/${path}`)[name])();
}
const nodes: Record<string, Json> = Object.fromEntries(
  n8n.nodes.map(loaded).map((type: Json) => [`n8n-nodes-mailvet.${type.description.name}`, type]),
);
const credential = loaded(n8n.credentials[0]);

/** The type of node with this name in workflows; undefined for one of another package. */
export const typeOf = (name: string): Json => nodes[name];

const expression = new Expression('UTC');
export function resolved(value: Json, data: Json): Json {
  if (Array.isArray(value)) return value.map((one) => resolved(one, data));
  if (typeof value !== 'object' || value === null) return expression.resolveSimpleParameterValue(value, data);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one, data)]));
}

export interface Credentials {
  readonly url: string;
  readonly apiKey: string;
}

const { authenticate, test } = credential;

/** With the header of the credentials, and replies as n8n gives them to nodes. */
async function sent($credentials: Credentials, options: Json): Promise<Json> {
  const { headers } = resolved(authenticate.properties, { $credentials });
  const reply = await axios.request({
    url: options.url,
    baseURL: options.baseURL,
    method: options.method ?? 'GET',
    headers: { ...options.headers, ...headers },
    params: options.qs,
    data: options.body,
    timeout: options.timeout,
    responseType: options.encoding,
    maxRedirects: options.disableFollowRedirect ? 0 : 20,
    ...(options.ignoreHttpStatusErrors ? { validateStatus: () => true } : {}),
  });
  return { body: reply.data, headers: reply.headers, statusCode: reply.status };
}

/** The request by which n8n tests credentials. */
export const testRequest = (given: Credentials): Promise<Json> =>
  sent(given, resolved(test.request, { $credentials: given }));

export interface Item {
  readonly json: Json;
  readonly binary?: Json;
}
export interface Run {
  readonly type: string;
  readonly parameters: Json;
  readonly credentials: Credentials;
  readonly items?: readonly Item[];
  readonly continueOnFail?: boolean;
  readonly executionId?: string;
  readonly runIndex?: number;
}

const nodeOf = (type: string, parameters: Json): Json => ({
  id: 'node-1',
  name: 'Mailvet',
  type,
  typeVersion: 1,
  position: [0, 0],
  parameters,
});

/** What is set, and the defaults of the rest, as n8n completes a node of a workflow. */
function completed(type: string, parameters: Json): Json {
  const { description } = typeOf(type);
  const node = nodeOf(type, parameters);
  return NodeHelpers.getNodeParameters(description.properties, parameters, true, false, node, description);
}

/** Streams of binary data by their id. */
const stored = new Map<string, () => Readable>();
export function stream(name: string, type: string, content: () => AsyncIterable<Uint8Array>): Json {
  const id = `memory:${stored.size}`;
  stored.set(id, () => Readable.from(content()));
  return { id, data: 'memory', fileName: name, mimeType: type };
}
export const file = (name: string | undefined, type: string, text: string): Json => ({
  data: Buffer.from(text).toString('base64'),
  fileName: name,
  mimeType: type,
});

const common = (type: string, credentials: Credentials, parameters: Json): Json => ({
  getNode: () => nodeOf(type, parameters),
  getWorkflow: () => ({ id: 'workflow-1', name: 'Sign-ups', active: true }),
  getCredentials: async () => credentials,
  helpers: {
    httpRequestWithAuthentication: async (name: string, options: Json) => {
      if (name !== 'mailvetApi') throw new Error(`There are no credentials ${name}.`);
      return sent(credentials, options);
    },
    returnJsonArray: (json: Json) => [{ json }],
    binaryToBuffer: async (body: Json) => (Buffer.isBuffer(body) ? body : buffer(body)),
    getBinaryStream: async (id: string) => stored.get(id)!(),
    prepareBinaryData: async (body: Json, fileName: string, mimeType: string) => ({
      data: (await buffer(body)).toString('base64'),
      fileName,
      mimeType,
    }),
  },
});

/** The items that the node gives out. */
export async function execute({ type, parameters, credentials, items = [{ json: {} }], ...run }: Run): Promise<Json[]> {
  const all = completed(type, parameters);
  const parameterOf = (name: string, index: number, fallback?: Json) =>
    name in all ? resolved(all[name], { $json: items[index].json }) : fallback;
  const context = common(type, credentials, parameters);
  context.helpers.assertBinaryData = (index: number, name: string) => items[index].binary[name];
  const [output] = await typeOf(type).execute.call({
    ...context,
    getInputData: () => items,
    getNodeParameter: parameterOf,
    getExecutionId: () => run.executionId ?? '1',
    getExecutionCancelSignal: () => undefined,
    getWorkflowDataProxy: () => ({ $runIndex: run.runIndex ?? 0 }),
    continueOnFail: () => run.continueOnFail ?? false,
  });
  return output;
}

const TRIGGER = 'n8n-nodes-mailvet.mailvetTrigger';
export interface Trigger {
  readonly url: string;
  readonly credentials: Credentials;
  readonly events: readonly string[];
  /** What n8n keeps for the node between runs. */
  readonly kept: Json;
}

export function hook(name: 'checkExists' | 'create' | 'delete', trigger: Trigger): Promise<boolean> {
  return typeOf(TRIGGER).webhookMethods.default[name].call({
    ...common(TRIGGER, trigger.credentials, { events: trigger.events }),
    getNodeWebhookUrl: () => trigger.url,
    getNodeParameter: (one: string) => ({ events: trigger.events })[one],
    getWorkflowStaticData: () => trigger.kept,
  });
}

/** What a request to the trigger's URL starts a workflow with, or null, and what it is answered. */
export async function receive(
  kept: Json,
  headers: Json,
  rawBody: Buffer,
): Promise<{ items: Json; status: number; said: Json }> {
  const answer = { status: 200, said: null as Json };
  const response = {
    status: (status: number) => Object.assign(answer, { status }) && response,
    json: (said: Json) => Object.assign(answer, { said }) && response,
  };
  const { workflowData, webhookResponse } = await typeOf(TRIGGER).webhook.call({
    ...common(TRIGGER, { url: '', apiKey: '' }, {}),
    getRequestObject: () => ({ rawBody }),
    getResponseObject: () => response,
    getHeaderData: () => headers,
    getWorkflowStaticData: () => kept,
  });
  return { items: workflowData?.[0] ?? null, status: answer.status, said: answer.said ?? webhookResponse };
}
