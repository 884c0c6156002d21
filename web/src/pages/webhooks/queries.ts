import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { WebhookSearch } from './search.ts';

/** Never includes secrets, so that no cache holds them. */
export const webhooksQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'webhooks'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/webhooks', { params: { path: { account } }, signal })),
  });

export const webhookQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['account', account, 'webhooks', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/webhooks/{id}', { params: { path: { account, id } }, signal })),
  });

export const deliveriesQuery = (account: string, id: string, search: WebhookSearch) =>
  queryOptions({
    queryKey: ['account', account, 'webhooks', id, 'deliveries', search],
    queryFn: ({ signal }) => {
      const params = { path: { account, id }, query: search };
      return unwrap(api.GET('/dashboard/accounts/{account}/webhooks/{id}/deliveries', { params, signal }));
    },
    // Attempts are made meanwhile.
    refetchInterval: 5_000,
  });

/** One of them, with what is sent. */
export const deliveryQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['account', account, 'webhooks', 'delivery', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/deliveries/{id}', { params: { path: { account, id } }, signal })),
  });
