import { useState, useSyncExternalStore } from 'react';
import { ApiError } from '../api/client.ts';

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

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The link that opened a page. */
export interface OpenedLink {
  /** Null: the page was opened without one, or it does not work any more. */
  readonly token: string | null;
  /** The service's words for why it does not. */
  readonly refusal: string | null;
  /** Takes what the service says of the link; throws what it says of anything else. */
  readonly refused: (error: unknown) => void;
  /** It has done its work. */
  readonly used: () => void;
}

/** The link that opened the page at `path`, until it is used up. Another one in the same tab begins anew. */
export function useLink(path: string): OpenedLink {
  const token = useSyncExternalStore(subscribe, () => kept.get(path) ?? null);
  const [dead, setDead] = useState<{ token: string | null; why: string } | null>(null);
  const isDead = token !== null && dead?.token === token;
  return {
    token: isDead ? null : token,
    refusal: isDead ? dead.why : null,
    refused(error) {
      if (!(error instanceof ApiError) || (error.status !== 410 && error.field !== 'token')) throw error;
      setDead({ token, why: error.message });
    },
    used() {
      kept.delete(path);
      changed();
    },
  };
}
