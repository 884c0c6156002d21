/** What a job of each kind does. */
import { HOUR_MS } from '../kernel/clock.ts';
import type { Logger } from '../kernel/log.ts';
import type { SeekAlerts } from '../service/alerts.ts';
import type { ListsUpdate } from '../service/disposable-lists-update.ts';
import type { HostLearning } from '../service/host-learning.ts';
import type { Mail } from '../service/mail.ts';
import type { MailLimits } from '../service/mail-limits.ts';
import type { SharedLists } from '../service/shared-lists.ts';
import type { PasswordService } from '../service/sign-in/password-change.ts';
import type { SignUpService } from '../service/sign-in/sign-up.ts';
import type { Purge, RemoveAccount, RemoveList } from '../service/upkeep.ts';
import type { DeliverWebhook } from '../service/webhooks/deliver.ts';
import type { JobRunner, JobRunners } from './worker.ts';

interface RunnerParts {
  readonly logger: Logger;
  /** Null: this process sends no mail. */
  readonly mail: Mail | null;
  readonly mailLimits: Pick<MailLimits, 'admit' | 'accountMaySend'>;
  readonly signIn: Pick<SignUpService, 'mailSignUp'> & { readonly passwords: Pick<PasswordService, 'mailReset'> };
  readonly seekAlerts: SeekAlerts;
  readonly purge: Purge;
  readonly removeAccount: RemoveAccount;
  readonly removeList: RemoveList;
  readonly listsUpdate: Pick<ListsUpdate, 'run'>;
  readonly sharedLists: SharedLists;
  readonly deliverWebhook: DeliverWebhook;
  readonly wakeWebhooks: (signal: AbortSignal) => Promise<void>;
  readonly hostLearning: HostLearning;
  readonly learnsHosts: boolean;
  readonly updatesDaily: boolean;
}

/** While the account holds credits: what is being verified is settled or released first. */
const REMOVAL_WAIT_MS = 30_000;

/** Rounds and steps are in short transactions: an aborted one keeps its progress, and the next one continues. */
export function createRunners(parts: RunnerParts): JobRunners {
  const { logger, mail, signIn, listsUpdate, sharedLists } = parts;
  return {
    mail: mail && mailJob(mail, parts.mailLimits),
    alert_mail:
      mail &&
      (async ({ id, payload, account, attempt }) => {
        const { admit, accountMaySend } = parts.mailLimits;
        if (account === null || !(await accountMaySend('alert', account))) return undefined;
        // Once, though it may be retried.
        if (attempt === 1 && (await admit('alert', payload.to, account)) !== null) return undefined;
        await mail.alert(payload, account, id);
        return undefined;
      }),
    /** A link to choose a password, if the address has a user. Each attempt creates a new token; so does `sign_up`. */
    password_reset:
      mail &&
      (async ({ id, payload }) => {
        await signIn.passwords.mailReset(payload.email, id);
        return undefined;
      }),
    sign_up:
      mail &&
      (async ({ id, payload }) => {
        await signIn.mailSignUp(payload, id);
        return undefined;
      }),
    /** The mails are jobs added in the transaction that marks the alert as sent: none is lost or repeated. */
    low_balance: async (_job, signal) => {
      await parts.seekAlerts(signal);
      signal.throwIfAborted();
      return undefined;
    },
    purge: purgeJob(parts.purge, logger),
    /** A job for each account, so that one that cannot be removed keeps no other from it. */
    account_removal: async ({ account }, signal) => {
      if (account === null || (await parts.removeAccount(account, signal))) return undefined;
      signal.throwIfAborted();
      return { againMs: REMOVAL_WAIT_MS };
    },
    /** A job for each list that was deleted or has expired. */
    list_removal: async ({ account, payload }, signal) => {
      if (account !== null) await parts.removeList(account, payload.list, signal);
      signal.throwIfAborted();
      return undefined;
    },
    lists_update: async (_job, signal) => {
      await listsUpdate.run(signal);
      return undefined;
    },
    /** Only one job of a webhook is open, so no two nodes make the same attempt at once. */
    webhook_delivery: async (job, signal) => {
      await parts.deliverWebhook(job, signal);
      return 'ended';
    },
    /** A webhook that has something due, and no job, gets one. */
    webhook_retry: async (_job, signal) => {
      await parts.wakeWebhooks(signal);
      signal.throwIfAborted();
      return undefined;
    },
    learn_hosts: parts.learnsHosts ? learnHostsJob(parts.hostLearning, sharedLists, logger) : null,
    lists_refresh: parts.updatesDaily ? listsRefreshJob(listsUpdate, sharedLists, logger) : null,
  };
}

