/**
 * How each kind of hook is asked and answers: the contracts of other services. Their sources, each with its date, are
 * on the page docs/auth-hooks.md.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { HookKind } from '../../kernel/facts/hooks.ts';
import { HOOK_KINDS } from '../../kernel/facts/hooks.ts';
import {
  ADDRESS_LENGTH,
  HOOK_BODY_BYTES,
  HOOK_SIGNATURES_MAX,
  IDEMPOTENCY_KEY_LENGTH,
  LANGUAGE_LENGTH,
} from '../../kernel/facts/limits.ts';
import type { Decision } from '../../kernel/facts/policies.ts';
import { canonicalIp } from '../../kernel/ip.ts';
import { isSameSecret, standardSignature, timedSignature } from '../../kernel/signatures.ts';
import type { SignUp } from '../../service/hooks.ts';
import { isDisconnected } from '../exchange.ts';
import { noteError } from '../reply.ts';
import { type Route, route } from '../route.ts';

/** What the headers of a request say before its body has arrived. */
interface HookClaim {
  /** When it was signed, ms; null: the caller signs nothing, and shows the secret itself. */
  readonly at: number | null;
  /** What all attempts at one event have in common; null: the headers have no such thing. */
  readonly eventId: string | null;
  /** Says whether the secret signed this body. */
  readonly fits: (secret: string, body: Buffer) => boolean;
}

interface CallerReply {
  readonly status: number;
  readonly body: object;
}
interface Signer {
  /** This secret of the hook fitted the request. */
  readonly secret: string;
  readonly now: number;
}

interface HookCaller {
  /** Null where a header is missing or malformed. */
  readonly claimOf: (headers: IncomingHttpHeaders) => HookClaim | null;
  /** `at` may differ from our clock by so much. */
  readonly toleranceMs: number;
  readonly signUpOf: (body: unknown) => SignUp;
  readonly replyOf: (answer: Decision, signer: Signer) => CallerReply;
}

// Signatures

const SECOND_MS = 1000;

export function oneHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns what the pattern's first group matched, at most as often as we look at signatures. */
const allOf = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, group]) => group ?? '').slice(0, HOOK_SIGNATURES_MAX);

const isCallId = (text: string): boolean => text.length <= IDEMPOTENCY_KEY_LENGTH.max && /^[\x21-\x7e]+$/.test(text);

/**
 * Standard Webhooks 1.0.0, symmetric; `prefix`: of its headers. Supabase separates several signatures by a comma as
 * well as a space.
 */
export function standardClaim(headers: IncomingHttpHeaders, prefix = 'webhook'): HookClaim | null {
  const id = oneHeader(headers, `${prefix}-id`);
  const timestamp = oneHeader(headers, `${prefix}-timestamp`);
  const header = oneHeader(headers, `${prefix}-signature`);
  if (id === null || !isCallId(id) || timestamp === null || header === null || !/^\d{1,12}$/.test(timestamp))
    return null;
  const signatures = allOf(header, /(?:^|[ ,])v1,([A-Za-z0-9+/]{43}=)/g).map((text) => Buffer.from(text, 'base64'));
  if (signatures.length === 0) return null;
  return {
    at: Number(timestamp) * SECOND_MS,
    eventId: id,
    fits(secret, body) {
      const expected = standardSignature(secret, id, timestamp, body);
      return signatures.some((one) => isSameSecret(one, expected));
    },
  };
}

/** `t=<timestamp>,v1=<hex>`, as WorkOS and ZITADEL have it; `unitMs`: of the timestamp. */
const timedClaim =
  (name: string, unitMs: number) =>
  (headers: IncomingHttpHeaders): HookClaim | null => {
    const header = oneHeader(headers, name);
    const [, timestamp] = /(?:^|,) *t=(\d{1,15})(?:,|$)/.exec(header ?? '') ?? [];
    if (header === null || timestamp === undefined) return null;
    const signatures = allOf(header, /(?:^|,) *v1=([0-9a-f]{64})/gi).map((text) => Buffer.from(text, 'hex'));
    if (signatures.length === 0) return null;
    return {
      at: Number(timestamp) * unitMs,
      // ZITADEL names no event: a request that arrives twice has the same signature.
      eventId: signatures[0]?.toString('hex') ?? null,
      fits(secret, body) {
        const expected = timedSignature(secret, timestamp, body);
        return signatures.some((one) => isSameSecret(one, expected));
      },
    };
  };

/** Ory signs nothing: it sends the secret as an API key, in a header. */
function secretClaim(headers: IncomingHttpHeaders): HookClaim | null {
  const sent = oneHeader(headers, 'authorization')?.replace(/^Bearer /i, '');
  if (sent === undefined) return null;
  const trigger = oneHeader(headers, 'ory-webhook-trigger-id');
  return {
    at: null,
    eventId: trigger !== null && isCallId(trigger) ? trigger : null,
    fits: (secret) => isSameSecret(Buffer.from(sent), Buffer.from(secret)),
  };
}

// Bodies. Whatever is not where it should be counts as missing: the caller's next version may leave it out.

/** The text at a path of objects and lists; null where there is none, or an empty one. */
export function textAt(body: unknown, ...path: readonly (string | number)[]): string | null {
  let value = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
    value = Reflect.get(value, name);
  }
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** No address is as long as what a check takes, so that the rest of a longer text changes nothing. */
const hookAddress = (text: string | null): string | null => text?.slice(0, ADDRESS_LENGTH.max) ?? null;
/** Cuts the text to the longest language that a request may have. */
const languageIn = (text: string | null): string | null => text?.slice(0, LANGUAGE_LENGTH.max) ?? null;
const ipIn = (text: string | null): string | null => (text === null ? null : canonicalIp(text));

