import type { Clock } from '../../kernel/clock.ts';
import type { MailboxLimit } from '../verify.ts';

/** What the promise gives before the limit; null afterwards. */
export async function inTime<T>(
  promise: Promise<T>,
  { deadline, signal }: MailboxLimit,
  clock: Clock,
): Promise<T | null> {
  const { promise: over, resolve } = Promise.withResolvers<null>();
  const end = () => resolve(null);
  const timer = setTimeout(end, Math.max(0, Math.ceil(deadline - clock.elapsed())));
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}
