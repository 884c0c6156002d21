import Type from 'typebox';
import { ApiError } from '../../kernel/errors.ts';
import { BODY_BYTES, LIST_JSON_BYTES, MCP_BYTES, TIMEOUT_MS } from '../../kernel/facts/limits.ts';
import { DEFAULT_LEVEL } from '../../kernel/facts/plans.ts';
import type { KeyScope } from '../../kernel/facts/scopes.ts';
import type { HeldPlace } from '../../kernel/fair-queue.ts';
import { kibibytes } from '../../kernel/format.ts';
import { listObject } from '../../service/lists/service.ts';
import { spooled } from '../../service/lists/spooled.ts';
import { withOutageDecision } from '../../service/policies.ts';
import { requireAdmission } from '../access/api-key.ts';
import { keyIn } from '../compat/vendor.ts';
import type { HttpContext } from '../context.ts';
import { explanationOf } from '../dashboard/replies.ts';
import { disconnectSignal, type HttpRequest, isDisconnected } from '../exchange.ts';
import { bodyArrived, jsonReader, objectBody, rawBody } from '../input/reader.ts';
import { noteError } from '../reply.ts';
import { type ChargedKeyContext, JSON_TYPE, type RawAnswer, type Route, route } from '../route.ts';
import type { McpBackend } from './tools.ts';

/** `any`: the request counts, whichever scopes the key has. Null: the key is authenticated alone. */
async function admittedFor(
  context: HttpContext,
  granted: ChargedKeyContext,
  scope: KeyScope | 'any' | null,
  invalid = false,
) {
  const { keyHash, ip, reply } = granted;
  const asked = { keyHash, scope, ip, invalid, idempotency: null, hasDisconnected: () => isDisconnected(reply) };
  const admission = requireAdmission(context, granted, await context.admission.admit(asked));
  if (admission.outcome !== 'admitted') throw new TypeError('A request without a verification is admitted.');
  return admission;
}

/**
 * The service's operations with the caller's key: each is admitted, limited and charged like its own route. `counted`
 * is called by each.
 */
function backendOf(context: HttpContext, granted: ChargedKeyContext, counted: () => void): McpBackend {
  const { keyHash, test, ip, reply, via } = granted;
  const admitted = (scope: KeyScope, invalid = false) => {
    counted();
    return admittedFor(context, granted, scope, invalid);
  };
  return {
    async verify({ email, scope = null, language = null, policy: name, ...asked }) {
      const policy = name === undefined ? null : await context.policies.ofKey(keyHash, name);
      if (policy instanceof ApiError) {
        await admitted('verify', true);
        throw policy;
      }
      counted();
      const outcome = await context.verify
        .verify({
          keyHash,
          test,
          ip,
          via,
          email,
          scope,
          policy,
          language,
          idempotency: null,
          withEvidence: false,
          level: asked.validation_type ?? policy?.level ?? DEFAULT_LEVEL,
          timeoutMs: asked.timeout_ms ?? policy?.timeoutMs ?? TIMEOUT_MS.default,
          clientIp: asked.client_ip ?? ip,
          hasDisconnected: () => isDisconnected(reply),
          signal: () => disconnectSignal(reply),
        })
        .catch((error: unknown) => {
          throw withOutageDecision(error, policy, language);
        });
      try {
        requireAdmission(context, granted, 'admission' in outcome ? outcome.admission : outcome);
        if (outcome.outcome === 'failed') throw outcome.error;
      } catch (error) {
        throw withOutageDecision(error, policy, language);
      }
      if (outcome.outcome !== 'answered') throw new TypeError('A stored reply without an Idempotency-Key.');
      return JSON.parse(outcome.record.body);
    },
    countUnusable: async (scope) => void (await admitted(scope, true)),
    async explain(input) {
      await admitted('verify');
      return explanationOf(context.replies.explain, input);
    },
    account: {
      async createList({ emails, name, validation_type, policy, dedupe }) {
        const { caller } = await admitted('lists');
        const { accountId: account, plan, keyId } = caller;
        const upload = async (place: HeldPlace) => {
          place.keep();
          return {
            level: validation_type,
            policy,
            dedupe,
            fileName: null,
            sentAs: { form: 'json' as const, charset: null },
            ...(name === undefined ? {} : { name }),
            ...(await spooled(emailBytes(emails), LIST_JSON_BYTES)),
          };
        };
        const { list } = await context.lists.upload({ account, plan, keyId, ip }, { caller, ip }, upload);
        return listObject(list);
      },
      async getList(id) {
        const { caller } = await admitted('lists');
        return listObject(await context.lists.get(caller.accountId, id));
      },
      async usage() {
        const { caller, window } = await admitted('usage');
        return context.usage(caller, window, { groupBy: null, from: null, to: null });
      },
    },
  };
}

