import { HOUR_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { WebhookSubscription } from '../../kernel/facts/events.ts';
import { WEBHOOK_SECRET_OVERLAP_HOURS } from '../../kernel/facts/lifetimes.ts';
import { WEBHOOK_TESTS_AT_ONCE, WEBHOOK_TESTS_PER_ACCOUNT } from '../../kernel/facts/limits.ts';
import { newWebhookSecret } from '../../kernel/ids.ts';
import type { AccountId, Delivery, Page, Store, Webhook, WebhookDisabledMail } from '../../store/store.ts';
import { actorFor, type ChangedBy } from '../changed-by.ts';
import type { Send } from './send.ts';

export type { Delivery, Webhook };

/** `secret` is shown only now. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

interface NewWebhook {
  readonly url: string;
  readonly events: WebhookSubscription;
  readonly description: string | null;
}
type WebhookChange = { readonly [F in keyof NewWebhook]?: NewWebhook[F] | undefined } & {
  readonly enabled?: boolean | undefined;
};

/** The webhooks of an account. All methods throw ApiError: `not_found` for what is another account's as well. */
export interface WebhookService {
  /** Oldest first. */
  list(account: AccountId): Promise<Webhook[]>;
  get(account: AccountId, id: string): Promise<Webhook>;
  create(account: AccountId, input: NewWebhook, by: ChangedBy): Promise<WebhookWithSecret>;
  change(account: AccountId, id: string, change: WebhookChange, by: ChangedBy): Promise<Webhook>;
  rotateSecret(account: AccountId, id: string, by: ChangedBy): Promise<WebhookWithSecret>;
  remove(account: AccountId, id: string, by: ChangedBy): Promise<void>;
  /** Sends a ping and waits for its outcome. */
  test(account: AccountId, id: string): Promise<Delivery>;
  deliveries(account: AccountId, id: string, input: { page: number; perPage: number }): Promise<Page<Delivery>>;
  replay(account: AccountId, delivery: string): Promise<Delivery>;
}

interface Parts {
  readonly store: Pick<Store, 'webhooks' | 'keys'>;
  readonly checkUrl: (url: string) => Promise<string>;
  readonly send: Send;
  readonly mailTo: WebhookDisabledMail;
}

export function createWebhookService({ store, checkUrl, send, mailTo }: Parts): WebhookService {
  const { webhooks } = store;
  const actorOf = actorFor(store.keys);
  const testing = createTestSlots();

  return {
    list: (account) => webhooks.list(account),

    async get(account, id) {
      return (await webhooks.get(account, id)) ?? notFound('webhook');
    },

    async create(account, { url, events, description }, by) {
      const secret = newWebhookSecret();
      const input = { url: await checkUrl(url), events: unique(events), description: description || null, secret };
      return { webhook: await webhooks.create(account, input, await actorOf(by)), secret };
    },

    async change(account, id, { url, events, description, enabled }, by) {
      const { url: current } = (await webhooks.get(account, id)) ?? notFound('webhook');
      const change = {
        ...(url === undefined || url === current ? {} : { url: await checkUrl(url) }),
        ...(events === undefined ? {} : { events: unique(events) }),
        ...(description === undefined ? {} : { description: description || null }),
        ...(enabled === undefined ? {} : { enabled }),
      };
      return (await webhooks.update(account, id, change, await actorOf(by))) ?? notFound('webhook');
    },

    async rotateSecret(account, id, by) {
      const secret = newWebhookSecret();
      const overlapMs = WEBHOOK_SECRET_OVERLAP_HOURS * HOUR_MS;
      const webhook = await webhooks.rotate(account, id, secret, overlapMs, await actorOf(by));
      return { webhook: webhook ?? notFound('webhook'), secret };
    },

    async remove(account, id, by) {
      if (!(await webhooks.remove(account, id, await actorOf(by)))) notFound('webhook');
    },

    test: (account, id) =>
      testing(account, async () => {
        const test = (await webhooks.prepareTest(account, id)) ?? notFound('webhook');
        // Also for a caller who does not wait: it is recorded that it was sent.
        const outcome = await send(test, new AbortController().signal);
        return (await webhooks.recordTest(account, test, outcome, mailTo)) ?? notFound('webhook');
      }),

    async deliveries(account, id, { page, perPage }) {
      const input = { offset: (page - 1) * perPage, limit: perPage };
      return (await webhooks.deliveries(account, id, input)) ?? notFound('webhook');
    },

    async replay(account, id) {
      const replayed = await webhooks.replay(account, id);
      if (replayed.outcome === 'replayed') return replayed.delivery;
      if (replayed.outcome === 'disabled') throw new ApiError('webhook_disabled');
      return notFound('delivery');
    },
  };
}

function notFound(what: 'webhook' | 'delivery'): never {
  throw new ApiError('not_found', `There is no such ${what}.`);
}

const unique = (events: WebhookSubscription): WebhookSubscription => [...new Set(events)];

/** Tests keep a connection for as long as the receiver likes, so there are only so many at once. */
function createTestSlots() {
  const running = new Map<AccountId, number>();
  let all = 0;
  return async <T>(account: AccountId, test: () => Promise<T>): Promise<T> => {
    const own = running.get(account) ?? 0;
    if (own >= WEBHOOK_TESTS_PER_ACCOUNT) throw new ApiError('test_in_progress');
    if (all >= WEBHOOK_TESTS_AT_ONCE) throw new ApiError('overloaded', undefined, { retry_after: 1 });
    running.set(account, own + 1);
    all++;
    try {
      return await test();
    } finally {
      all--;
      const left = (running.get(account) ?? 1) - 1;
      if (left === 0) running.delete(account);
      else running.set(account, left);
    }
  };
}
