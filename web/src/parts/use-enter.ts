import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api/query-client.ts';
import type { Session } from '../api/schema.ts';
import { sessionQuery, useRefreshSession } from '../api/session.ts';

/** After a link did its work: to the overview where it also signed in, else to the sign-in. `first` sees who one is now. */
export function useEnter(): (first?: (session: Session) => void) => Promise<void> {
  const refresh = useRefreshSession();
  const navigate = useNavigate();
  return async (first) => {
    await refresh();
    const session = queryClient.getQueryData(sessionQuery.queryKey);
    if (session) first?.(session);
    await navigate(!session?.user ? { to: '/sign-in', search: { next: '/' } } : { to: '/' });
  };
}
