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
/** Timers take no more: with more they end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A reply that is read as a whole has at most this size, unpacked. The clients in all languages have the same limit. */
const MAX_REPLY_BYTES = 32 * 1024 * 1024;

/** The parsed body of a 2xx reply. Rejects with NodeApiError, and with NodeOperationError for a URL that is none. */
export async function send(caller: Caller, call: Call): Promise<IDataObject> {
  const { text, reply } = await request(caller, call, true);
  const json = objectOf(text);
  if (json === null || (call.replyField !== undefined && !Object.hasOwn(json, call.replyField)))
    throw notOurs(caller, call, reply.statusCode);
  return json;
}

/** The error of a reply that did not come from Mailvet. */
export const notOurs = (caller: Caller, call: Call, status = 200): NodeApiError =>
  refused(caller, call, foreign(status));

/** The stream of a 2xx reply, which is read once. */
export async function download(
  caller: IExecuteFunctions,
  call: Call,
): Promise<{ readonly body: FileStream; readonly type: string | undefined }> {
  const { reply } = await request(caller, call, false);
  const type = reply.headers['content-type'];
  return { body: reply.body as FileStream, type: typeof type === 'string' ? type.replace(/;.*/s, '') : undefined };
}

/** A 2xx reply, with its text if it is to be read here. */
async function request(
  caller: Caller,
  call: Call,
  isRead: boolean,
): Promise<{ readonly reply: IN8nHttpFullResponse; readonly text: string }> {
  const limit = call.timeout ?? TIMEOUT_MS;
  const until = call.upload === undefined ? Date.now() + limit : Number.POSITIVE_INFINITY;
  for (let left = call.upload === undefined ? (call.retries ?? 0) : 0; ; left -= 1) {
    const options = await optionsOf(caller, call, until);
    let reply: IN8nHttpFullResponse;
    let text: string | null = '';
    let isSuccess: boolean;
    try {
      reply = await caller.helpers.httpRequestWithAuthentication.call(caller, 'mailvetApi', options);
      isSuccess = reply.statusCode >= 200 && reply.statusCode < 300;
      if (isRead || !isSuccess) text = await textOf(reply.body, until);
    } catch {
      throw refused(caller, call, unanswered(limit, Date.now() >= until));
    }
    if (text === null) throw refused(caller, call, tooLarge(reply.statusCode));
    if (isSuccess) return { reply, text };
    const refusal = refusalOf(reply.statusCode, text);
    const wait = left > 0 ? retryDelay(refusal) : null;
    if (wait === null || Date.now() + wait >= until) throw refused(caller, call, refusal);
    await sleep(wait);
  }
}

async function optionsOf(
  caller: Caller,
  { method, path, query, body, upload, idempotencyKey, itemIndex }: Call,
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
    encoding: 'stream',
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    // A redirect would turn a POST into a GET, and could take the key elsewhere.
    disableFollowRedirect: true,
    ...(Number.isFinite(until) ? { timeout: Math.max(1, until - Date.now()) } : {}),
  };
}

/** The text of a reply; null where it is too large. Rejects where it breaks off, or has not ended in time. */
async function textOf(body: unknown, until: number): Promise<string | null> {
  // Without a body, n8n may give something else than a stream.
  if (!isStream(body)) return Buffer.isBuffer(body) ? body.toString('utf8') : String(body ?? '');
  if (Number.isFinite(until)) {
    // n8n keeps timers from nodes. The limit of the request itself ends when the reply begins.
    const left = Math.min(Math.max(0, Math.ceil(until - Date.now())) + 1, LONGEST_TIMER_MS);
    const late = () => body.destroy(new Error('The reply did not end in time.'));
    AbortSignal.timeout(left).addEventListener('abort', late, { once: true });
  }
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    // Leaving the loop closes the connection.
    if (size > MAX_REPLY_BYTES) return null;
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString('utf8');
}

const isStream = (body: unknown): body is FileStream =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

function objectOf(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

const foreign = (status: number): Refusal => ({
  status,
  body: { error: `The reply (status ${status}) did not come from Mailvet. Check the url.` },
});

const tooLarge = (status: number): Refusal => ({
  status,
  body: {
    error: `The reply (status ${status}) is larger than 32 MiB, and was not read to its end.`,
    code: 'reply_too_large',
  },
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
