/** Jobs as they lie in the database. */
import type { JobKind } from '../../src/kernel/jobs.ts';
import type { StoreLab } from '../lab/stores.ts';

/** Negative: the clock was set back. */
export function pass(lab: StoreLab, ms: number): void {
  if (ms < 0) lab.clock.step(ms);
  else lab.clock.advance(ms);
}

/** Payloads of all jobs. */
export const payloads = async (lab: StoreLab): Promise<string> =>
  JSON.stringify(await lab.sql('SELECT payload FROM jobs'));

/** Makes the jobs of a kind those of one that only another version of the service has. */
export async function rename(lab: StoreLab, kind: JobKind, other: string): Promise<void> {
  await lab.sql(`UPDATE jobs SET kind = '${other}' WHERE kind = '${kind}'`);
}
