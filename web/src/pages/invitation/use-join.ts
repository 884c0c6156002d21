import { api, unwrap } from '../../api/client.ts';
import { chooseAccount, useSession } from '../../api/session.ts';
import type { OpenedLink } from '../../parts/link-token.ts';
import { useEnter } from '../../parts/use-enter.ts';

/** What the ways to join need of the page. */
export interface Joining {
  readonly token: string;
  readonly link: OpenedLink;
  readonly email: string;
  readonly onJoined: () => void;
}

/** Accepts the invitation and goes to the account that it was for; `person` where the address is new here. */
export function useJoin({ token, link, onJoined }: Joining) {
  const before = useSession().accounts.map(({ id }) => id);
  const enter = useEnter();
  return async (person: { name: string; password: string } | null) => {
    try {
      await unwrap(api.POST('/dashboard/invitation/accept', { body: { token, ...person } }));
    } catch (error) {
      return link.refused(error);
    }
    onJoined();
    await enter(({ accounts }) => {
      const joined = accounts.find(({ id }) => !before.includes(id));
      if (joined) chooseAccount(joined.id);
    });
    link.used();
  };
}
