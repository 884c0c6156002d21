/** Measures resources of processes and compares interleaved runs. */
import { readFileSync } from 'node:fs';

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Runs every contestant once per round (A B C A B C …), so that other load on the machine affects all of them equally.
 * Returns the samples of each, in the order of the rounds.
 */
export async function interleave<K extends string, T>(
  rounds: number,
  contestants: Readonly<Record<K, () => T | Promise<T>>>,
): Promise<Record<K, T[]>> {
  const names = Object.keys(contestants) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) samples[name].push(await contestants[name]());
  }
  return samples;
}

/** Median over the rounds of a[i] / b[i], so that slow drift cancels out. */
export const medianRatio = (a: readonly number[], b: readonly number[]): number =>
  median(a.map((value, i) => value / b[i]!));

/** proc_pid_stat(5): user and system time are in these ticks on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds used by a process, all threads, user and system. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in parentheses may contain spaces; utime and stime are fields 14 and 15, counted from 1.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory of a process in MB (10^6 bytes). */
export function residentMb(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))!;
  return (Number(kib) * 1024) / 1e6;
}
