import { once } from 'node:events';
import { constants } from 'node:os';
import { systemClock } from '../kernel/clock.ts';

/** A launcher and a service manager may both send the signal; within this time they count as one. */
const ECHO_MS = 1000;
/** A step of the start may hang; the stop has its own limit of 30 s. */
const EXIT_MS = 35_000;

/**
 * Aborts at the first SIGTERM or SIGINT, also during the start. A second one ends the process at once, with the exit
 * status that a shell gives to the signal.
 */
export function terminationSignal(): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  const on = (name: 'SIGTERM' | 'SIGINT') => {
    if (!controller.signal.aborted) {
      firstAt = systemClock.elapsed();
      controller.abort();
      exitWithin(EXIT_MS);
      return;
    }
    if (systemClock.elapsed() - firstAt > ECHO_MS) process.exit(128 + constants.signals[name]);
  };
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, on);
  return controller.signal;
}

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Exits even if something abandoned still keeps the event loop alive. */
export const exitSoon = (): void => exitWithin(1000);

const exitWithin = (ms: number): void => void setTimeout(() => process.exit(process.exitCode ?? 1), ms).unref();