/**
 * Sends a mail from the template and the variables in its payload; none for an account that has been suspended or
 * deleted since it was queued.
 */
function mailJob(
  mail: Pick<Mail, 'invitation' | 'lowBalance' | 'webhookDisabled' | 'securityChange'>,
  limits: RunnerParts['mailLimits'],
): JobRunner<'mail'> {
  return async ({ id, payload, account, attempt }) => {
    const { template, to } = payload;
    if (account !== null && !(await limits.accountMaySend(template, account))) return undefined;
    switch (template) {
      case 'invitation':
        await mail.invitation(payload, id);
        return undefined;
      case 'low_balance':
        // Counted here, because the accounts are many and found in one transaction; once, though it may be retried.
        if (attempt === 1 && (await limits.admit(template, to, account ?? '')) !== null) return undefined;
        await mail.lowBalance(payload, id);
        return undefined;
      case 'webhook_disabled':
        if (attempt === 1 && (await limits.admit(template, to, account ?? '')) !== null) return undefined;
        await mail.webhookDisabled(payload, id);
        return undefined;
      case 'security_change':
        // It is counted, and sent whatever the count is.
        if (attempt === 1) await limits.admit(template, to, '');
        await mail.securityChange(payload, id);
        return undefined;
    }
  };
}

function purgeJob(purge: Purge, logger: Logger): JobRunner<'purge'> {
  let skipped: string | null = null;
  return async (_job, signal) => {
    const round = await purge(signal);
    if ('skipped' in round) {
      if (round.skipped !== skipped) logger.error({ reason: round.skipped }, 'purged nothing: a clock is wrong');
    } else if (round.full) {
      logger.warn(round.deleted, 'purged as much as one round may; the rest follows');
    } else if (round.total > 0) {
      logger.info(round.deleted, 'purged what is past its retention');
    }
    skipped = 'skipped' in round ? round.skipped : null;
    signal.throwIfAborted();
    return undefined;
  };
}

/** One step; the next one is another run of the job, so that a stopped process loses no more than one. */
const learnHostsJob =
  (learning: HostLearning, shared: SharedLists, logger: Logger): JobRunner<'learn_hosts'> =>
  async (_job, signal) => {
    const outcome = await learning.step(signal);
    if (outcome === 'more') return { againMs: 1 };
    if (outcome === 'unsure') logger.warn('no mail hosts were learned: too few known good domains could be looked up');
    if (outcome === 'done') await shared.exchange();
    return undefined;
  };

/** A day, less what rounds that begin an hour apart may be off. */
const DAILY_MS = 23.5 * HOUR_MS;

/** Downloads the lists once a day; after a failure, every hour. The lists in use stay good, so the job never fails. */
const listsRefreshJob =
  (update: Pick<ListsUpdate, 'run'>, shared: SharedLists, logger: Logger): JobRunner<'lists_refresh'> =>
  async (_job, signal) => {
    const last = await shared.lastAttempt();
    const ageMs = last === null ? Number.POSITIVE_INFINITY : (await shared.now()) - last.at;
    // A clock that was set back does not keep the lists from being updated.
    if (last !== null && last.failed === null && ageMs >= 0 && ageMs < DAILY_MS) return undefined;
    try {
      await update.run(signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ err: error }, 'the disposable lists could not be updated; next attempt in an hour');
    }
    return undefined;
  };
