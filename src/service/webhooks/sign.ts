/** Signatures of the Standard Webhooks specification (version 1.0.0, "Signature scheme", symmetric). */
import { createHmac } from 'node:crypto';
import { WEBHOOK_SECRET_PREFIX } from '../../kernel/ids.ts';
import { VERSION } from '../../kernel/version.ts';
import type { Dispatch } from '../../store/store.ts';

const SCHEME = 'v1';

/** `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64; the timestamp is Unix time, s. */
function signature(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64');
  return `${SCHEME},${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** The headers of a delivery, signed with each of its secrets. */
export function signedHeaders({ eventId, secrets, body, at }: Dispatch): Record<string, string> {
  const timestamp = Math.floor(at / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': `Mailvet/${VERSION}`,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => signature(secret, eventId, timestamp, body)).join(' '),
  };
}
