/** The last examination by the doctor, on any node: what operators see until they run it again. */
import { toIso } from '../kernel/clock.ts';
import { DOCTOR_CHECKS } from '../kernel/doctor-checks.ts';
import type { Store } from '../store/store.ts';
import type { Examination } from './doctor.ts';

export interface KeptExamination extends Examination {
  /** The time is Unix time in ms. */
  readonly at: number;
  readonly tookMs: number;
}

const FILE = 'doctor.json';

/** Null: there was none yet. */
export async function lastExamination({ sharedFiles }: Pick<Store, 'sharedFiles'>): Promise<KeptExamination | null> {
  const file = await sharedFiles.read(FILE);
  if (file === null) return null;
  const kept: KeptExamination = JSON.parse(file.text);
  // Another version may have other checks.
  return { ...kept, findings: kept.findings.filter(({ check }) => DOCTOR_CHECKS.includes(check)) };
}

/** One that found the store unusable cannot be kept. */
export async function keepExamination(
  { sharedFiles }: Pick<Store, 'sharedFiles'>,
  examined: KeptExamination,
): Promise<void> {
  if (examined.findings.some(({ check, result }) => check === 'store' && result === 'fail')) return;
  await sharedFiles.put({ name: FILE, made: toIso(examined.at), text: JSON.stringify(examined) });
}
