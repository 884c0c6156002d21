/** Calls of the service, with the errors and retries that all clients of Mailvet have. */
import {
  type IDataObject,
  type IExecuteFunctions,
  type IHookFunctions,
  type IHttpRequestMethods,
  type IHttpRequestOptions,
  type IN8nHttpFullResponse,
  type JsonObject,
  NodeApiError,
  NodeOperationError,
  sleep,
} from 'n8n-workflow';

export type FileStream = Awaited<ReturnType<IExecuteFunctions['helpers']['getBinaryStream']>>;
export type Caller = IExecuteFunctions | IHookFunctions;
export interface Call {
  readonly method: IHttpRequestMethods;
  /** Below `/v1/`. */
  readonly path: string;
  readonly query?: IDataObject;
  readonly body?: IDataObject;
  /** Sent as it is, in place of `body`. It is sent once, so such a call is not retried. */
  readonly upload?: { readonly type: string; readonly content: Buffer | FileStream };
  /** A field that every reply to the call has: what lacks it did not come from Mailvet. */
  readonly replyField?: string;
  readonly idempotencyKey?: string;
  readonly timeout?: number;
  readonly retries?: number;
  readonly itemIndex?: number;
}
interface Refusal {
  readonly status: number;
  readonly body: JsonObject;
}

const TIMEOUT_MS = 35_000;

/** The parsed body of a 2xx reply. Rejects with NodeApiError, and with NodeOperationError for a URL that is none. */
export async function send(caller: Caller, call: Call): Promise<IDataObject> {
  const { body, statusCode } = await request(caller, call, 'arraybuffer', async (reply) => textOf(reply.body));
  const json = objectOf(body);
  if (json === null || (call.replyField !== undefined && !Object.hasOwn(json, call.replyField)))
    throw refused(caller, call, foreign(statusCode));
  return json;
}

/** The stream of a 2xx reply, which is read once. */
export async function download(
  caller: IExecuteFunctions,
  call: Call,
): Promise<{ readonly body: FileStream; readonly type: string | undefined }> {
  const { body, headers } = await request<FileStream>(caller, call, 'stream', async (reply) =>
    textOf(await caller.helpers.binaryToBuffer(reply.body as FileStream)),
  );
  const type = headers['content-type'];
  return { body, type: typeof type === 'string' ? type.replace(/;.*/s, '') : undefined };
}

interface Reply<Body> extends IN8nHttpFullResponse {
  body: Body & IN8nHttpFullResponse['body'];
}

async function request<Body>(
  caller: Caller,
  call: Call,
  encoding: 'arraybuffer' | 'stream',
  textOfRefusal: (reply: IN8nHttpFullResponse) => Promise<string>,
): Promise<Reply<Body>> {
  const limit = call.timeout ?? TIMEOUT_MS;
  const until = call.upload === undefined ? Date.now() + limit : Number.POSITIVE_INFINITY;
  for (let left = call.upload === undefined ? (call.retries ?? 0) : 0; ; left -= 1) {
    const options = await optionsOf(caller, call, encoding, until);
    let reply: Reply<Body>;
    try {
      reply = await caller.helpers.httpRequestWithAuthentication.call(caller, 'mailvetApi', options);
    } catch {
      throw refused(caller, call, unanswered(limit, Date.now() >= until));
    }
    if (reply.statusCode >= 200 && reply.statusCode < 300) return reply;
    const refusal = refusalOf(reply.statusCode, await textOfRefusal(reply));
    const wait = left > 0 ? retryDelay(refusal) : null;
    if (wait === null || Date.now() + wait >= until) throw refused(caller, call, refusal);
    await sleep(wait);
  }
}