async function* emailBytes(emails: readonly string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(emails));
}

/**
 * A page of another site may not call, also where its name was made to resolve to this host (DNS rebinding): the Origin
 * is compared with the public address, not with the Host that such a page sends along. Programs send none.
 */
function refuseForeignOrigin({ headers: { origin } }: HttpRequest, publicUrl: string): void {
  if (origin === undefined) return;
  if (URL.parse(origin)?.origin !== URL.parse(publicUrl)?.origin) throw new ApiError('cross_origin');
}

const isToolCall = (body: object): boolean => 'method' in body && body.method === 'tools/call';

/** The protocol knows these headers of a request. */
const MCP_HEADERS = ['content-type', 'mcp-protocol-version'] as const;
/** Replies are never streams, so it need not matter whether a client takes one; the SDK insists. */
const ACCEPTED: [string, string] = ['accept', 'application/json, text/event-stream'];

export const MCP_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/mcp',
    access: 'charged-api-key:verify',
    form: keyIn({}),
    via: 'mcp',
    input: { maxBodyBytes: MCP_BYTES },
    serve: (context) => async (granted) => {
      const { request } = granted;
      refuseForeignOrigin(request, context.url());
      // A key that is none gets 401, as the protocol's section on authorization says, before the message is read.
      const { caller } = await admittedFor(context, granted, null);
      await bodyArrived(request, { maxBodyBytes: MCP_BYTES });
      const isLarge = (rawBody(request)?.length ?? 0) > BODY_BYTES;
      const endTurn = isLarge ? await turnOf(context, granted, caller.accountId) : () => undefined;
      try {
        return await answerTo(context, granted, endTurn);
      } finally {
        endTurn();
      }
    },
  }),
];

/** Messages that are refused, because too many of the account wait, count as well. */
async function turnOf(context: HttpContext, granted: ChargedKeyContext, account: string): Promise<() => void> {
  try {
    return await context.costs.busy('mcp_message', account);
  } catch (error) {
    await admittedFor(context, granted, 'any');
    throw error;
  }
}

const readMessage = jsonReader(Type.Object({}));

/** `checked`: called when the message is parsed and checked, and a tool begins to work. */
async function answerTo(context: HttpContext, granted: ChargedKeyContext, checked: () => void): Promise<RawAnswer> {
  const { request } = granted;
  const json = objectBody(request, { maxBodyBytes: MCP_BYTES });
  const message = json.ok ? readMessage(json.value) : json;
  if (!message.ok) {
    await admittedFor(context, granted, 'any', true);
    throw message.error;
  }
  // A tool is counted by itself.
  let isCounted = !isToolCall(message.value);
  if (isCounted) await admittedFor(context, granted, 'any');
  if (isCounted && (rawBody(request)?.length ?? 0) > BODY_BYTES)
    throw new ApiError('body_too_large', `A message that calls no tool has ${kibibytes(BODY_BYTES)} at most.`, {
      limit: BODY_BYTES,
    });
  const { answerMessage, createMcpServer } = await import('./server.ts');
  const counted = () => {
    isCounted = true;
    checked();
  };
  const server = createMcpServer(backendOf(context, granted, counted), (apiError) => noteError(request, apiError));
  const headers = MCP_HEADERS.flatMap((name) => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, String(value)] satisfies [string, string]];
  });
  const asked = new Request(`${context.url()}/mcp`, { method: 'POST', headers: [ACCEPTED, ...headers] });
  const response = await answerMessage(server, asked, message.value);
  // One that the protocol's library refused before it reached a tool.
  if (!isCounted) await admittedFor(context, granted, 'any');
  const type = response.headers.get('content-type') ?? JSON_TYPE;
  return { status: response.status, body: await response.text(), type };
}
