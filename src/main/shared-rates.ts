import type { Options } from '../config/read.ts';
import type { createEngine } from '../engine/create.ts';
import { randomToken } from '../kernel/ids.ts';
import type { Logger } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';

type SharedRatesSetup = NonNullable<Parameters<typeof createEngine>[0]['sharedRates']> | null;

/** Nodes on one PostgreSQL store share the pace of their egress address. A node on SQLite is alone. */
export function sharedRatesOf(
  { smtpPaceGroup: group }: Pick<Options, 'smtpPaceGroup'>,
  { engine, paceSlices }: Pick<Store, 'engine' | 'paceSlices'>,
  logger: Logger,
): SharedRatesSetup {
  if (engine === 'sqlite' || group === null) return null;
  const node = randomToken(22);
  return {
    group,
    lease: (requests, leaseMs) => paceSlices.lease(node, requests, leaseMs),
    failed: (error) => logger.error({ err: error }, 'the pace at mail servers could not be shared; it is tried again'),
  };
}
