import { useEffect, useRef, useState } from 'react';
import { type OpenedLink, UNKNOWN_TOKEN } from './link-token.ts';
import { useAsyncAction } from './use-async-action.ts';

/**
 * Asks once what a link is for; `found` is null until then. Not a query, since the query cache would keep the token.
 */
export function useLookup<Found>(link: OpenedLink, lookUp: () => Promise<Found>) {
  const [found, setFound] = useState<Found | null>(null);
  const { run, error } = useAsyncAction(async () => {
    try {
      const answer = await lookUp();
      setFound(() => answer);
    } catch (error) {
      link.onError(error);
    }
  });
  const requested = useRef(false);
  useEffect(() => {
    if (requested.current || link.token === UNKNOWN_TOKEN) return;
    requested.current = true;
    run();
  });
  return { found, error, retry: run };
}
