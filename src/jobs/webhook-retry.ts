import type { JobRunner } from './runner.ts';

/** One round: a webhook that has something due, and no job, gets one. */
export const webhookRetryJob =
  (wake: (signal: AbortSignal) => Promise<void>): JobRunner<'webhook_retry'> =>
  async (_job, signal) => {
    await wake(signal);
    signal.throwIfAborted();
    return undefined;
  };
