import { useEffect } from 'react';

/**
 * Calls `turn` with the last page where the URL names one beyond it: its rows were removed, or the URL is outdated.
 * `last`: undefined while it is not known; 0 and 1: there is one page.
 */
export function useLastPage(page: number, last: number | undefined, turn: (page: number) => void): void {
  useEffect(() => {
    if (last !== undefined && page > Math.max(1, last)) turn(Math.max(1, last));
  }, [page, last, turn]);
}
