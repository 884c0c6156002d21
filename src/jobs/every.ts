/**
 * Runs `round` every `ms` until stopped; rounds never overlap. `stop` aborts the signal of the current round and waits for
 * it to end.
 */
export function every(
  ms: number,
  round: (signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let current: Promise<void> | null = null;
  const timer = setInterval(() => {
    current ??= round(stopping.signal)
      .catch(failed)
      .finally(() => {
        current = null;
      });
  }, ms);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await current;
    },
  };
}
