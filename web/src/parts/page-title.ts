import { useEffect, useSyncExternalStore } from 'react';

// That of a first view is known before its page has its effects.
let current = import.meta.env.SSR ? '' : (document.querySelector('[data-first-view] h1')?.textContent ?? '');
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Sets the title of the document, and of the page in the top bar. */
export function useSetPageTitle(title: string): void {
  // No effects there. What is rendered above gets it the second time.
  if (import.meta.env.SSR) current = title;
  useEffect(() => {
    document.title = `${title} · Mailvet`;
    current = title;
    for (const listener of listeners) listener();
  }, [title]);
}

const now = () => current;
/** The title of the page that is shown. */
export const usePageTitle = (): string => useSyncExternalStore(subscribe, now, now);
