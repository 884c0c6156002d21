import { useCallback, useEffect, useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import type { InvitationLookup } from '../../api/schema.ts';

interface Looked {
  readonly invitation: InvitationLookup | null;
  readonly error: Error | null;
}
const NOT_YET: Looked = { invitation: null, error: null };

/** What the invitation is for. Asked without the cache of queries, which would keep the token. */
export function useInvitation(token: string): Looked & { retry: () => void } {
  const [looked, setLooked] = useState(NOT_YET);
  const retry = useCallback(() => {
    setLooked(NOT_YET);
    unwrap(api.POST('/dashboard/invitation', { body: { token } })).then(
      (invitation) => setLooked({ invitation, error: null }),
      (error: Error) => setLooked({ invitation: null, error }),
    );
  }, [token]);
  useEffect(retry, [retry]);
  return { ...looked, retry };
}
