import { useEffect, useSyncExternalStore } from 'react';

let current = '';
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Sets the title of the document, and of the page in the top bar. */
export function useSetPageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Mailvet`;
    current = title;
    for (const listener of listeners) listener();
  }, [title]);
}

/** The title of the page that is shown. */
export const usePageTitle = (): string => useSyncExternalStore(subscribe, () => current);
