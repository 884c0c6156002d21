import { useSyncExternalStore } from 'react';
import { createListeners } from '../parts/listeners.ts';

/**
 * A key for the samples of the API reference: the test key that was created last in this tab, or one that was pasted.
 * In memory only, so that closing or reloading the tab, and signing out, discards it.
 */
let remembered: string | null = null;
const listeners = createListeners();

/** Null forgets it. */
export function rememberKey(key: string | null): void {
  remembered = key;
  listeners.changed();
}

export const useRememberedKey = (): string | null => useSyncExternalStore(listeners.subscribe, () => remembered);
