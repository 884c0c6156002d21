import { routable } from '../../engine/dns/routable.ts';
import { type DestinationDeps, isLiteral, NoAddressError, resolveHost, urlHost } from '../../engine/http/post.ts';
import { type Clock, DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { WebhookFormat, WebhookSubscription } from '../../kernel/facts/events.ts';
import { given } from '../../kernel/facts/given.ts';
import { WEBHOOK_SECRET_OVERLAP_HOURS } from '../../kernel/facts/lifetimes.ts';
import {
  RECENT_DAYS,
  WEBHOOK_TESTS_AT_ONCE,
  WEBHOOK_TESTS_PER_ACCOUNT,
  WEBHOOK_TIMEOUT_MS,
} from '../../kernel/facts/limits.ts';
import { newWebhookSecret } from '../../kernel/ids.ts';
import type {
  AccountId,
  ByPage,
  Delivery,
  DeliveryCounts,
  Store,
  Webhook,
  WebhookDisabledMail,
} from '../../store/store.ts';
import { actorFor, type ChangedBy } from '../audit-log.ts';
import { bodyOf, type Send, unsignedHeaders } from './deliver.ts';

// Which URLs a webhook may have.

const invalidUrl = (message: string): ApiError => new ApiError('invalid_webhook_url', message, { field: 'url' });

/**
 * The URL in the form in which it is used. Its addresses are checked here so that a mistake shows at once; what counts
 * is the check of each attempt. Throws ApiError.
 */
export const createUrlCheck =
  (deps: DestinationDeps) =>
  async (text: string): Promise<string> => {
    const url = URL.canParse(text) ? new URL(text) : null;
    const schemes = deps.allowPrivate ? ['https:', 'http:'] : ['https:'];
    if (url === null || !schemes.includes(url.protocol))
      throw invalidUrl('url must be an https URL, such as https://example.com/webhooks.');
    if (url.username !== '' || url.password !== '') throw invalidUrl('url must not contain a user name or password.');
    if (isLiteral(url)) {
      if (routable(urlHost(url), { allowPrivate: deps.allowPrivate, own: deps.ownAddresses }))
        return withoutFragment(url);
      throw invalidUrl('The address in url is not publicly routable.');
    }
    try {
      await resolveHost(deps, urlHost(url), deps.clock.elapsed() + WEBHOOK_TIMEOUT_MS);
    } catch (error) {
      // DNS may be down now and up when there is something to send.
      if (error instanceof NoAddressError && error.reason === 'unknown_host')
        throw invalidUrl(`The host name ${JSON.stringify(urlHost(url))} has no public address.`);
      if (!(error instanceof NoAddressError)) throw error;
    }
    return withoutFragment(url);
  };

/** A fragment is not sent (RFC 9110 §4.2.5). */
function withoutFragment(url: URL): string {
  url.hash = '';
  return url.href;
}

export type { Delivery, DeliveryCounts, Webhook };

/** `secret` is shown only now. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

interface NewWebhook {
  readonly url: string;
  readonly format: WebhookFormat;
  readonly events: WebhookSubscription;
  readonly description: string | null;
}
type WebhookChange = { readonly [F in Exclude<keyof NewWebhook, 'format'>]?: NewWebhook[F] | undefined } & {
  readonly enabled?: boolean | undefined;
};

interface WebhookServiceParts {
  readonly store: Pick<Store, 'webhooks' | 'keys'>;
  readonly checkUrl: (url: string) => Promise<string>;
  readonly send: Send;
  readonly clock: Clock;
  readonly mailTo: WebhookDisabledMail;
  /** The public URL of the service has no trailing slash. */
  readonly url: () => string;
}

