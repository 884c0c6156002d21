export { createMailvet } from './client.ts';
export { MailvetError } from './error.ts';
export {
  type Guard,
  type GuardCheck,
  type GuardOptions,
  type GuardOutcome,
  type GuardRejection,
  guard,
} from './guard.ts';
export type * from './types.ts';
export { verifyWebhook, WebhookVerificationError } from './webhook.ts';
