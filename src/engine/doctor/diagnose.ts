/** Is this host fit to ask other people's mail servers? */
import { checkBlocklists } from './blocklists.ts';
import { checkEgress, checkHelo, checkPtr, withoutEgress } from './identity.ts';
import { checkResolver } from './resolver.ts';
import { checkSpf } from './sender.ts';
import { checkClock, checkLists, checkStore } from './service.ts';
import { checkPort, type Egress, egressOf, lookOutside } from './survey.ts';
import { type Check, type Finding, type World, warn } from './world.ts';

export { CHECK_MS, type Finding, type World } from './world.ts';

/**
 * All findings, in the order of the report. The checks run together, each for `checkMs` (5 s) at most; those about our address wait
 * for the look outside that finds it, so that all of it takes twice that at most. Never rejects. A host with several addresses
 * gets a line for each.
 */
export async function diagnose(world: World): Promise<Finding[]> {
  const survey = lookOutside(world);
  const bounded = boundBy(world.checkMs);
  const resolver = bounded('resolver', async () => [await checkResolver(world)]);
  const ofAddress = (check: Check, of: (egress: Egress) => Promise<Finding>) => async (): Promise<Finding[]> => {
    const addresses = egressOf(world, await survey);
    const each = addresses.map((egress) => bounded(check, async () => [await of(egress)]));
    return addresses.length === 0 ? [withoutEgress(check)] : (await Promise.all(each)).flat();
  };
  const found = await Promise.all([
    resolver,
    bounded('port', async () => checkPort(world, await survey)),
    bounded('helo', async () => [await checkHelo(world)]),
    bounded(
      'egress',
      ofAddress('egress', (egress) => checkEgress(world, egress)),
      2,
    ),
    bounded(
      'ptr',
      ofAddress('ptr', (egress) => checkPtr(world, egress)),
      2,
    ),
    bounded(
      'spf',
      ofAddress('spf', (egress) => checkSpf(world, egress)),
      2,
    ),
    bounded(
      'blocklists',
      ofAddress('blocklists', ({ ip }) => checkBlocklists(world, ip)),
      2,
    ),
    bounded('lists', async () => [checkLists(world)]),
    bounded(
      'store',
      async () => {
        // Opening a store may hold up the whole process for a while, which the others would take for a slow network.
        await Promise.allSettled([resolver, survey]);
        return [await checkStore(world)];
      },
      2,
    ),
    bounded('clock', async () => [await checkClock(world)]),
  ]);
  return found.flat();
}

/** Nothing failed; warnings are no failure. */
export const isFit = (findings: readonly Finding[]): boolean => findings.every(({ result }) => result !== 'fail');

/** A check that takes too long, or throws, is a warning. `steps`: how many checks' time it has. */
const boundBy =
  (checkMs: number) =>
  async (check: Check, run: () => Promise<Finding[]>, steps = 1): Promise<Finding[]> => {
    const ms = checkMs * steps;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Finding[]>((resolve) => {
      const found = `Not known: it took longer than ${ms / 1000} s.`;
      timer = setTimeout(() => resolve([warn(check, found, 'Run the doctor again.')]), ms);
    });
    try {
      return await Promise.race([run(), late]);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [warn(check, `Not known: ${why}.`, 'Run the doctor again.')];
    } finally {
      clearTimeout(timer);
    }
  };
