import type { DeliverWebhook } from '../service/webhooks/deliver.ts';
import type { JobRunner } from './runner.ts';

/** Sends what is due to a webhook. Only one job of it is open, so no two nodes make the same attempt at once. */
export const webhookDeliveryJob =
  (deliver: DeliverWebhook): JobRunner<'webhook_delivery'> =>
  async (job, signal) => {
    await deliver(job, signal);
    return 'ended';
  };
