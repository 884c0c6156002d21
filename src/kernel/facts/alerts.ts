/** Alerts: the events that people are notified of in words, by mail and in chats. */
import type { WebhookEventType } from './events.ts';

export const ALERT_TYPES = [
  'list.completed',
  'list.failed',
  'rejections.high',
  'unknowns.high',
  'budget.low',
  'credits.low',
  'webhook.failing',
  'smtp.unreachable',
] as const satisfies readonly WebhookEventType[];
export type AlertType = (typeof ALERT_TYPES)[number];

/** Those whose cause is looked for, and lasts until it ends. The others are reported where they happen, once each. */
export const LASTING_ALERT_TYPES = [
  'rejections.high',
  'unknowns.high',
  'budget.low',
  'webhook.failing',
  'smtp.unreachable',
] as const satisfies readonly AlertType[];
export type LastingAlertType = (typeof LASTING_ALERT_TYPES)[number];

interface AlertFacts {
  /** The page has this title. */
  readonly label: string;
  /** When it is raised; a sentence without its period. */
  readonly condition: string;
  /** Whether owners and admins are mailed unless they choose otherwise. */
  readonly isMailed: boolean;
}

/** What "far above usual" is: compared with the same time on average in the week before. */
export const UNUSUAL = {
  /** Hours that are looked at, the running one included. */
  hours: 2,
  usualDays: 7,
  rejections: { floor: 50, factor: 5, endsBelow: 2 },
  /**
   * Addresses count whose mailbox or domain was asked about: by their share, and by how many times the usual one it is.
   */
  unknowns: { floor: 50, share: 0.25, factor: 2, endsBelow: 1.25 },
} as const;
/** The alert is raised at this percentage of a key's monthly budget, and ends below the second. */
export const BUDGET_ALERT_PERCENT = { raised: 80, ends: 75 } as const;
/** Every attempt at a webhook has failed for this long, minutes. */
export const WEBHOOK_ALERT_MINUTES = 10;
/** Mail servers have been reached again for this long, minutes: only then can they be unreachable once more. */
export const REACHED_AGAIN_MINUTES = 30;
/** Accounts that have had a mailbox checked within so many days are notified that mail servers are unreachable. */
export const MAILBOX_CHECK_DAYS = 7;

/** A type without a row does not compile; nor does one without words (../alert-words.ts). */
export const ALERTS: Readonly<Record<AlertType, AlertFacts>> = {
  'list.completed': {
    label: 'List finished',
    condition: 'Every address of a list has its result',
    isMailed: false,
  },
  'list.failed': {
    label: 'List failed',
    condition: 'A list ended because of an error in the service',
    isMailed: true,
  },
  'rejections.high': {
    label: 'Rejections far above usual',
    condition: `At least ${UNUSUAL.rejections.floor} rejected requests in two hours, and ${UNUSUAL.rejections.factor} times as many as usual`,
    isMailed: true,
  },
  'unknowns.high': {
    label: 'Unknown results far above usual',
    condition: `At least ${UNUSUAL.unknowns.floor} unknown results in two hours, ${100 * UNUSUAL.unknowns.share} % of all or more, and ${UNUSUAL.unknowns.factor} times the usual share`,
    isMailed: true,
  },
  'budget.low': {
    label: 'Key budget nearly spent',
    condition: `An API key has spent ${BUDGET_ALERT_PERCENT.raised} % of its monthly budget`,
    isMailed: true,
  },
  'credits.low': {
    label: 'Credits running low',
    condition: 'The balance falls below the threshold of the account',
    isMailed: true,
  },
  'webhook.failing': {
    label: 'Webhook failing',
    condition: `Every attempt at a webhook has failed for ${WEBHOOK_ALERT_MINUTES} minutes`,
    isMailed: true,
  },
  'smtp.unreachable': {
    label: 'Mail servers unreachable',
    condition: `This service cannot connect to mail servers, or all of them refuse its address; sent where mailboxes were checked in the last ${MAILBOX_CHECK_DAYS} days`,
    isMailed: true,
  },
};

export const isAlertType = (type: string): type is AlertType => ALERT_TYPES.some((one) => one === type);

/** Accounts that have not chosen get these alerts by mail. */
export const MAILED_BY_DEFAULT: readonly AlertType[] = ALERT_TYPES.filter((type) => ALERTS[type].isMailed);
