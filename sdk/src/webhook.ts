import type { WebhookEvent, WebhookHeaders, WebhookVerifyOptions } from './types.ts';

/** A request that did not come from Mailvet, or that came too late. Reply with 400. */
export class WebhookVerificationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
  }
}

/** Standard Webhooks recommends five minutes. */
const TOLERANCE_SECONDS = 300;
const SECRET_PREFIX = 'whsec_';
/** The version of the signature with a shared secret. */
const SCHEME = 'v1,';

/**
 * Verifies a webhook (Standard Webhooks) and returns its event. `payload`: the body as it arrived, not parsed and
 * written again. `secret`: that of the webhook, `whsec_…`; several while it is rotated. Rejects with
 * WebhookVerificationError where no signature fits or the time is off, and with TypeError for a payload or secret that
 * is none.
 */
export async function verifyWebhook(
  payload: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS }: WebhookVerifyOptions = {},
): Promise<WebhookEvent> {
  const body = bytesIn(payload);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a Unix time.');
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const keys = await Promise.all((Array.isArray(secret) ? secret : [secret]).map(keyOf));
  const given = signatures.flatMap((one) => (one.startsWith(SCHEME) ? (bytesOf(one.slice(SCHEME.length)) ?? []) : []));
  // Once for each secret, however many signatures are sent.
  const expected = await Promise.all(keys.map((key) => crypto.subtle.sign('HMAC', key, signed)));
  if (!expected.some((mac) => given.some((one) => isSame(new Uint8Array(mac), one))))
    throw new WebhookVerificationError('No signature fits the secret.');
  // After the signature, so that the answer tells nothing to others.
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('webhook-timestamp is too old or too new. Check the clock.');
  return JSON.parse(new TextDecoder().decode(body));
}

/** Also of objects of another realm, as under Jest: they are no instances of the classes of this one. */
function bytesIn(payload: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof payload === 'string') return new TextEncoder().encode(payload);
  if (ArrayBuffer.isView(payload) || Object.prototype.toString.call(payload) === '[object ArrayBuffer]')
    return new Uint8Array(payload);
  throw new TypeError('payload must be the body as it arrived, text or bytes: not parsed JSON.');
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : fieldOf(headers, name);
  // Of a header that came more than once, only signatures may have several values, with spaces between them.
  const text = Array.isArray(value) ? value.join(' ') : value;
  if (typeof text === 'string' && text !== '') return text;
  throw new WebhookVerificationError(`The header ${name} is missing.`);
}

/** Also those of another realm or library. */
const isHeaders = (headers: WebhookHeaders): headers is Pick<Headers, 'get'> => typeof headers.get === 'function';

/** Names of headers have no case, and platforms pass them in any. */
function fieldOf(headers: Exclude<WebhookHeaders, Pick<Headers, 'get'>>, name: string) {
  for (const [given, value] of Object.entries(headers)) if (given.toLowerCase() === name) return value;
  return undefined;
}

function keyOf(secret: unknown) {
  const bytes =
    typeof secret === 'string' && secret.startsWith(SECRET_PREFIX) ? bytesOf(secret.slice(SECRET_PREFIX.length)) : null;
  // Without the secret in the message.
  if (bytes === null || bytes.length === 0) throw new TypeError('secret must be the secret of a webhook: whsec_….');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

/** Of base64; null where it is not. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Takes as long wherever they differ. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0);
  return difference === 0;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
