import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { keepDrafts } from '../parts/drafts.ts';
import { ApiError, type ErrorCode } from './client.ts';
import type { Session } from './schema.ts';

/** The session has ended, or an account, a role or a second factor changed elsewhere: the cached session is stale. */
const STALE_SESSION_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'not_signed_in',
  'not_found',
  'role_not_sufficient',
  'second_factor_required',
]);

const userNow = (): string | null => queryClient.getQueryData<Session>(['session'])?.user?.id ?? null;

export function handleApiError(error: Error): void {
  if (error instanceof ApiError && error.code === 'not_signed_in') keepDrafts(userNow);
  if (error instanceof ApiError && STALE_SESSION_CODES.has(error.code))
    void queryClient.invalidateQueries({ queryKey: ['session'] });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleApiError }),
  mutationCache: new MutationCache({ onError: handleApiError }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Error replies are final; network failures may be transient.
      retry: (failures, error) => !(error instanceof ApiError) && failures < 2,
    },
  },
});
