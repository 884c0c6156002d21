/** Sends what is due to one webhook. */
import type { Clock } from '../../kernel/clock.ts';
import { WEBHOOK_ATTEMPTS_AT_ONCE } from '../../kernel/limits.ts';
import { delivers } from '../../kernel/webhook-events.ts';
import type { AttemptOutcome, DueDelivery, Store, WebhookDisabledMail } from '../../store/store.ts';
import type { Send } from './send.ts';

/** A webhook with much to receive lets others go first after so long, ms. */
const TURN_MS = 20_000;
/** The next attempt is waited for if it is due so soon, ms; what is due later is found by `wake`. */
const SOON_MS = 10_000;
/** After a round of nothing but failures, ms: the longer it has failed, the longer, so that it takes little from others. */
const PAUSE_MS = { least: 5_000, most: 60_000 } as const;

interface Parts {
  readonly webhooks: Pick<Store['webhooks'], 'due' | 'record'>;
  readonly send: Send;
  readonly mailTo: WebhookDisabledMail;
  readonly clock: Clock;
}

/** Null: nothing is due soon. `againMs`: more will be, after so long. */
export type DeliverWebhook = (webhook: string, signal: AbortSignal) => Promise<{ readonly againMs: number } | null>;

export function createWebhookDelivery({ webhooks, send, mailTo, clock }: Parts): DeliverWebhook {
  async function attempt(delivery: DueDelivery, signal: AbortSignal): Promise<AttemptOutcome> {
    const outcome = await send(delivery, signal);
    await webhooks.record(delivery, outcome, mailTo);
    return outcome;
  }

  return async (id, signal) => {
    const began = clock.elapsed();
    for (;;) {
      signal.throwIfAborted();
      const { due, nextInMs, failingForMs } = await webhooks.due(id, WEBHOOK_ATTEMPTS_AT_ONCE);
      if (due.length === 0) return nextInMs !== null && nextInMs <= SOON_MS ? { againMs: nextInMs } : null;
      // All are recorded, even if the store fails for one.
      const attempts = await Promise.allSettled(due.map((delivery) => attempt(delivery, signal)));
      const outcomes = attempts.map((settled) => {
        if (settled.status === 'rejected') throw settled.reason;
        return settled.value;
      });
      if (!outcomes.some(({ status }) => delivers(status))) return { againMs: pauseMs(failingForMs ?? 0) };
      if (clock.elapsed() - began >= TURN_MS) return { againMs: 0 };
    }
  };
}

const pauseMs = (failingForMs: number): number =>
  Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, Math.round(failingForMs / 4)));
