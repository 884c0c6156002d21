/** How fast a list gets done: how many addresses were done at two times in the past. */
export interface ListPace {
  readonly earlier: PaceSample;
  readonly later: PaceSample;
}
interface PaceSample {
  readonly at: number;
  readonly done: number;
}

export const startPace = (now: number, done: number): ListPace => ({
  earlier: { at: now, done },
  later: { at: now, done },
});

/** Addresses in a second; null: nothing is known yet. */
export function perSecond({ earlier }: ListPace, now: number, done: number): number | null {
  return now > earlier.at && done > earlier.done ? ((done - earlier.done) * 1000) / (now - earlier.at) : null;
}
