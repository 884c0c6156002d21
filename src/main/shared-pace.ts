import type { Options } from '../config/read.ts';
import type { createEngine } from '../engine/create.ts';
import { randomToken } from '../kernel/ids.ts';
import type { Logger } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';

type SharedPace = NonNullable<Parameters<typeof createEngine>[0]['sharedPace']> | null;

/** Nodes on one PostgreSQL store share the pace of their egress address. A node on SQLite is alone. */
export function sharedPaceOf(
  { smtpPaceGroup: group }: Pick<Options, 'smtpPaceGroup'>,
  { engine, paceSlices }: Pick<Store, 'engine' | 'paceSlices'>,
  logger: Logger,
): SharedPace {
  if (engine === 'sqlite' || group === null) return null;
  const node = randomToken(22);
  return {
    group,
    lease: (requests, leaseMs) => paceSlices.lease(node, requests, leaseMs),
    failed: (error) => logger.error({ err: error }, 'the pace at mail servers could not be shared; it is tried again'),
  };
}
