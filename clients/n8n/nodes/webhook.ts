/** Whether a webhook came from the service, by the scheme of Standard Webhooks. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Standard Webhooks recommends five minutes. */
export const TOLERANCE_SECONDS = 300;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The ID of the event, which is the same in every attempt and replay; or why the webhook is not genuine. */
export function checkWebhook(
  body: Buffer,
  headers: Headers,
  secret: string,
): { readonly id: string } | { readonly forged: string } {
  for (const name of NAMES) if (headerOf(headers, name) === '') return { forged: `The header ${name} is missing.` };
  const [id, timestamp, signatures] = NAMES.map((name) => headerOf(headers, name)) as [string, string, string];
  if (!/^\d{1,12}$/.test(timestamp)) return { forged: 'webhook-timestamp is not a Unix time.' };
  const key = SECRET.exec(secret)?.[1];
  if (key === undefined) return { forged: 'The trigger has no secret: activate the workflow again.' };
  const expected = createHmac('sha256', Buffer.from(key, 'base64')).update(`${id}.${timestamp}.`).update(body).digest();
  const given = signatures.split(' ').flatMap((one) => SIGNATURE.exec(one)?.[1] ?? []);
  if (!given.some((one) => timingSafeEqual(Buffer.from(one, 'base64'), expected)))
    return { forged: 'No signature fits the secret.' };
  // After the signature, so that the answer tells nothing to others.
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    return { forged: 'webhook-timestamp is too old or too new. Check the clock.' };
  return { id };
}

function headerOf(headers: Headers, name: string): string {
  const value = headers[name];
  // Of a header that came more than once, only signatures may have several values, with spaces between them.
  return Array.isArray(value) ? value.join(' ') : (value ?? '');
}