/** The webhooks of an account. All methods throw ApiError: `not_found` for what is another account's as well. */
export function createWebhookService({ store, checkUrl, send, clock, mailTo, url }: WebhookServiceParts) {
  const { webhooks } = store;
  const actorOf = actorFor(store.keys);
  const testing = createTestSlots();

  return {
    /** The oldest comes first. */
    list: (account: AccountId) => webhooks.list(account),

    async get(account: AccountId, id: string) {
      return (await webhooks.get(account, id)) ?? notFound('webhook');
    },

    async create(account: AccountId, { url: text, format, events, description }: NewWebhook, by: ChangedBy) {
      const secret = newWebhookSecret();
      const input = {
        url: await checkUrl(text),
        format,
        events: uniqueEvents(events),
        description: description || null,
        secret,
      };
      return { webhook: await webhooks.create(account, input, await actorOf(by)), secret };
    },

    async change(
      account: AccountId,
      id: string,
      { url: text, events, description, enabled }: WebhookChange,
      by: ChangedBy,
    ) {
      const { url: current } = (await webhooks.get(account, id)) ?? notFound('webhook');
      const change = given({
        // Of a chat it is shown without its secret: what comes back as it was shown is no change.
        url: text === undefined || text === current ? undefined : await checkUrl(text),
        events: events && uniqueEvents(events),
        description: description === '' ? null : description,
        enabled,
      });
      return (await webhooks.update(account, id, change, await actorOf(by))) ?? notFound('webhook');
    },

    async rotateSecret(account: AccountId, id: string, by: ChangedBy) {
      const secret = newWebhookSecret();
      const overlapMs = WEBHOOK_SECRET_OVERLAP_HOURS * HOUR_MS;
      const webhook = await webhooks.rotate(account, id, secret, overlapMs, await actorOf(by));
      return { webhook: webhook ?? notFound('webhook'), secret };
    },

    async remove(account: AccountId, id: string, by: ChangedBy) {
      if (!(await webhooks.remove(account, id, await actorOf(by)))) notFound('webhook');
    },

    /** Sends a ping and waits for its outcome. */
    test: (account: AccountId, id: string) =>
      testing(account, async () => {
        const test = (await webhooks.prepareTest(account, id)) ?? notFound('webhook');
        // Also for a caller who does not wait: it is recorded that it was sent.
        const outcome = await send(test, new AbortController().signal);
        return (await webhooks.recordTest(account, test, outcome, mailTo)) ?? notFound('webhook');
      }),

    /** Counts the deliveries of the last RECENT_DAYS, by webhook. */
    async recentCounts(account: AccountId) {
      const counts = await webhooks.deliveryCounts(account, clock.now() - RECENT_DAYS * DAY_MS);
      return new Map(counts.map((one) => [one.webhookId, one]));
    },

    async deliveries(
      account: AccountId,
      id: string,
      { page, perPage, status }: ByPage<Parameters<typeof webhooks.deliveries>[2]>,
    ) {
      const input = { offset: (page - 1) * perPage, limit: perPage, status };
      return (await webhooks.deliveries(account, id, input)) ?? notFound('webhook');
    },

    /** `body`: what is sent, JSON; `headers`: without the signature. */
    async delivery(account: AccountId, id: string) {
      const { delivery, ...sent } = (await webhooks.delivery(account, id)) ?? notFound('delivery');
      const at = delivery.attempts.at(-1)?.at ?? delivery.nextAttemptAt ?? delivery.createdAt;
      return { delivery, body: bodyOf(sent, url()), headers: unsignedHeaders({ eventId: delivery.eventId, at }) };
    },

    async replay(account: AccountId, id: string) {
      const replayed = await webhooks.replay(account, id);
      if (replayed.outcome === 'replayed') return replayed.delivery;
      if (replayed.outcome === 'disabled') throw new ApiError('webhook_disabled');
      return notFound('delivery');
    },
  };
}

export type WebhookService = ReturnType<typeof createWebhookService>;

function notFound(what: 'webhook' | 'delivery'): never {
  throw new ApiError('not_found', `There is no such ${what}.`);
}

const uniqueEvents = (events: WebhookSubscription): WebhookSubscription => [...new Set(events)];

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
