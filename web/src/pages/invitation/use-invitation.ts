import { useEffect, useRef, useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { InvitationLookup } from '../../api/schema.ts';
import type { OpenedLink } from '../../parts/link-token.ts';
import { useTry } from '../../parts/use-try.ts';

/** What the invitation is for. Asked without the cache of queries, which would keep the token. */
export function useInvitation(token: string, link: OpenedLink) {
  const [invitation, setInvitation] = useState<InvitationLookup | null>(null);
  const { run, error } = useTry(async () => {
    try {
      setInvitation(await unwrap(api.POST('/dashboard/invitation', { body: { token } })));
    } catch (error) {
      link.refused(error);
    }
  });
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    run();
  });
  return { invitation, error, retry: run };
}
