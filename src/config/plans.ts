import { readFileSync } from 'node:fs';
import { DEFAULT_PLANS, type Plans } from '../kernel/facts/plans.ts';
import type { Options } from './read.ts';

/** Throws an Error with a line for each mistake in the file. */
export async function configuredPlans(options: Pick<Options, 'plansFile'>): Promise<Plans> {
  const file = options.plansFile;
  if (file === null) return DEFAULT_PLANS;
  // The parser is needed only where there is a file.
  const { parsePlansFile } = await import('./plans-file.ts');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : 'unreadable';
    throw new Error(`MAILVET_PLANS_FILE: cannot read ${file} (${why}); give a file that this user may read.`);
  }
  const read = parsePlansFile(text, file);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.plans;
}
