import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import { OPERATOR_KEY } from '../operator/queries.ts';

export const jobsQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'jobs'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/jobs')),
});

export const retryJob = (id: string) =>
  unwrap(api.POST('/dashboard/operator/jobs/{id}/retry', { params: { path: { id } } }));

export const dropJob = (id: string) =>
  unwrap(api.DELETE('/dashboard/operator/jobs/{id}', { params: { path: { id } } }));
