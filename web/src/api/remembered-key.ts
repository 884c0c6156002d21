import { useSyncExternalStore } from 'react';

/**
 * A key for the samples of the API reference: the test key that was created last in this tab, or one that was pasted.
 * In memory only, so that closing or reloading the tab, and signing out, discards it.
 */
let remembered: string | null = null;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Null forgets it. */
export function rememberKey(key: string | null): void {
  remembered = key;
  for (const listener of listeners) listener();
}

export const useRememberedKey = (): string | null => useSyncExternalStore(subscribe, () => remembered);
