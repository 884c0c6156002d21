import { queryClient } from '../api/query-client.ts';
import { accountOf, sessionQuery } from '../api/session.ts';
import type { createAppRouter } from '../routes.tsx';
import { dayOf } from './days.ts';
import { openedParameters } from './opened-parameters.ts';
import { keysText } from './shortcuts.ts';
import { timeZone } from './time-zone.ts';

/**
 * What a page depends on beside its data: its first view is only taken over where this is the same in the browser.
 * Called once the router has loaded the page.
 */
export function shownState({ state }: ReturnType<typeof createAppRouter>): string {
  const { pathname, hash, state: passed } = state.location;
  const session = queryClient.getQueryData(sessionQuery.queryKey);
  const page = [location.origin, pathname, hash, passed.email];
  // Pages of visitors show no times, and no parameters of their URL.
  if (!session?.user) return JSON.stringify(page);
  const account = accountOf(session.accounts)?.id;
  const today = [dayOf(Date.now()), timeZone()];
  return JSON.stringify([...page, session.user.id, account, ...today, openedParameters, keysText('palette')]);
}
