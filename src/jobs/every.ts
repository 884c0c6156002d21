/** Does something every so often, never twice at once, until stopped; `stop` waits for the round that is under way. */
export function every(
  ms: number,
  round: () => Promise<void>,
  failed: (error: unknown) => void,
): { stop(): Promise<void> } {
  let current: Promise<void> | null = null;
  const timer = setInterval(() => {
    current ??= round()
      .catch(failed)
      .finally(() => {
        current = null;
      });
  }, ms);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}
