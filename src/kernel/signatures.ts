/** Signatures of requests and replies with a shared secret, as webhooks and hooks have them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { WEBHOOK_SECRET_PREFIX } from './ids.ts';

type Payload = string | Uint8Array;

/** The secret as it is shown: base64 after a prefix, before which Supabase writes the version of the signature. */
const signingKey = (secret: string): Buffer =>
  Buffer.from(secret.slice(secret.indexOf(WEBHOOK_SECRET_PREFIX) + WEBHOOK_SECRET_PREFIX.length), 'base64');

/**
 * Computes HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks 1.0.0, "Signature scheme", symmetric); `timestamp` is
 * Unix time in seconds.
 */
export const standardSignature = (secret: string, id: string, timestamp: number | string, body: Payload): Buffer =>
  createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.`).update(body).digest();

/** HMAC-SHA256 of `timestamp.body`, whatever unit the timestamp has: as WorkOS and ZITADEL sign. */
export const timedSignature = (secret: string, timestamp: number | string, body: Payload): Buffer =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();

/** Compares in a time that does not depend on where two values differ. */
export const isSameSecret = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);
