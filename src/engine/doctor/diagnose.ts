/** Is this host ready to connect to mail servers? */
import { contain } from '../../kernel/contain.ts';
import { checkBlocklists } from './blocklists.ts';
import { type Check, type DoctorDeps, type Finding, warn } from './deps.ts';
import { checkEgress, checkHelo, checkPtr, withoutEgress } from './identity.ts';
import { checkResolver } from './resolver.ts';
import { checkSpf } from './sender.ts';
import { checkClock, checkLists, checkStore } from './service.ts';
import { checkPort, type Egress, egressOf, surveyEgress } from './survey.ts';

export { CHECK_MS, type DoctorDeps, type Finding } from './deps.ts';

/**
 * All findings, in the order of the report. The checks run together, each for `checkMs` (5 s) at most; those about our
 * address wait for the look outside that finds it, so that all of it takes twice that at most. Never rejects. A host
 * with several addresses gets a line for each.
 */
export async function diagnose(deps: DoctorDeps): Promise<Finding[]> {
  const survey = surveyEgress(deps);
  const bounded = boundBy(deps.checkMs);
  const resolver = bounded('resolver', async () => [await checkResolver(deps)]);
  const ofAddress = (check: Check, of: (egress: Egress) => Promise<Finding>) => async (): Promise<Finding[]> => {
    const addresses = egressOf(deps, await survey);
    const each = addresses.map((egress) => bounded(check, async () => [await of(egress)]));
    return addresses.length === 0 ? [withoutEgress(check)] : (await Promise.all(each)).flat();
  };
  const found = await Promise.all([
    resolver,
    bounded('port', async () => checkPort(deps, await survey)),
    bounded('helo', async () => [await checkHelo(deps)]),
    bounded(
      'egress',
      ofAddress('egress', (egress) => checkEgress(deps, egress)),
      2,
    ),
    bounded(
      'ptr',
      ofAddress('ptr', (egress) => checkPtr(deps, egress)),
      2,
    ),
    bounded(
      'spf',
      ofAddress('spf', (egress) => checkSpf(deps, egress)),
      2,
    ),
    bounded(
      'blocklists',
      ofAddress('blocklists', ({ ip }) => checkBlocklists(deps, ip)),
      2,
    ),
    bounded('lists', async () => [checkLists(deps)]),
    bounded(
      'store',
      async () => {
        // Opening a store may block the process for a while, which the network checks would measure as latency.
        await Promise.allSettled([resolver, survey]);
        return [await checkStore(deps)];
      },
      2,
    ),
    bounded('clock', async () => [await checkClock(deps)]),
  ]);
  return found.flat();
}

/** Nothing failed; warnings do not count. */
export const isFit = (findings: readonly Finding[]): boolean => findings.every(({ result }) => result !== 'fail');

/** A check that times out or throws is a warning. `steps`: its time limit, in multiples of `checkMs`. */
const boundBy =
  (checkMs: number) =>
  async (check: Check, run: () => Promise<Finding[]>, steps = 1): Promise<Finding[]> => {
    const ms = checkMs * steps;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Finding[]>((resolve, reject) => {
      const found = `Unknown: it took longer than ${ms / 1000} s.`;
      const onLate = () => resolve([warn(check, found, 'Run the doctor again.')]);
      timer = setTimeout(contain(reject, onLate), ms);
    });
    try {
      return await Promise.race([run(), late]);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [warn(check, `Unknown: ${why}.`, 'Run the doctor again.')];
    } finally {
      clearTimeout(timer);
    }
  };
