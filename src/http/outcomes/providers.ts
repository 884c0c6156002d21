/**
 * How providers report what became of mail: how their requests are proved, and what their bodies say. Their sources,
 * each with its date, are on the page docs/outcomes.md. Whatever is not where it should be counts as missing: the
 * provider's next version may leave it out.
 */
import { createHash, createHmac, createPublicKey, createVerify, verify } from 'node:crypto';
import { OutcomesReply } from '../../contract/outcomes.ts';
import { fromIso, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { IDEMPOTENCY_HOURS } from '../../kernel/facts/lifetimes.ts';
import { OUTCOME_SOURCE_LENGTH, PROVIDER_BODY_BYTES, PROVIDER_EVENTS_MAX } from '../../kernel/facts/limits.ts';
import {
  type MailOutcome,
  OUTCOME_PROVIDERS,
  type OutcomeProvider,
  type ReportedOutcome,
} from '../../kernel/facts/sent-mail.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import { isSameSecret } from '../../kernel/signatures.ts';
import type { OutcomeSourceService, Sns } from '../../service/outcome-sources.ts';
import type { OutcomeResult } from '../../service/outcomes.ts';
import { oneHeader, standardClaim, textAt } from '../hooks/callers.ts';
import { replayed } from '../reply.ts';
import { type ProviderProof, type ProviderRequest, type Route, route } from '../route.ts';
import { outcomesReply } from '../v1/outcomes.ts';

interface ProviderForm {
  /** Null: it is not the provider's, by this secret. */
  readonly prove: (
    sent: ProviderRequest,
    secret: string,
    sns: Sns,
  ) => ProviderProof | null | Promise<ProviderProof | null>;
  /**
   * How old a signature may be. Providers that send the same request again for hours sign it once; it is remembered for
   * longer than that.
   */
  readonly maxAgeMs: number;
  /** What it says of mail; may be much more than is taken. */
  readonly outcomesIn: (json: unknown) => readonly (ProviderEvent | null)[];
}

/** An outcome without the name of its source; `at`: null where it is not said. */
interface ProviderEvent {
  readonly email: string | null;
  readonly outcome: MailOutcome;
  readonly at: number | null;
  readonly diagnostic: string | null;
}

/** A replay is recognized by its stored reply, so it is too old before that ends. */
const CALLS_REMEMBERED_MS = (IDEMPOTENCY_HOURS - 1) * HOUR_MS;
/** A signature may be ahead of our clock by so much. */
export const SIGNED_AHEAD_MS = 5 * MINUTE_MS;

const MS_PER_SECOND = 1000;

// Reading

function valueAt(body: unknown, ...path: readonly (string | number)[]): unknown {
  let value = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

function numberAt(body: unknown, ...path: readonly (string | number)[]): number | null {
  const value = valueAt(body, ...path);
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function listAt(body: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = valueAt(body, ...path);
  return Array.isArray(value) ? value.slice(0, PROVIDER_EVENTS_MAX) : [];
}

const isoAt = (body: unknown, ...path: readonly (string | number)[]): number | null =>
  // Postmark has seven digits of a second, Resend a blank and a short offset in places.
  fromIso((textAt(body, ...path) ?? '').replace(/^(\d{4}-\d\d-\d\d) /, '$1T').replace(/([+-]\d\d)$/, '$1:00'));

const unixAt = (unit: number, body: unknown, ...path: readonly (string | number)[]): number | null => {
  const number = numberAt(body, ...path);
  return number === null ? null : Math.round(number * unit);
};

function parsedOrUndefined(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** Words with the codes that a provider has apart from them. */
function withCodes(codes: readonly (string | number | null)[], words: string | null): string | null {
  const missing = codes.filter((code) => code !== null && !(words ?? '').includes(String(code)));
  const text = [...missing, words ?? ''].join(' ').trim();
  return text === '' ? null : text;
}

// Proofs

const sameText = (a: string, b: string): boolean =>
  isSameSecret(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

/** Reads the password of Basic credentials (RFC 7617), or a token (RFC 6750). */
function shownSecret({ headers }: ProviderRequest, secret: string): ProviderProof | null {
  const [, scheme = '', value = ''] =
    /^(basic|bearer) +([^\s]{1,4096})$/i.exec(oneHeader(headers, 'authorization') ?? '') ?? [];
  const text = scheme.toLowerCase() === 'basic' ? Buffer.from(value, 'base64').toString() : `:${value}`;
  const password = text.slice(text.indexOf(':') + 1);
  return value !== '' && sameText(password, secret) ? { at: null, id: null } : null;
}

/**
 * Checks ECDSA with SHA-256 of timestamp and body: https://www.twilio.com/docs/sendgrid/for-developers/tracking-events
 */
function sendgridProof({ headers, raw }: ProviderRequest, secret: string): ProviderProof | null {
  const timestamp = oneHeader(headers, 'x-twilio-email-event-webhook-timestamp');
  const signature = oneHeader(headers, 'x-twilio-email-event-webhook-signature');
  if (timestamp === null || signature === null || !/^\d{1,12}$/.test(timestamp)) return null;
  const key = createPublicKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'spki' });
  const signed = Buffer.concat([Buffer.from(timestamp), raw]);
  if (!verify('sha256', signed, key, Buffer.from(signature, 'base64'))) return null;
  // ECDSA signatures can be rewritten: what was signed tells requests apart.
  return { at: Number(timestamp) * MS_PER_SECOND, id: timestamp + sha256Hex(raw) };
}

/** HMAC-SHA-256 of timestamp and token, in the body. A token may come once: nothing else of the body is signed. */
function mailgunProof({ json }: ProviderRequest, secret: string): ProviderProof | null {
  const timestamp = textAt(json, 'signature', 'timestamp') ?? String(numberAt(json, 'signature', 'timestamp') ?? '');
  const token = textAt(json, 'signature', 'token');
  if (token === null || !/^\d{1,12}$/.test(timestamp)) return null;
  const expected = createHmac('sha256', secret).update(timestamp).update(token).digest('hex');
  const signatures = ['signature', 'parent-signature'].map((name) => textAt(json, 'signature', name) ?? '');
  return signatures.some((one) => sameText(one.toLowerCase(), expected))
    ? { at: Number(timestamp) * MS_PER_SECOND, id: token }
    : null;
}

function resendProof({ headers, raw }: ProviderRequest, secret: string): ProviderProof | null {
  const claim = standardClaim(headers, 'svix') ?? standardClaim(headers);
  return claim?.fits(secret, raw) ? { at: claim.at, id: claim.eventId } : null;
}

const SNS_SIGNED: Readonly<Record<string, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};
const SNS_HASHES: Readonly<Record<string, string>> = { 1: 'sha1', 2: 'sha256' };

/** `secret`: the ARN of the account's topic. Another topic's notifications are signed by SNS as well. */
async function sesProof({ json }: ProviderRequest, secret: string, sns: Sns): Promise<ProviderProof | null> {
  const text = (name: string): string | null => {
    const value = valueAt(json, name);
    return typeof value === 'string' ? value : null;
  };
  const names = SNS_SIGNED[text('Type') ?? ''];
  const hash = SNS_HASHES[text('SignatureVersion') ?? ''];
  const [signature, url, at] = [text('Signature'), text('SigningCertURL'), fromIso(text('Timestamp') ?? '')];
  if (names === undefined || hash === undefined || signature === null || url === null || at === null) return null;
  if (!sameText(text('TopicArn') ?? '', secret)) return null;
  const certificate = await sns.certificate(url, secret).catch((cause: unknown) => {
    throw new ApiError(
      'verification_unavailable',
      'The certificate of SNS could not be fetched.',
      { retry_after: 60 },
      cause,
    );
  });
  if (certificate === null || certificate.publicKey.asymmetricKeyType !== 'rsa') return null;
  const verifier = createVerify(hash);
  for (const name of names) {
    const value = text(name);
    if (value !== null) verifier.update(`${name}\n${value}\n`);
  }
  if (!verifier.verify(certificate.publicKey, signature, 'base64')) return null;
  return { at, id: text('MessageId') };
}

// Bodies

/** An event per recipient. Suppressed ones were not sent, and a recipient among several may not be the one. */
function sesEvents(json: unknown): (ProviderEvent | null)[] {
  const message = parsedOrUndefined(textAt(json, 'Message'));
  const type = textAt(message, 'eventType') ?? textAt(message, 'notificationType') ?? '';
  const of = (part: string, list: string, read: (one: unknown) => Omit<ProviderEvent, 'at'> | null) =>
    listAt(message, part, list).map((one): ProviderEvent | null => {
      const event = read(one);
      return event && { ...event, at: isoAt(message, part, 'timestamp') };
    });
  const addressed = (outcome: MailOutcome) => (one: unknown) => ({
    email: textAt(one, 'emailAddress'),
    outcome,
    diagnostic: withCodes([textAt(one, 'status')], textAt(one, 'diagnosticCode')),
  });
  switch (type) {
    case 'Delivery':
      return of('delivery', 'recipients', (one) => ({
        email: typeof one === 'string' ? one : null,
        outcome: 'delivered',
        diagnostic: null,
      }));
    case 'DeliveryDelay':
      return of('deliveryDelay', 'delayedRecipients', addressed('deferred'));
    case 'Bounce':
      if (/suppress/i.test(textAt(message, 'bounce', 'bounceSubType') ?? '')) return [];
      // Automatic replies are reported as bounces without an action.
      return of('bounce', 'bouncedRecipients', (one) =>
        textAt(one, 'action') === 'failed' || textAt(message, 'bounce', 'bounceType') === 'Permanent'
          ? addressed('bounced')(one)
          : null,
      );
    case 'Complaint': {
      const isComplaint = !/not-spam|auth-failure/.test(textAt(message, 'complaint', 'complaintFeedbackType') ?? '');
      const isSent = textAt(message, 'complaint', 'complaintSubType') === null;
      const events = of('complaint', 'complainedRecipients', addressed('complained'));
      return isComplaint && isSent && events.length === 1 ? events : [];
    }
    default:
      return [];
  }
}

/** Names of events, as the provider has them; others say nothing of whether mail arrives. */
const outcomeOfEvent = (table: Readonly<Record<string, MailOutcome>>, name: string | null): MailOutcome | null =>
  name !== null && Object.hasOwn(table, name) ? (table[name] ?? null) : null;

const SENDGRID: Readonly<Record<string, MailOutcome>> = {
  delivered: 'delivered',
  bounce: 'bounced',
  blocked: 'bounced',
  deferred: 'deferred',
  spamreport: 'complained',
};
const POSTMARK_BOUNCES: Readonly<Record<string, MailOutcome>> = {
  HardBounce: 'bounced',
  SoftBounce: 'bounced',
  Blocked: 'bounced',
  DnsError: 'bounced',
  SpamNotification: 'bounced',
  DMARCPolicy: 'bounced',
  Undeliverable: 'bounced',
  Unknown: 'bounced',
  Transient: 'deferred',
  SpamComplaint: 'complained',
};
const BREVO: Readonly<Record<string, MailOutcome>> = {
  delivered: 'delivered',
  hard_bounce: 'bounced',
  soft_bounce: 'bounced',
  deferred: 'deferred',
  spam: 'complained',
  complaint: 'complained',
};
const RESEND: Readonly<Record<string, MailOutcome>> = {
  'email.delivered': 'delivered',
  'email.bounced': 'bounced',
  'email.delivery_delayed': 'deferred',
  'email.complained': 'complained',
};

function postmarkEvents(json: unknown): (ProviderEvent | null)[] {
  const record = textAt(json, 'RecordType');
  const diagnostic = textAt(json, 'Details');
  if (record === 'Delivery')
    return [
      { email: textAt(json, 'Recipient'), outcome: 'delivered', at: isoAt(json, 'DeliveredAt'), diagnostic: null },
    ];
  const bounce = record === 'Bounce' ? outcomeOfEvent(POSTMARK_BOUNCES, textAt(json, 'Type')) : null;
  const outcome = record === 'SpamComplaint' ? 'complained' : bounce;
  return [outcome && { email: textAt(json, 'Email'), outcome, at: isoAt(json, 'BouncedAt'), diagnostic }];
}

/** Temporary failures are tried again; what is suppressed was not sent. */
function mailgunEvents(json: unknown): (ProviderEvent | null)[] {
  const at = (...path: string[]) => textAt(json, 'event-data', ...path);
  const event = at('event');
  const isSuppressed = /^suppress/.test(at('reason') ?? '');
  const failed = at('severity') === 'temporary' ? 'deferred' : 'bounced';
  const outcome =
    event === 'failed' ? failed : outcomeOfEvent({ delivered: 'delivered', complained: 'complained' }, event);
  if (outcome === null || isSuppressed) return [];
  const code = numberAt(json, 'event-data', 'delivery-status', 'code');
  const codes = [code !== null && code >= 200 && code < 600 ? code : null, at('delivery-status', 'enhanced-code')];
  const words = at('delivery-status', 'message') ?? at('delivery-status', 'description');
  return [
    {
      email: at('recipient'),
      outcome,
      at: unixAt(MS_PER_SECOND, json, 'event-data', 'timestamp'),
      diagnostic: withCodes(codes, words),
    },
  ];
}

/** A message to several recipients has one event that does not say which of them it is about. */
function resendEvents(json: unknown): (ProviderEvent | null)[] {
  const outcome = outcomeOfEvent(RESEND, textAt(json, 'type'));
  const [to, other] = listAt(json, 'data', 'to');
  if (outcome === null || typeof to !== 'string' || other !== undefined) return [];
  if (/suppress/i.test(textAt(json, 'data', 'bounce', 'subType') ?? '')) return [];
  const said = textAt(json, 'data', 'bounce', 'diagnosticCode', 0) ?? textAt(json, 'data', 'bounce', 'diagnosticCode');
  const diagnostic = said ?? textAt(json, 'data', 'bounce', 'message');
  return [{ email: to, outcome, at: isoAt(json, 'created_at'), diagnostic }];
}

export const PROVIDER_FORMS: Readonly<Record<OutcomeProvider, ProviderForm>> = {
  ses: { prove: sesProof, maxAgeMs: CALLS_REMEMBERED_MS, outcomesIn: sesEvents },
  sendgrid: {
    prove: sendgridProof,
    maxAgeMs: CALLS_REMEMBERED_MS,
    outcomesIn: (json) =>
      (Array.isArray(json) ? json.slice(0, PROVIDER_EVENTS_MAX) : []).map((one) => {
        const outcome = outcomeOfEvent(SENDGRID, textAt(one, 'event'));
        const diagnostic = withCodes([textAt(one, 'status')], textAt(one, 'reason') ?? textAt(one, 'response'));
        return (
          outcome && { email: textAt(one, 'email'), outcome, at: unixAt(MS_PER_SECOND, one, 'timestamp'), diagnostic }
        );
      }),
  },
  postmark: { prove: shownSecret, maxAgeMs: 0, outcomesIn: postmarkEvents },
  brevo: {
    prove: shownSecret,
    maxAgeMs: 0,
    outcomesIn(json) {
      const outcome = outcomeOfEvent(BREVO, textAt(json, 'event'));
      // `ts` is of a time zone that the account chose.
      const at = unixAt(1, json, 'ts_epoch') ?? unixAt(MS_PER_SECOND, json, 'ts_event');
      return [outcome && { email: textAt(json, 'email'), outcome, at, diagnostic: textAt(json, 'reason') }];
    },
  },
  mailgun: { prove: mailgunProof, maxAgeMs: CALLS_REMEMBERED_MS, outcomesIn: mailgunEvents },
  // Signed again whenever it is sent.
  resend: { prove: resendProof, maxAgeMs: 5 * MINUTE_MS, outcomesIn: resendEvents },
};

/** As it may be recorded; an event without a time is one of now. */
function reported(provider: OutcomeProvider, json: unknown, name: string, now: number): ReportedOutcome[] {
  const source = name.slice(0, OUTCOME_SOURCE_LENGTH.max);
  return PROVIDER_FORMS[provider].outcomesIn(json).flatMap((event) => {
    if (event === null || event.email === null) return [];
    const { email, outcome, at, diagnostic } = event;
    return { email, outcome, at: at ?? now, diagnostic: outcome === 'bounced' ? diagnostic : null, source };
  });
}

/** Confirms a subscription to the account's topic, which its proof was about. */
async function confirmed({ sns }: OutcomeSourceService, json: unknown): Promise<boolean> {
  if (textAt(json, 'Type') !== 'SubscriptionConfirmation') return false;
  const [topic, token] = [textAt(json, 'TopicArn'), textAt(json, 'Token')];
  if (topic === null || token === null) return false;
  await sns.confirm(topic, token).catch((cause: unknown) => {
    throw new ApiError(
      'verification_unavailable',
      'The subscription could not be confirmed.',
      { retry_after: 60 },
      cause,
    );
  });
  return true;
}

const OUTCOME_CALLS_PATH = '/v1/outcomes';

/** Providers call these. */
export const PROVIDER_ROUTES: readonly Route[] = OUTCOME_PROVIDERS.map((provider) =>
  route({
    method: 'POST',
    path: `${OUTCOME_CALLS_PATH}/${provider}/:id`,
    access: 'outcome-source',
    provider,
    // JSON, whatever the header says: SNS calls it text. Its proof counts.
    input: { bodyLimit: PROVIDER_BODY_BYTES, lenient: true },
    output: { content: OutcomesReply },
    serve:
      ({ outcomes, outcomeSources, admission, clock }) =>
      async ({ source, sent, proof }) => {
        const { accountId, id } = source;
        const ref =
          proof.id === null
            ? null
            : {
                route: `POST ${OUTCOME_CALLS_PATH}/${provider}`,
                key: sha256Hex(`${id}\n${proof.id}`),
                fingerprint: sha256Hex(sent.raw),
              };
        const before = ref && (await admission.find(accountId, ref).catch(otherBody));
        if (before !== null) return replayed(before);
        if (provider === 'ses') await confirmed(outcomeSources, sent.json);
        const rows = reported(provider, sent.json, source.name, clock.now());
        const replyTo = (results: readonly OutcomeResult[]) => outcomesReply(results, []);
        const results = await outcomes.record(accountId, rows, { connection: id }, ref && { ref, replyTo });
        return replyTo(results);
      },
  }),
);

/** What was signed came before, with another body. */
function otherBody(error: unknown): never {
  if (error instanceof ApiError && error.code === 'idempotency_key_reused')
    throw new ApiError('invalid_signature', 'The signature was used before, for another body.', {}, error);
  throw error;
}
