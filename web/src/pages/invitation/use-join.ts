import { api, unwrap } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { chooseAccount, sessionQuery, useSession } from '../../api/session.ts';
import { isDeadLink } from '../../parts/dead-link.tsx';
import { forgetToken } from '../../parts/link-token.ts';
import { useEnter } from '../../parts/use-enter.ts';

/** What the ways to join need of the page. */
export interface Joining {
  readonly token: string;
  readonly email: string;
  readonly onDead: () => void;
  readonly onJoined: () => void;
}

/** Accepts the invitation and goes to the account that it was for; `person` where the address is new here. */
export function useJoin({ token, onDead, onJoined }: Joining) {
  const before = useSession().accounts.map(({ id }) => id);
  const enter = useEnter();
  return async (person: { name: string; password: string } | null) => {
    try {
      await unwrap(api.POST('/dashboard/invitation/accept', { body: { token, ...person } }));
    } catch (error) {
      if (isDeadLink(error)) return onDead();
      throw error;
    }
    onJoined();
    await enter();
    const joined = queryClient.getQueryData(sessionQuery.queryKey)?.accounts.find(({ id }) => !before.includes(id));
    if (joined) chooseAccount(joined.id);
    forgetToken('/invitation');
  };
}
