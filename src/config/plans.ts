import { DEFAULT_PLANS, type Plans } from '../kernel/facts/plans.ts';
import { readNamedFile } from './options.ts';
import type { Options } from './read.ts';

/** Throws an Error with a line for each mistake in the file. */
export async function configuredPlans(options: Pick<Options, 'plansFile'>): Promise<Plans> {
  const file = options.plansFile;
  if (file === null) return DEFAULT_PLANS;
  // The parser is needed only where there is a file.
  const { parsePlansFile } = await import('./plans-file.ts');
  const read = parsePlansFile(readNamedFile('MAILVET_PLANS_FILE', file), file);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.plans;
}
