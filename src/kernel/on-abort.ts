import { contain, warnOfFault } from './contain.ts';
import { LinkedList } from './linked-list.ts';

type Listener = () => void;

const listenersOf = new WeakMap<AbortSignal, LinkedList<Listener>>();

/**
 * Calls `listener` once when the signal is aborted, unless the returned function was called before. For signals that
 * thousands wait for: an EventTarget compares each new listener with all that it has.
 */
export function onAbort(signal: AbortSignal, listener: Listener): () => void {
  const listeners = listenersOf.get(signal) ?? startListening(signal);
  const place = listeners.add(listener);
  return () => listeners.remove(place);
}

function startListening(signal: AbortSignal): LinkedList<Listener> {
  const listeners = new LinkedList<Listener>();
  listenersOf.set(signal, listeners);
  const callListeners = () => {
    for (let place = listeners.first; place !== null; place = listeners.first) {
      listeners.remove(place);
      contain(warnOfFault, place.value)();
    }
  };
  signal.addEventListener('abort', contain(warnOfFault, callListeners), { once: true });
  return listeners;
}
