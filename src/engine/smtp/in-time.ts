import type { Clock } from '../../kernel/clock.ts';
import { contain } from '../../kernel/contain.ts';
import { onAbort } from '../../kernel/on-abort.ts';

/** What the promise gives before the limit; null afterwards. */
export async function inTime<T>(
  promise: Promise<T>,
  { deadline, signals }: { readonly deadline: number; readonly signals: readonly AbortSignal[] },
  clock: Clock,
): Promise<T | null> {
  let leave = (): void => {};
  const over = new Promise<null>((resolve, reject) => {
    const end = contain(reject, () => resolve(null));
    const timer = setTimeout(end, Math.max(0, Math.ceil(deadline - clock.elapsed())));
    const ignoreAbort = signals.map((signal) => onAbort(signal, end));
    if (signals.some(({ aborted }) => aborted)) end();
    leave = () => {
      clearTimeout(timer);
      for (const ignore of ignoreAbort) ignore();
    };
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    leave();
  }
}