const KRATOS_EMAIL = [
  ['email'],
  ['traits', 'email'],
  ['identity', 'traits', 'email'],
  ['ctx', 'identity', 'traits', 'email'],
] as const;
const ZITADEL_EMAIL = [
  ['request', 'email', 'email'],
  ['request', 'human', 'email', 'email'],
] as const;

function firstAt(body: unknown, paths: readonly (readonly string[])[]): string | null {
  for (const path of paths) {
    const text = textAt(body, ...path);
    if (text !== null) return text;
  }
  return null;
}

// Replies

const OK = 200;
/** What people who may not sign up are answered, where the caller takes a status of the 400s. */
const REFUSED_STATUS = 400;
/** Of our message, for front ends of Ory Kratos; its own numbers begin at 1,000,000 and have another meaning. */
const KRATOS_MESSAGE_ID = 8025;

const isRejected = ({ action }: Decision): boolean => action === 'reject';

function workosReply(answer: Decision, { secret, now }: Signer): CallerReply {
  // The fields are in the order in which WorkOS's own library writes them: the signature is of this text.
  const payload = isRejected(answer)
    ? { timestamp: now, verdict: 'Deny', error_message: answer.message }
    : { timestamp: now, verdict: 'Allow' };
  const signature = timedSignature(secret, now, JSON.stringify(payload)).toString('hex');
  return { status: OK, body: { object: 'user_registration_action_response', payload, signature } };
}

function kratosReply(answer: Decision): CallerReply {
  if (!isRejected(answer)) return { status: OK, body: {} };
  const context = { because: answer.because };
  const message = { id: KRATOS_MESSAGE_ID, text: answer.message, type: 'error', context };
  return { status: REFUSED_STATUS, body: { messages: [{ instance_ptr: '#/traits/email', messages: [message] }] } };
}

/** Most callers know no more than yes and no: what is to be reviewed may sign up, and the log has it. */
export const HOOK_CALLERS: Readonly<Record<HookKind, HookCaller>> = {
  supabase: {
    claimOf: (headers) => standardClaim(headers),
    toleranceMs: 300 * SECOND_MS,
    signUpOf: (body) => ({
      email: hookAddress(textAt(body, 'user', 'email')),
      ip: ipIn(textAt(body, 'metadata', 'ip_address')),
      // Each attempt has a `webhook-id` of its own, and the same body.
      eventId: textAt(body, 'metadata', 'uuid'),
      language: null,
    }),
    // If the status were not 200, the message would not reach the person (supabase/auth issue 2235).
    replyOf: (answer) => ({
      status: OK,
      body: isRejected(answer) ? { error: { http_code: REFUSED_STATUS, message: answer.message } } : {},
    }),
  },
  workos: {
    claimOf: timedClaim('workos-signature', 1),
    toleranceMs: 180 * SECOND_MS,
    signUpOf: (body) => ({
      email: hookAddress(textAt(body, 'user_data', 'email')),
      ip: ipIn(textAt(body, 'ip_address')),
      eventId: textAt(body, 'id'),
      language: null,
    }),
    replyOf: workosReply,
  },
  kratos: {
    claimOf: secretClaim,
    toleranceMs: 0,
    signUpOf: (body) => ({
      email: hookAddress(firstAt(body, KRATOS_EMAIL)),
      ip: ipIn(textAt(body, 'ip') ?? textAt(body, 'request_headers', 'True-Client-Ip', 0)),
      eventId: null,
      language: languageIn(textAt(body, 'language') ?? textAt(body, 'request_headers', 'Accept-Language', 0)),
    }),
    replyOf: kratosReply,
  },
  zitadel: {
    claimOf: timedClaim('zitadel-signature', SECOND_MS),
    toleranceMs: 300 * SECOND_MS,
    signUpOf: (body) => ({ email: hookAddress(firstAt(body, ZITADEL_EMAIL)), ip: null, eventId: null, language: null }),
    replyOf: (answer) => ({
      status: OK,
      body: isRejected(answer) ? { forwardedStatusCode: REFUSED_STATUS, forwardedErrorMessage: answer.message } : {},
    }),
  },
  generic: {
    claimOf: (headers) => standardClaim(headers),
    toleranceMs: 300 * SECOND_MS,
    signUpOf: (body) => ({
      email: hookAddress(textAt(body, 'email')),
      ip: ipIn(textAt(body, 'ip')),
      eventId: null,
      language: languageIn(textAt(body, 'language')),
    }),
    replyOf: (answer) => ({
      status: OK,
      body: { action: answer.action, message: answer.action === 'accept' ? null : answer.message },
    }),
  },
};

/** What auth servers call before they create a user. */
export const HOOK_CALL_ROUTES: readonly Route[] = HOOK_KINDS.map((kind) =>
  route({
    method: 'POST',
    path: `/hooks/:id/${kind}`,
    access: 'hook',
    via: kind,
    // JSON, whatever the header says: its signature counts.
    input: { maxBodyBytes: HOOK_BODY_BYTES, lenient: true },
    serve:
      ({ hooks, clock }) =>
      async ({ hook, secret, sent, event, began, ip, request, reply }) => {
        const { signUpOf, replyOf } = HOOK_CALLERS[kind];
        const call = { hook, signUp: signUpOf(sent), event, ip, began, hasDisconnected: () => isDisconnected(reply) };
        const { answer, cause } = await hooks.answer(call);
        // Whoever asked gets an answer. Why it is not a verdict is for the account's log.
        if (cause !== null) noteError(request, cause);
        request.answer = answer.action;
        const { status, body } = replyOf(answer, { secret, now: clock.now() });
        return { status, body };
      },
  }),
);
