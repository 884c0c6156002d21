import { pinAccount } from '../../api/account-path.ts';
import { api, unwrap } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import type { OpenedLink } from '../../parts/link-token.ts';
import { useRedirectAfterAuth } from '../../parts/use-redirect-after-auth.ts';

export interface AcceptProps {
  readonly token: string;
  readonly link: OpenedLink;
  readonly email: string;
  readonly onJoined: () => void;
}

/** Accepts the invitation and selects its account. `person`: name and password of a new user. */
export function useAcceptInvitation({ token, link, onJoined }: AcceptProps) {
  const before = useSession().accounts.map(({ id }) => id);
  const enter = useRedirectAfterAuth();
  return async (person: { name: string; password: string } | null) => {
    try {
      await unwrap(api.POST('/dashboard/invitation/accept', { body: { token, ...person } }));
    } catch (error) {
      return link.onError(error);
    }
    onJoined();
    await enter(({ accounts }) => {
      const joined = accounts.find(({ id }) => !before.includes(id));
      if (joined) pinAccount(joined.id);
    });
    link.discard();
  };
}
