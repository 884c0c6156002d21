import { queryOptions } from '@tanstack/react-query';
import type { ViewPage } from '../../../../src/kernel/facts/saved-views.ts';
import { api, unwrap } from '../../api/client.ts';
import type { SavedView } from '../../api/schema.ts';

/** Pages that have saved views. */

export const viewsKey = (account: string, page: ViewPage) => ['account', account, 'views', page] as const;

export const viewsQuery = (account: string, page: ViewPage) =>
  queryOptions({
    queryKey: viewsKey(account, page),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/dashboard/accounts/{account}/views', { params: { path: { account }, query: { page } }, signal }),
      ),
  });

export const saveView = (account: string, page: ViewPage, name: string, search: string): Promise<SavedView> =>
  unwrap(
    api.POST('/dashboard/accounts/{account}/views', { params: { path: { account } }, body: { page, name, search } }),
  );

export const renameView = (account: string, id: string, name: string): Promise<SavedView> =>
  unwrap(api.PATCH('/dashboard/accounts/{account}/views/{id}', { params: { path: { account, id } }, body: { name } }));

export const deleteView = (account: string, id: string): Promise<unknown> =>
  unwrap(api.DELETE('/dashboard/accounts/{account}/views/{id}', { params: { path: { account, id } } }));
