/** Alerts: which ones an account is mailed, what is going on, and the search for their causes. */
import { type AlertWords, alertWords } from '../kernel/alert-words.ts';
import { ApiError } from '../kernel/errors.ts';
import type { WebhookEventData, WebhookEventType } from '../kernel/facts/events.ts';
import type { AccountId, Actor, AlertSettings, MailServersSeen, Store } from '../store/store.ts';

/** Makes a link to a page of the account. */
export const linkTo = (url: string, account: string, path: string): string =>
  `${url}/accounts/${account}${path === '/' ? '' : path}`;

const TEST = {
  subject: 'Test of alerts',
  text: 'This is a test: alerts of this account arrive here.',
  path: '/alerts',
} as const satisfies Omit<AlertWords, 'type'>;

/** What chats of this kind take for markup (Slack, "Escaping text"). */
const escapedForChat = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The event as a message for a chat. `event`: as it is stored. */
export function chatMessage(
  event: string,
  { account, url }: { readonly account: { readonly id: string; readonly name: string }; readonly url: string },
): string {
  const { type, data }: StoredEvent = JSON.parse(event);
  const { subject, text, path } = alertWords(type, data) ?? TEST;
  const link = linkTo(url, account.id, path);
  return JSON.stringify({
    text: `*${escapedForChat(subject)}* (${escapedForChat(account.name)})\n${escapedForChat(text)}\n<${link}|Open in Mailvet>`,
  });
}
interface StoredEvent {
  readonly type: WebhookEventType;
  readonly data: WebhookEventData[WebhookEventType];
}

/** Reports what is new since the last round, and ends what is over. */
export type SeekAlerts = (signal?: AbortSignal) => Promise<void>;

export function createSeekAlerts(parts: {
  store: Pick<Store, 'accounts' | 'alerts' | 'nodes'>;
  /** Returns the state of this node; null without an SMTP identity. */
  egressHealth: () => Pick<MailServersSeen, 'state' | 'since'> | null;
}): SeekAlerts {
  const { store, egressHealth } = parts;
  return async (signal) => {
    await store.accounts.claimLowBalanceAlerts(signal);
    const seen = egressHealth();
    await store.alerts.evaluate(seen && { ...seen, node: store.nodes.current }, signal);
  };
}

/** All methods throw ApiError. */
export function createAlertService(parts: { store: Pick<Store, 'alerts' | 'jobs' | 'accounts'>; mail: boolean }) {
  const { store, mail } = parts;
  return {
    /** `mail`: whether mail can be sent at all. */
    settings: async (account: AccountId) => ({ ...(await store.alerts.settings(account)), mail }),

    change: (account: AccountId, change: Partial<AlertSettings>, by: Actor) => store.alerts.change(account, change, by),

    /** A mail to who asks for it. Throws ApiError `not_found` where no mail can be sent. */
    async test(account: AccountId, to: string) {
      const found = await store.accounts.get(account);
      if (found === null || !mail) throw new ApiError('not_found', 'This service sends no mail.');
      const payload = { to, account: found.name, type: 'test', ...TEST } as const;
      await store.jobs.add({ kind: 'alert_mail', payload, account, key: `test ${to}` });
    },
  };
}

export type AlertService = ReturnType<typeof createAlertService>;
