import type {
  AttemptError,
  DeliveryStatus,
  DisabledReason,
  WebhookEventType,
  WebhookSubscription,
} from '../../kernel/facts/events.ts';
import type { MailPayload } from '../../kernel/jobs.ts';
import type { ClaimOf } from '../jobs/queue.ts';
import type { AccountId, Actor, Page } from './accounts.ts';

/** An endpoint, without its secrets. */
export interface Webhook {
  readonly id: string;
  readonly accountId: AccountId;
  readonly url: string;
  readonly events: WebhookSubscription;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly disabledAt: number | null;
  /** Since when every attempt has failed; null: the last one succeeded, or there was none. */
  readonly failingSince: number | null;
  /** Until when secrets before the last rotation sign alongside; null: they do not, or no longer. */
  readonly previousSecretUntil: number | null;
  readonly createdAt: number;
}

export interface WebhookInput {
  readonly url: string;
  readonly events: WebhookSubscription;
  readonly description: string | null;
}

/** What one attempt came to. */
export interface AttemptOutcome {
  /** The HTTP status; null: none, for the reason in `error`. */
  readonly status: number | null;
  readonly error: AttemptError | null;
  readonly durationMs: number;
  /** The first WEBHOOK_RESPONSE_BYTES of the reply's body as text; null without a reply. */
  readonly response: string | null;
}
export interface DeliveryAttempt extends AttemptOutcome {
  readonly at: number;
}

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  /** The header `webhook-id`. */
  readonly eventId: string;
  readonly event: WebhookEventType;
  readonly status: DeliveryStatus;
  /** In order of time. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly nextAttemptAt: number | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** What is sent, and to where. */
export interface Dispatch {
  readonly url: string;
  /** Each signs. */
  readonly secrets: readonly string[];
  readonly eventId: string;
  readonly body: string;
  /** By the store's clock. */
  readonly at: number;
}
/** An attempt that is due. */
export interface DueDelivery extends Dispatch {
  readonly id: string;
  /** Attempts before this one. */
  readonly attemptCount: number;
}
/** A ping about to be sent. */
export interface PreparedTest extends Dispatch {
  readonly webhookId: string;
}

export interface DueDeliveries {
  /** Oldest first; empty when the webhook or its account is gone, disabled or suspended. */
  readonly due: readonly DueDelivery[];
  /** For how long all attempts have failed, ms; null: they have not. */
  readonly failingForMs: number | null;
}

/** The notice of a disabled webhook to one of the account's admins; null: none. */
export type WebhookDisabledMail = (
  about: { readonly account: string; readonly webhook: string; readonly reason: Exclude<DisabledReason, 'manual'> },
  to: string,
) => MailPayload | null;

/** `pending`: attempted at once now. */
export type ReplayOutcome =
  | { readonly outcome: 'replayed'; readonly delivery: Delivery }
  | { readonly outcome: 'not_found' | 'disabled' };

export interface Webhooks {
  /** Throws ApiError('too_many_webhooks'). */
  create(account: AccountId, input: WebhookInput & { readonly secret: string }, by: Actor): Promise<Webhook>;
  /** Oldest first. */
  list(account: AccountId): Promise<Webhook[]>;
  get(account: AccountId, id: string): Promise<Webhook | null>;
  /** Disabling it ends its pending deliveries. */
  update(
    account: AccountId,
    id: string,
    change: Partial<WebhookInput> & { readonly enabled?: boolean },
    by: Actor,
  ): Promise<Webhook | null>;
  /** From now on `secret` signs, and the one before for `overlapMs` more. */
  rotate(account: AccountId, id: string, secret: string, overlapMs: number, by: Actor): Promise<Webhook | null>;
  /** With its deliveries. */
  remove(account: AccountId, id: string, by: Actor): Promise<boolean>;
  /** Newest first; null where there is no such webhook. */
  deliveries(account: AccountId, id: string, input: { offset: number; limit: number }): Promise<Page<Delivery> | null>;
  /**
   * Sends an event again, as a new delivery with the same `webhook-id`; a pending delivery is itself attempted at once,
   * and then as often again as a new one.
   */
  replay(account: AccountId, delivery: string): Promise<ReplayOutcome>;
  /** What is due of a webhook, up to `most`. */
  due(id: string, most: number): Promise<DueDeliveries>;
  /**
   * Records an attempt and what follows from it: retry, end, disabling, with the mails to the account's admins. False
   * when it was recorded already, or the delivery is gone.
   */
  record(delivery: DueDelivery, outcome: AttemptOutcome, mailTo: WebhookDisabledMail): Promise<boolean>;
  /**
   * Ends a job that sends what is due, unless something is: false. `pauseMs`: nothing is sent before so many ms. The
   * job itself waits where that, or the next attempt, is within `soonMs`; later attempts are for `wake`. Whatever is
   * emitted meanwhile finds the job open, or adds one. Throws LeaseLostError.
   */
  finish(job: ClaimOf<'webhook_delivery'>, wait: { pauseMs: number; soonMs: number }): Promise<boolean>;
  /** A ping, which nothing knows of before it is recorded; null where there is no such webhook. */
  prepareTest(account: AccountId, id: string): Promise<PreparedTest | null>;
  /** A test is not retried; otherwise as `record`. Null when the webhook is gone meanwhile. */
  recordTest(
    account: AccountId,
    test: PreparedTest,
    outcome: AttemptOutcome,
    mailTo: WebhookDisabledMail,
  ): Promise<Delivery | null>;
  /** Adds the job of each webhook that has due deliveries and no job. */
  wake(signal?: AbortSignal): Promise<void>;
}
