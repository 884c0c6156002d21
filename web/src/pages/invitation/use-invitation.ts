import { useEffect, useRef, useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { InvitationLookup } from '../../api/schema.ts';
import type { OpenedLink } from '../../parts/link-token.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';

/** Looks up the invitation. Not a query, since the query cache would keep the token. */
export function useInvitation(token: string, link: OpenedLink) {
  const [invitation, setInvitation] = useState<InvitationLookup | null>(null);
  const { run, error } = useAsyncAction(async () => {
    try {
      setInvitation(await unwrap(api.POST('/dashboard/invitation', { body: { token } })));
    } catch (error) {
      link.onError(error);
    }
  });
  const requested = useRef(false);
  useEffect(() => {
    if (requested.current) return;
    requested.current = true;
    run();
  });
  return { invitation, error, retry: run };
}
