import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import { OPERATOR_KEY } from '../operator/queries.ts';

export const repliesQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'replies'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/replies')),
});

export const explainReply = (body: { reply: string; mx: string }) =>
  unwrap(api.POST('/dashboard/operator/replies/explain', { body }));
