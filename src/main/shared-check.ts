/** Bounds what those who ask for the state of the service can cost: health, metrics. */
import type { Clock } from '../kernel/clock.ts';

/** Rejects after `ms`, whatever the work still does. */
export async function withinMs<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** All callers within `ms` get the same answer, so that a check costs the same however many ask. */
export function sharedFor<T>(ms: number, check: () => Promise<T>, clock: Clock): () => Promise<T> {
  let latest: { at: number; answer: Promise<T> } | null = null;
  return () => {
    const now = clock.elapsed();
    if (latest === null || now - latest.at >= ms) latest = { at: now, answer: check() };
    return latest.answer;
  };
}
