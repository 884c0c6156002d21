import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api/query-client.ts';
import type { Session } from '../api/schema.ts';
import { sessionQuery, useRefreshSession } from '../api/session.ts';

/**
 * After a link was used: to the overview if it also signed the user in, otherwise to the sign-in page. `first` gets the
 * new session.
 */
export function useRedirectAfterAuth(): (first?: (session: Session) => void) => Promise<void> {
  const refresh = useRefreshSession();
  const navigate = useNavigate();
  return async (first) => {
    await refresh();
    const session = queryClient.getQueryData(sessionQuery.queryKey);
    if (session) first?.(session);
    await navigate(!session?.user ? { to: '/sign-in', search: { next: '/' } } : { to: '/' });
  };
}
