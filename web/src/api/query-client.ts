import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';

/** A session that ended elsewhere shows at the next request: then the question who is signed in is asked again. */
export function noteRefusal(error: Error): void {
  if (error instanceof ApiError && error.code === 'not_signed_in')
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
