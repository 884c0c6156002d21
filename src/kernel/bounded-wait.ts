import { contain } from './contain.ts';
import { onAbort } from './on-abort.ts';

interface WaitBounds<L> {
  readonly ms?: number;
  readonly signals?: readonly AbortSignal[];
  readonly late?: () => L;
}

/**
 * What `work` gives. Where the time is over or a signal is aborted before, it is what `late` returns or throws; without
 * `late`, the reason of the signal or an Error is thrown. The work goes on then, and is not begun after a signal.
 */
export async function within<T, L = never>(
  { ms, signals = [], late }: WaitBounds<L>,
  work: () => Promise<T>,
): Promise<T | L> {
  const aborted = () => signals.find((signal) => signal.aborted);
  const atEnd = (): L => {
    if (late !== undefined) return late();
    throw aborted()?.reason ?? new Error(`no answer within ${Number(ms) / 1000} s`);
  };
  if (aborted()) return atEnd();
  let stop = (): void => undefined;
  const over = new Promise<L>((resolve, reject) => {
    const end = contain(reject, () => resolve(atEnd()));
    const timer = ms === undefined ? undefined : setTimeout(end, ms);
    const ignoreAborts = signals.map((signal) => onAbort(signal, end));
    stop = () => {
      clearTimeout(timer);
      for (const ignoreAbort of ignoreAborts) ignoreAbort();
    };
  });
  try {
    return await Promise.race([work(), over]);
  } finally {
    stop();
  }
}
