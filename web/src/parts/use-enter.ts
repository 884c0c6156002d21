import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../api/query-client.ts';
import { sessionQuery, useRefreshSession } from '../api/session.ts';

/** After a link did its work: to the overview where it also signed in, else to the sign-in. */
export function useEnter(): () => Promise<void> {
  const refresh = useRefreshSession();
  const navigate = useNavigate();
  return async () => {
    await refresh();
    const user = queryClient.getQueryData(sessionQuery.queryKey)?.user ?? null;
    await navigate(user === null ? { to: '/sign-in', search: { next: '/' } } : { to: '/' });
  };
}
