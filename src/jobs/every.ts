interface Rounds {
  /** Runs one now, or after the current one. */
  now(): void;
  stop(): Promise<void>;
}

/**
 * Runs `round` every `ms` until stopped; rounds never overlap. `stop` aborts the signal of the current round and waits
 * for it to end.
 */
export function every(
  ms: number,
  round: (signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): Rounds {
  const stopping = new AbortController();
  let current: Promise<void> | null = null;
  let again = false;
  const run = () => {
    if (stopping.signal.aborted) return;
    current ??= round(stopping.signal)
      .catch(failed)
      .finally(() => {
        current = null;
        if (!again) return;
        again = false;
        run();
      });
  };
  const timer = setInterval(run, ms);
  timer.unref();
  return {
    now() {
      if (current === null) run();
      else again = true;
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await current;
    },
  };
}
