/** Alerts as texts, which mails and chats share. */
import { type AlertType, isAlertType } from './facts/alerts.ts';
import type { WebhookEventData, WebhookEventType } from './facts/events.ts';
import { counted, grouped } from './format.ts';

interface AlertText<Data> {
  /** A short sentence without its period: the subject of the mail. Texts of customers are quoted. */
  readonly subject: (data: Data) => string;
  /** Says what happened, in one or two sentences. */
  readonly text: (data: Data) => string;
  /** The page where more is to be seen. */
  readonly path: (data: Data) => string;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Returns the name of a list as the API shows it. */
const listName = (list: WebhookEventData['list.completed']): string => `"${textOrEmpty(list.name)}"`;
const listPath = (list: WebhookEventData['list.completed']): string => `/lists/${textOrEmpty(list.id)}`;

const ALERT_TEXTS: { readonly [T in AlertType]: AlertText<WebhookEventData[T]> } = {
  'list.completed': {
    path: listPath,
    subject: (list) => `The list ${listName(list)} is finished`,
    text: (list) => `Every address of the list ${listName(list)} has its result.`,
  },
  'list.failed': {
    path: listPath,
    subject: (list) => `The list ${listName(list)} failed`,
    text: (list) =>
      `The list ${listName(list)} ended because of an error in the service. What was not verified is not charged; it can be verified as a new list.`,
  },
  'rejections.high': {
    path: () => '/log?range=24h&status=rejected',
    subject: () => 'Far more requests than usual are rejected',
    text: ({ rejected, usual }) =>
      `${counted(rejected, 'request was', 'requests were')} rejected in the last two hours; usual are ${grouped(Math.round(usual))}.`,
  },
  'unknowns.high': {
    path: () => '/log?range=24h&deliverability=unknown',
    subject: () => 'Far more results than usual are unknown',
    text: ({ unknown, share, usual_share }) =>
      `${counted(unknown, 'result')} of the last two hours ${unknown === 1 ? 'is' : 'are'} unknown, ${percent(share)} of all; usual are ${percent(usual_share)}.`,
  },
  'budget.low': {
    path: ({ key_id }) => `/settings/keys/${key_id}`,
    subject: ({ name }) => `The API key "${name}" has nearly spent its budget`,
    text: ({ name, used, monthly_credits, resets_at }) =>
      `The API key "${name}" has spent ${grouped(used)} of ${counted(monthly_credits, 'credit')} that it may spend until ${resets_at.slice(0, 10)}. Then its requests are rejected.`,
  },
  'credits.low': {
    path: () => '/',
    subject: () => 'The account is running low on credits',
    text: ({ credits, low_balance, account }) =>
      `${account === undefined ? 'The account' : `The account "${account.name}"`} has ${counted(credits.remaining + credits.locked, 'credit')} left, below the alert threshold of ${grouped(low_balance)}. Verifications are rejected once the credits are used up.`,
  },
  'webhook.failing': {
    path: ({ webhook_id }) => `/webhooks/${webhook_id}`,
    subject: () => 'A webhook is failing',
    text: ({ url, failing_since }) =>
      `Every attempt to deliver to ${url} has failed since ${failing_since.slice(0, 16).replace('T', ' ')} UTC. Deliveries are retried, until the webhook is disabled.`,
  },
  'smtp.unreachable': {
    path: () => '/',
    subject: () => 'Mail servers cannot be reached',
    text: ({ state, since }) =>
      `${UNREACHABLE_WORDS[state]} since ${since.slice(0, 16).replace('T', ' ')} UTC. Mailbox checks end as unknown, and are charged as mx. If you operate this service, run the doctor: it says what to do.`,
  },
};

const UNREACHABLE_WORDS: Readonly<Record<WebhookEventData['smtp.unreachable']['state'], string>> = {
  port_closed: 'This service cannot connect to port 25 of mail servers',
  refused_everywhere: 'Mail servers refuse the address of this service',
};

export interface AlertWords {
  readonly type: AlertType;
  readonly subject: string;
  readonly text: string;
  readonly path: string;
}

/** Null: of what is no alert. */
export function alertWords<T extends WebhookEventType>(type: T, data: WebhookEventData[T]): AlertWords | null {
  const rows: { readonly [K in WebhookEventType]?: AlertText<WebhookEventData[K]> } = ALERT_TEXTS;
  const row = rows[type];
  return row && isAlertType(type)
    ? { type, subject: row.subject(data), text: row.text(data), path: row.path(data) }
    : null;
}
