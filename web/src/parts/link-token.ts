import { useSyncExternalStore } from 'react';

/** By path: a token stands for what its page does, nothing else. In memory only; a reload forgets them. */
const kept = new Map<string, string>();
const listeners = new Set<() => void>();

const changed = () => {
  for (const listener of listeners) listener();
};

/**
 * Takes `#token=…` out of the address bar, the history and the router's sight. Called before the first view is made, and
 * when another link is opened in the same tab: that changes the fragment without loading anything.
 */
function take(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  kept.set(location.pathname, token);
  changed();
}

export function watchLinks(): void {
  take();
  window.addEventListener('hashchange', take);
}

export function forgetToken(path: string): void {
  kept.delete(path);
  changed();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The token of the link that opened the page at `path`, until it is forgotten; null where it was opened without one. */
export const useLinkToken = (path: string): string | null =>
  useSyncExternalStore(subscribe, () => kept.get(path) ?? null);
