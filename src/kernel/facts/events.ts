/** The catalog of webhook events: what happened, and what `data` of its body is. */
import type { MailServerProblem } from './checks.ts';

/** An API key as the API shows it; never the key itself. Times: RFC 3339. */
export interface KeyEventData {
  readonly id: string;
  readonly name: string;
  /** Shows `mv_live_…` and the last four characters. */
  readonly key: string;
  readonly allow_ips: readonly string[];
  readonly scopes: readonly string[];
  /** Null if it has no budget. */
  readonly monthly_credits: number | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  /** From this time on it is refused; in the future for a key that was rolled. */
  readonly revoked_at: string | null;
}

/** The account that an event for operators is about. */
interface AccountEventData {
  readonly id: string;
  readonly name: string;
  readonly external_id: string | null;
}

/** `data` of each event: the object of the API that it is about; no key, no verified address. */
export interface WebhookEventData {
  /** The list, as `GET /v1/lists/:id` returns it. */
  readonly 'list.completed': Readonly<Record<string, unknown>>;
  readonly 'list.failed': Readonly<Record<string, unknown>>;
  readonly 'list.cancelled': Readonly<Record<string, unknown>>;
  /** `credits` as in `GET /v1/usage`; `low_balance`: the threshold that the balance fell below. */
  readonly 'credits.low': {
    readonly credits: {
      readonly total: number;
      readonly locked: number;
      readonly used: number;
      readonly remaining: number;
    };
    readonly low_balance: number;
    /** Only events for operators have it. */
    readonly account?: AccountEventData;
  };
  readonly 'account.created': {
    readonly account: AccountEventData;
    readonly plan: string;
    /** The account opens with this balance. */
    readonly credits: number;
  };
  /** Negative `credits` were taken back; `balance`: what is left after it. */
  readonly 'credits.granted': {
    readonly account: AccountEventData;
    readonly credits: number;
    readonly note: string;
    readonly balance: number;
  };
  readonly 'credits.exhausted': { readonly account: AccountEventData };
  readonly 'key.created': KeyEventData;
  readonly 'key.revoked': KeyEventData;
  /** Verdicts that the outcome of a mail contradicts: how many, and the first of them as the API lists them. */
  readonly 'outcomes.contradiction': {
    readonly total: number;
    readonly contradictions: readonly Readonly<Record<string, unknown>>[];
  };
  /** Far more requests than usual were rejected; `usual`: in as long a time, on average. */
  readonly 'rejections.high': { readonly rejected: number; readonly usual: number; readonly since: string };
  /** Shares from 0 to 1, of what was asked about. */
  readonly 'unknowns.high': {
    readonly unknown: number;
    readonly share: number;
    readonly usual_share: number;
    readonly since: string;
  };
  readonly 'budget.low': {
    readonly key_id: string;
    readonly name: string;
    readonly monthly_credits: number;
    readonly used: number;
    readonly resets_at: string;
  };
  /** `url`: as far as it is no secret. */
  readonly 'webhook.failing': { readonly webhook_id: string; readonly url: string; readonly failing_since: string };
  /** `since` is when this service noticed it. */
  readonly 'smtp.unreachable': { readonly state: MailServerProblem; readonly since: string };
  readonly ping: { readonly webhook_id: string };
}

/** The types are stored and part of the API: never rename one. */
export const WEBHOOK_EVENT_TYPES = [
  'list.completed',
  'list.failed',
  'list.cancelled',
  'credits.low',
  'account.created',
  'credits.granted',
  'credits.exhausted',
  'key.created',
  'key.revoked',
  'outcomes.contradiction',
  'rejections.high',
  'unknowns.high',
  'budget.low',
  'webhook.failing',
  'smtp.unreachable',
  'ping',
] as const satisfies readonly (keyof WebhookEventData)[];
/** These events are of all accounts; they go to the webhooks of accounts that operators have chosen. */
const OPERATOR_EVENT_TYPES = [
  'account.created',
  'credits.granted',
  'credits.low',
  'credits.exhausted',
] as const satisfies readonly (keyof WebhookEventData)[];
export type OperatorEventType = (typeof OPERATOR_EVENT_TYPES)[number];

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** In place of types, this means every event, also those that later versions add. */
export const EVERY_EVENT = '*';
/** `slack`: a text for a chat, `{"text": …}`; only of events that are alerts. */
export const WEBHOOK_FORMATS = ['events', 'slack'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export type WebhookSubscription = readonly (WebhookEventType | typeof EVERY_EVENT)[];

export const subscribes = (events: WebhookSubscription, type: WebhookEventType): boolean =>
  events.includes(EVERY_EVENT) || events.includes(type);

/** `pending`: not attempted yet, or to be attempted again. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * Why an endpoint gets nothing: `manual`: a user turned it off; `gone`: it answered 410; `failing`: nothing but
 * failures.
 */
export const DISABLED_REASONS = ['manual', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Says whether an attempt with this HTTP status (null: none) has delivered. */
export const delivers = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** Why an attempt got no HTTP status. */
export const ATTEMPT_ERRORS = [
  /** No status came in time. */
  'timeout',
  /** The host name has no address that webhooks may be sent to. */
  'unknown_host',
  /** The DNS servers of the host name did not answer. */
  'dns_failure',
  /** The address in the URL is not publicly routable. */
  'address_not_allowed',
  'not_https',
  'connection_failed',
  /** The certificate has expired or is not valid yet. */
  'certificate_expired',
  /** The certificate is for other host names. */
  'certificate_name_mismatch',
  /** Means self-signed, or a chain that does not lead to a trusted authority: often, an intermediate is missing. */
  'certificate_untrusted',
  /** The handshake failed for another reason. */
  'tls_failed',
  /** The reply was not HTTP. */
  'invalid_reply',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];
