/** Background jobs: the table of kinds. src/jobs has one file per kind, with what it does. */

import type { AlertType } from './facts/alerts.ts';
import type { DisabledReason } from './facts/events.ts';
import { keysOf } from './facts/keys-of.ts';
import { WEBHOOK_ENDPOINTS_AT_ONCE } from './facts/limits.ts';

/** Changes of how a user signs in, about which the user is mailed. */
export type SecurityChange =
  | 'password_changed'
  | 'second_factor_on'
  | 'second_factor_off'
  | 'passkey_added'
  | 'passkey_removed';

/** A mail is a template and its variables. */
export type MailPayload =
  | {
      readonly template: 'invitation';
      readonly to: string;
      readonly account: string;
      readonly role: string;
      readonly by: string;
      readonly link: string;
    }
  | {
      readonly template: 'low_balance';
      readonly to: string;
      readonly account: string;
      readonly balance: number;
      readonly threshold: number;
      readonly link: string;
    }
  | {
      readonly template: 'webhook_disabled';
      readonly to: string;
      readonly account: string;
      /** The URL of the webhook is given without its query. */
      readonly webhook: string;
      readonly reason: Exclude<DisabledReason, 'manual'>;
      readonly link: string;
    }
  | {
      readonly template: 'security_change';
      readonly to: string;
      readonly change: SecurityChange;
      /** Counts passkeys that are removed together with the change. */
      readonly removedPasskeys: number;
      /** The time is Unix time in ms. */
      readonly at: number;
      /** Null, as the device: changed on the command line. */
      readonly ip: string | null;
      readonly device: string | null;
      /** To request a link to choose a new password. */
      readonly link: string;
    };

/** An alert goes to one of the owners and admins. */
export interface AlertMail {
  readonly to: string;
  readonly account: string;
  readonly type: AlertType | 'test';
  readonly subject: string;
  readonly text: string;
  /** The page with this path shows more. */
  readonly path: string;
}

type Empty = Readonly<Record<never, never>>;

/** Payloads are stored as JSON. */
export interface JobPayloads {
  readonly mail: MailPayload;
  /** A kind of its own, as programs of the version before do not know these mails. */
  readonly alert_mail: AlertMail;
  /** The token is made when the mail is sent, so that no payload holds one. */
  readonly password_reset: { readonly email: string };
  /** `password` is a hash. */
  readonly sign_up: { readonly name: string; readonly email: string; readonly password: string };
  readonly low_balance: Empty;
  readonly purge: Empty;
  /** The job's own `account` is the one to remove. */
  readonly account_removal: Empty;
  readonly lists_update: Empty;
  readonly lists_refresh: Empty;
  readonly learn_hosts: Empty;
  /** A list that was deleted; the job's own `account` is its owner. */
  readonly list_removal: { readonly list: string };
  /** What is due of one webhook, whose id is the key as well. */
  readonly webhook_delivery: { readonly webhook: string };
  readonly webhook_retry: Empty;
}
export type JobKind = keyof JobPayloads;

