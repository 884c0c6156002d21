/** Sends what is due to one webhook. */

import type { Post } from '../../engine/http/post.ts';
import type { Clock } from '../../kernel/clock.ts';
import { delivers } from '../../kernel/facts/events.ts';
import { WEBHOOK_ATTEMPTS_AT_ONCE, WEBHOOK_RESPONSE_BYTES, WEBHOOK_TIMEOUT_MS } from '../../kernel/facts/limits.ts';
import { standardSignature } from '../../kernel/signatures.ts';
import { VERSION } from '../../kernel/version.ts';
import type { ClaimOf } from '../../store/jobs/queue.ts';
import type { AttemptOutcome, Dispatch, DueDelivery, Store, WebhookDisabledMail } from '../../store/store.ts';
import { chatMessage } from '../alerts.ts';

/** Names the scheme of the signature (Standard Webhooks 1.0.0). */
const SCHEME = 'v1';

const timestampOf = (at: number): number => Math.floor(at / 1000);

/** Makes the headers of an attempt at `at`, without its signature. */
export const unsignedHeaders = ({ eventId, at }: Pick<Dispatch, 'eventId' | 'at'>): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': `Mailvet/${VERSION}`,
  'webhook-id': eventId,
  'webhook-timestamp': String(timestampOf(at)),
});

/** Makes the headers of a delivery, signed with each of its secrets. */
function signedHeaders({ eventId, secrets, body, at }: Dispatch): Record<string, string> {
  const timestamp = timestampOf(at);
  return {
    ...unsignedHeaders({ eventId, at }),
    'webhook-signature': secrets
      .map((secret) => `${SCHEME},${standardSignature(secret, eventId, timestamp, body).toString('base64')}`)
      .join(' '),
  };
}

/** What is sent of an event. */
export const bodyOf = (
  { format, account, body }: Pick<Dispatch, 'format' | 'account' | 'body'>,
  url: string,
): string => (format === 'slack' ? chatMessage(body, { account, url }) : body);

/** Makes one attempt. Rejects only with the reason of its aborted signal. */
export type Send = (dispatch: Dispatch, signal: AbortSignal) => Promise<AttemptOutcome>;

export const createSend =
  (post: Post, clock: Clock, url: () => string): Send =>
  async (dispatch, signal) => {
    const began = clock.elapsed();
    const body = bodyOf(dispatch, url());
    const outcome = await post({
      url: dispatch.url,
      headers: signedHeaders({ ...dispatch, body }),
      body,
      timeoutMs: WEBHOOK_TIMEOUT_MS,
      replyBytes: WEBHOOK_RESPONSE_BYTES,
      signal,
    });
    return { ...outcome, durationMs: Math.round(clock.elapsed() - began) };
  };

/** The notice to an account's admins that a webhook was disabled; none where mail cannot be sent. */
export const disabledMail =
  (mail: boolean, url: () => string): WebhookDisabledMail =>
  (about, to) =>
    mail ? { template: 'webhook_disabled', to, ...about, link: `${url()}/webhooks` } : null;

/** A webhook with much to receive lets others go first after so long, ms. */
const TURN_MS = 20_000;
/** The next attempt is waited for if it is due so soon, ms; what is due later is found by `wake`. */
const SOON_MS = 10_000;
/**
 * After a round of nothing but failures, a webhook pauses: the longer it has failed, the longer, so that it takes
 * little from others, ms.
 */
const ROUND_PAUSE_MS = { least: 5_000, most: 60_000 } as const;

interface DeliveryParts {
  readonly webhooks: Pick<Store['webhooks'], 'due' | 'record' | 'finish'>;
  readonly send: Send;
  readonly mailTo: WebhookDisabledMail;
  readonly clock: Clock;
  /** An attempt was recorded. */
  readonly onAttempt: (isDelivered: boolean) => void;
}

/** Ends the job as well. */
export type DeliverWebhook = (job: ClaimOf<'webhook_delivery'>, signal: AbortSignal) => Promise<void>;

export function createWebhookDelivery({ webhooks, send, mailTo, clock, onAttempt }: DeliveryParts): DeliverWebhook {
  async function attempt(delivery: DueDelivery, signal: AbortSignal): Promise<boolean> {
    const outcome = await send(delivery, signal);
    await webhooks.record(delivery, outcome, mailTo);
    const isDelivered = delivers(outcome.status);
    onAttempt(isDelivered);
    return isDelivered;
  }

  /** Up to WEBHOOK_ATTEMPTS_AT_ONCE of what is due. Returns for how long nothing more should be sent, ms. */
  async function sendSome(id: string, signal: AbortSignal): Promise<number> {
    const { due, failingForMs } = await webhooks.due(id, WEBHOOK_ATTEMPTS_AT_ONCE);
    // All are recorded, even if the store fails for one.
    const attempts = await Promise.allSettled(due.map((delivery) => attempt(delivery, signal)));
    const delivered = attempts.map((settled) => {
      if (settled.status === 'rejected') throw settled.reason;
      return settled.value;
    });
    return delivered.length === 0 || delivered.includes(true) ? 0 : pauseOf(failingForMs ?? 0);
  }

  return async (job, signal) => {
    const began = clock.elapsed();
    for (;;) {
      signal.throwIfAborted();
      const pauseMs = await sendSome(job.payload.webhook, signal);
      // It is at least 1 ms, so that the job ends and is claimed after those that are due already.
      const turnMs = clock.elapsed() - began >= TURN_MS ? 1 : 0;
      if (await webhooks.finish(job, { pauseMs: Math.max(pauseMs, turnMs), soonMs: SOON_MS })) return;
    }
  };
}

const pauseOf = (failingForMs: number): number =>
  Math.min(ROUND_PAUSE_MS.most, Math.max(ROUND_PAUSE_MS.least, Math.round(failingForMs / 4)));
