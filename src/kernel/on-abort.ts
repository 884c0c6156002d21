type Listener = () => void;

const listenersOf = new WeakMap<AbortSignal, Set<Listener>>();

/**
 * Calls `listener` once when the signal is aborted, unless the returned function was called before. For signals that
 * thousands wait for: an EventTarget compares each new listener with all that it has.
 */
export function onAbort(signal: AbortSignal, listener: Listener): () => void {
  const listeners = listenersOf.get(signal) ?? listen(signal);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function listen(signal: AbortSignal): Set<Listener> {
  const listeners = new Set<Listener>();
  listenersOf.set(signal, listeners);
  const tell = () => {
    for (const listener of listeners) listener();
    listeners.clear();
  };
  signal.addEventListener('abort', tell, { once: true });
  return listeners;
}
