import { useEffect } from 'react';

/** Paths of pages opened lately, newest first, of one account; IDs, no names. */
interface Recent {
  readonly account: string;
  readonly paths: readonly string[];
}

const STORAGE_KEY = 'mailvet.recent';
const KEPT = 8;

function read(): Recent | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? 'null');
    if (typeof kept !== 'object' || kept === null || !('account' in kept) || !('paths' in kept)) return null;
    const { account, paths } = kept;
    if (typeof account !== 'string' || !Array.isArray(paths)) return null;
    return { account, paths: paths.filter((path) => typeof path === 'string').slice(0, KEPT) };
  } catch (error) {
    // Whoever has the browser can write anything there.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function recentPaths(account: string): readonly string[] {
  const kept = read();
  return kept?.account === account ? kept.paths : [];
}

/** Remembers the page for the palette. */
export function useRecordVisit(account: string | null, path: string): void {
  useEffect(() => {
    if (account === null) return;
    const paths = [path, ...recentPaths(account).filter((one) => one !== path)].slice(0, KEPT);
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ account, paths } satisfies Recent));
  }, [account, path]);
}