async function optionsOf(
  caller: Caller,
  { method, path, query, body, upload, idempotencyKey, itemIndex }: Call,
  encoding: 'arraybuffer' | 'stream',
  until: number,
): Promise<IHttpRequestOptions> {
  const misuse = (message: string, description: string): Error =>
    new NodeOperationError(caller.getNode(), message, { description, itemIndex });
  if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
    throw misuse('idempotency_key must be 1 to 255 printable ASCII characters.', 'It is set in the options.');
  if (upload !== undefined && !/^[\x20-\x7e]+$/.test(upload.type))
    throw misuse('type must be a media type, such as text/csv.', 'It is that of the binary file.');
  const { url } = await caller.getCredentials('mailvetApi', itemIndex);
  // Also for a URL of the API itself, which ends in /v1.
  const base = String(url).replace(/(\/v1)?\/*$/, '');
  if (!/^https?:\/\/./i.test(base))
    throw misuse(
      'url must be the address of the service',
      'Such as https://verify.example.net. It is set in the credentials.',
    );
  const type = upload?.type ?? (body === undefined ? undefined : 'application/json');
  return {
    url: `${base}/v1/${path}`,
    method,
    headers: {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    qs: query,
    body: upload?.content ?? (body === undefined ? undefined : JSON.stringify(body)),
    encoding,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    // A redirect would turn a POST into a GET, and could take the key elsewhere.
    disableFollowRedirect: true,
    ...(Number.isFinite(until) ? { timeout: Math.max(1, until - Date.now()) } : {}),
  };
}

/** Of a reply, whose body is bytes with the encoding `arraybuffer`; a proxy of n8n may have made it text. */
const textOf = (body: unknown): string => (Buffer.isBuffer(body) ? body.toString('utf8') : String(body ?? ''));

function objectOf(body: unknown): JsonObject | null {
  try {
    const value: unknown = JSON.parse(textOf(body));
    return typeof value === 'object' && value !== null ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

const foreign = (status: number): Refusal => ({
  status,
  body: { error: `The reply (status ${status}) did not come from Mailvet. Check the url.` },
});

function refusalOf(status: number, text: string): Refusal {
  if (status >= 300 && status < 400) {
    const error = 'The service answered with a redirect, which is not followed. Set url to the final address.';
    return { status, body: { error, code: 'redirected' } };
  }
  const body = objectOf(text);
  return body === null ? foreign(status) : { status, body };
}

const unanswered = (limit: number, isLate: boolean): Refusal => ({
  status: 0,
  body: isLate
    ? { error: `The service did not answer within ${limit} ms.`, code: 'timeout' }
    : { error: 'The service could not be reached. Check the url, and that the service runs.', code: 'unreachable' },
});

/**
 * Milliseconds to wait before a retry; null where the call must not be retried. Only errors of the service itself
 * promise that nothing was done; those of a proxy in front of it do not.
 */
function retryDelay({ status, body }: Refusal): number | null {
  const { retry_after, request_id } = body;
  if (typeof retry_after !== 'number' || retry_after < 0 || typeof request_id !== 'string') return null;
  return status === 429 || status === 503 ? retry_after * 1000 : null;
}

/** `context` has what a flow can decide by: status, code, field, retry_after, request_id, and the whole body. */
function refused(caller: Caller, { itemIndex }: Call, { status, body }: Refusal): NodeApiError {
  const { error, code, field, retry_after, request_id } = body;
  const message = typeof error === 'string' && error !== '' ? error : `Status ${status} without an error message.`;
  const facts = {
    status,
    code: typeof code === 'string' && code !== '' ? code : 'unexpected_reply',
    field: typeof field === 'string' ? field : null,
    retry_after: typeof retry_after === 'number' && retry_after >= 0 ? retry_after : null,
    request_id: typeof request_id === 'string' ? request_id : null,
    details: body,
  };
  const failure = new NodeApiError(caller.getNode(), body, {
    message,
    description: `Code: ${facts.code}${facts.request_id === null ? '' : `, request: ${facts.request_id}`}`,
    httpCode: String(status),
    itemIndex,
  });
  Object.assign(failure.context, facts);
  return failure;
}