export const JOB_STATES = ['waiting', 'running', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface JobPolicy {
  /** Operators see this line. */
  readonly description: string;
  /** Attempts before the job is set aside as failed. */
  readonly attempts: number;
  /** The wait before the second attempt. It is doubled for each further one, with jitter, up to the maximum. */
  readonly backoffSeconds: number;
  readonly backoffMaxSeconds: number;
  /** How many jobs of this kind run at once in one process. */
  readonly concurrency: number;
  /** A worker that has not renewed its lease for this long, s, has lost the job. At least 10. */
  readonly leaseSeconds: number;
  /** An attempt that takes longer than this, s, is aborted. At most 12 hours. */
  readonly timeoutSeconds: number;
  /** Failed jobs are deleted, with their payload, after this many days. */
  readonly keepFailedDays: number;
  /** A periodic job runs again so long after the end of the last round. */
  readonly everySeconds: number | null;
}

const MAIL = {
  attempts: 10,
  backoffSeconds: 10,
  backoffMaxSeconds: 900,
  concurrency: 4,
  leaseSeconds: 60,
  timeoutSeconds: 120,
  everySeconds: null,
} as const;
const PERIODIC = {
  attempts: 5,
  backoffSeconds: 10,
  backoffMaxSeconds: 600,
  concurrency: 1,
  leaseSeconds: 30,
  keepFailedDays: 3,
} as const;

export const JOB_POLICIES = {
  // Links in invitations are valid for seven days, so a failed mail is worth retrying for as long.
  mail: {
    ...MAIL,
    description: 'Sends an invitation, an alert about an account or a notice of a changed sign-in.',
    attempts: 16,
    keepFailedDays: 7,
  },
  alert_mail: { ...MAIL, description: 'Sends an alert to an owner or admin.', keepFailedDays: 3 },
  password_reset: { ...MAIL, description: 'Sends a link to choose a new password.', keepFailedDays: 1 },
  sign_up: { ...MAIL, description: 'Sends the link that confirms a sign-up.', keepFailedDays: 1 },
  low_balance: {
    ...PERIODIC,
    description: 'Looks for what alerts are about: low balances, failing webhooks, rejections and others.',
    timeoutSeconds: 600,
    everySeconds: 30,
  },
  purge: {
    ...PERIODIC,
    description: 'Deletes verifications and other rows past their retention.',
    timeoutSeconds: 12 * 3600,
    everySeconds: 30,
  },
  account_removal: {
    description: 'Deletes the rows of a deleted account.',
    attempts: 12,
    backoffSeconds: 30,
    backoffMaxSeconds: 6 * 3600,
    concurrency: 1,
    leaseSeconds: 30,
    timeoutSeconds: 12 * 3600,
    keepFailedDays: 365,
    everySeconds: null,
  },
  list_removal: {
    description: 'Deletes the rows and results of a deleted list.',
    attempts: 12,
    backoffSeconds: 30,
    backoffMaxSeconds: 6 * 3600,
    concurrency: 2,
    leaseSeconds: 30,
    timeoutSeconds: 12 * 3600,
    keepFailedDays: 365,
    everySeconds: null,
  },
  lists_update: {
    description: 'Downloads the latest disposable list.',
    // An operator waits for it.
    attempts: 2,
    backoffSeconds: 1,
    backoffMaxSeconds: 1,
    concurrency: 1,
    leaseSeconds: 30,
    timeoutSeconds: 300,
    keepFailedDays: 7,
    everySeconds: null,
  },
  webhook_delivery: {
    description: 'Sends what is due to one webhook.',
    // The attempts at a delivery are counted with it. This one fails only when the store does.
    attempts: 5,
    backoffSeconds: 5,
    backoffMaxSeconds: 60,
    concurrency: WEBHOOK_ENDPOINTS_AT_ONCE,
    leaseSeconds: 30,
    timeoutSeconds: 300,
    keepFailedDays: 1,
    everySeconds: null,
  },
  webhook_retry: {
    ...PERIODIC,
    description: 'Looks for webhooks with deliveries to be attempted again.',
    timeoutSeconds: 300,
    everySeconds: 10,
  },
  learn_hosts: {
    ...PERIODIC,
    description: 'Looks up the mail hosts of listed domains, to learn which hosts are disposable.',
    timeoutSeconds: 3600,
    everySeconds: 3600,
  },
  lists_refresh: {
    ...PERIODIC,
    description: 'Downloads the latest disposable list every day.',
    timeoutSeconds: 300,
    everySeconds: 3600,
  },
} as const satisfies Record<JobKind, JobPolicy>;

/** Why a job failed, in a sentence for operators: no addresses, no tokens. `permanent`: retrying cannot succeed. */
export class JobFailure extends Error {
  readonly permanent: boolean;
  constructor(sentence: string, { permanent = false }: { permanent?: boolean } = {}) {
    super(sentence);
    this.name = 'JobFailure';
    this.permanent = permanent;
  }
}

export type JobPolicies = Readonly<Record<JobKind, JobPolicy>>;

export const JOB_KINDS = keysOf(JOB_POLICIES);

export const isJobKind = (name: string): name is JobKind => Object.hasOwn(JOB_POLICIES, name);
