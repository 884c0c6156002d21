import { useSyncExternalStore } from 'react';

const subscribe = () => () => undefined;

/** False on the server and while a first view is taken over: what only the browser knows is rendered after that. */
export const useHydrated = (): boolean =>
  useSyncExternalStore(
    subscribe,
    () => true,
    () => false,
  );
