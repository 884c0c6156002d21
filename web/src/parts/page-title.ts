import { t } from '@lingui/core/macro';
import { useEffect, useSyncExternalStore } from 'react';
import { createListeners } from './listeners.ts';

// That of a first view is known before its page has its effects.
let current = import.meta.env.SSR ? '' : (document.querySelector('[data-first-view] h1')?.textContent ?? '');
const listeners = createListeners();

/** Sets the title of the document, and of the page in the top bar. */
export function useSetPageTitle(title: string): void {
  // No effects there. What is rendered above gets it the second time.
  if (import.meta.env.SSR) current = title;
  useEffect(() => {
    document.title = t`${title} · Mailvet`;
    current = title;
    listeners.changed();
  }, [title]);
}

const now = () => current;
/** The title of the page that is shown. */
export const usePageTitle = (): string => useSyncExternalStore(listeners.subscribe, now, now);
