import type { Post } from '../../engine/http/post.ts';
import type { Clock } from '../../kernel/clock.ts';
import { WEBHOOK_RESPONSE_BYTES, WEBHOOK_TIMEOUT_MS } from '../../kernel/facts/limits.ts';
import type { AttemptOutcome, Dispatch, WebhookDisabledMail } from '../../store/store.ts';
import { signedHeaders } from './sign.ts';

/** Makes one attempt. Rejects only with the reason of its aborted signal. */
export type Send = (dispatch: Dispatch, signal: AbortSignal) => Promise<AttemptOutcome>;

export const createSend =
  (post: Post, clock: Clock): Send =>
  async (dispatch, signal) => {
    const began = clock.elapsed();
    const outcome = await post({
      url: dispatch.url,
      headers: signedHeaders(dispatch),
      body: dispatch.body,
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
