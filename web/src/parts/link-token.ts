import { t } from '@lingui/core/macro';
import { useState, useSyncExternalStore } from 'react';
import { ApiError } from '../api/client.ts';
import { createListeners } from './listeners.ts';

const INCOMPLETE = t`This link is incomplete: open it again, or copy all of it.`;

/** By path. In memory only, so that a reload discards them. */
const tokens = new Map<string, string>();
const listeners = createListeners();

const emitChange = () => {
  listeners.changed();
};

/** Where an OpenID provider sends the browser: its answer is the query. */
export const OIDC_RETURN = '/sign-in/oidc';

const tokenInUrl = (): string | null =>
  location.pathname === OIDC_RETURN
    ? location.search.slice(1) || null
    : new URLSearchParams(location.hash.slice(1)).get('token');

/**
 * Removes `#token=…`, or the answer of an OpenID provider, from the URL and the history before the router sees it: at
 * start, and when another link is opened in the same tab, which changes the fragment without a page load.
 */
function captureToken(): void {
  const token = tokenInUrl();
  if (token === null) return;
  const search = location.pathname === OIDC_RETURN ? '' : location.search;
  history.replaceState(history.state, '', location.pathname + search);
  tokens.set(location.pathname, token);
  emitChange();
}

export function watchLinks(): void {
  captureToken();
  window.addEventListener('hashchange', captureToken);
}

/** In place of a token where none is known yet: the service does not see it. Nearly always there is one. */
export const UNKNOWN_TOKEN = t`not sent`;

/** The link that a page was opened with. */
export interface OpenedLink {
  /** Null: the page was opened without a link, or the link is no longer valid. */
  readonly token: string | null;
  /** Why the server rejected it. */
  readonly rejection: string | null;
  /** Handles an error that concerns the link; rethrows any other. */
  readonly onError: (error: unknown) => void;
  /** Forgets the token after use. */
  readonly discard: () => void;
  /** Sends the token, where there is one; what follows comes before it is forgotten. Rejects as `onError` does. */
  readonly use: (send: (token: string) => Promise<unknown>, then: () => unknown) => Promise<void>;
}

/** The link that the page at `path` was opened with, until it is used. */
export function useLink(path: string): OpenedLink {
  const token = useSyncExternalStore(
    listeners.subscribe,
    () => tokens.get(path) ?? null,
    () => tokens.get(path) ?? UNKNOWN_TOKEN,
  );
  const [dead, setDead] = useState<{ token: string | null; why: string } | null>(null);
  const isDead = token !== null && dead?.token === token;
  function onError(error: unknown): void {
    if (!(error instanceof ApiError) || (error.status !== 410 && error.field !== 'token')) throw error;
    setDead({ token, why: error.status === 400 ? INCOMPLETE : error.message });
  }
  function discard(): void {
    tokens.delete(path);
    emitChange();
  }
  return {
    token: isDead ? null : token,
    rejection: isDead ? dead.why : null,
    onError,
    discard,
    async use(send, then) {
      if (token === null || isDead) return;
      try {
        await send(token);
      } catch (error) {
        return onError(error);
      }
      await then();
      discard();
    },
  };
}
