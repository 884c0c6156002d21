import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';

/**
 * What somebody else changed shows at the next request: a session ended, an account or a role was taken away. Then the
 * question who is signed in, and as what, is asked again.
 */
const CHANGED: readonly string[] = ['not_signed_in', 'not_found', 'role_not_sufficient'];

export function noteRefusal(error: Error): void {
  if (error instanceof ApiError && CHANGED.includes(error.code))
    void queryClient.invalidateQueries({ queryKey: ['session'] });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteRefusal }),
  mutationCache: new MutationCache({ onError: noteRefusal }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What the server refused it will refuse again; what did not arrive may the next time.
      retry: (failures, error) => !(error instanceof ApiError) && failures < 2,
    },
  },
});
