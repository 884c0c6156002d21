import type { Options } from '../config/read.ts';
import type { VerificationEngine } from '../engine/create.ts';
import type { Metrics } from '../http/metrics/registry.ts';
import { startListsExchange, startListWorker, startUpkeep } from '../jobs/rounds.ts';
import { createRunners } from '../jobs/runners.ts';
import { type JobRunners, startWorker } from '../jobs/worker.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomToken } from '../kernel/ids.ts';
import type { Logger } from '../kernel/log.ts';
import { createSeekAlerts } from '../service/alerts.ts';
import type { ListsUpdate } from '../service/disposable-lists-update.ts';
import type { HostLearning } from '../service/host-learning.ts';
import type { OutcomeMemory } from '../service/learned.ts';
import { ALL_OPERATORS, createListOperators } from '../service/lists/operators.ts';
import type { ListService } from '../service/lists/service.ts';
import { createListVerifier } from '../service/lists/verify-list.ts';
import { createListWork, type ListWorkService } from '../service/lists/work.ts';
import type { Mail } from '../service/mail.ts';
import type { MailLimits } from '../service/mail-limits.ts';
import type { SharedLists } from '../service/shared-lists.ts';
import type { SignInService } from '../service/sign-in/service.ts';
import type { WatchedClock } from '../service/store-clock.ts';
import { createAccountRemoval, createListRemoval, createPurge } from '../service/upkeep.ts';
import type { VerifyService } from '../service/verify.ts';
import type { DeliverWebhook } from '../service/webhooks/deliver.ts';
import type { AddressHasher, RunningList, Store, VerificationRecord } from '../store/store.ts';
import type { Closers } from './closers.ts';
import { countVerdict } from './metrics.ts';

interface JobParts {
  readonly options: Options;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly storeClock: WatchedClock;
  readonly store: Store;
  readonly engine: VerificationEngine;
  readonly metrics: Metrics | null;
  readonly mail: Mail | null;
  readonly mailLimits: MailLimits;
  readonly listsUpdate: ListsUpdate;
  readonly deliverWebhook: DeliverWebhook;
  readonly sharedLists: SharedLists;
  readonly context: { readonly signIn: SignInService; readonly verify: VerifyService; readonly lists: ListService };
  readonly hostLearning: HostLearning;
  readonly outcomeMemory: OutcomeMemory;
  /** Null: addresses are kept. */
  readonly keepAs: AddressHasher | null;
  readonly closers: Closers;
  readonly url: () => string;
}

/** Background work: jobs in every process except those that only serve requests. */
export function startJobs(parts: JobParts): void {
  const { options, logger, clock, store, closers } = parts;
  const exchange = startListsExchange(parts.sharedLists, logger);
  closers.add('lists', 3_000, () => exchange.stop());
  if (options.role === 'api') return;
  // Not a job: it must also work while the queue is stuck.
  const upkeep = startUpkeep((signal) => store.upkeep.releaseDead(signal), logger);
  closers.add('upkeep', 3_000, () => upkeep.stop());
  const worker = startWorker({ jobs: store.jobs, runners: runnersOf(parts), clock, logger });
  closers.add('jobs', 5_000, () => worker.stop());
  const lists = startListWorker(listWork(parts), parts.context.lists, logger);
  closers.add('work on lists', 5_000, () => lists.stop());
}

function listWork({
  clock,
  store,
  engine,
  logger,
  context,
  metrics,
  outcomeMemory,
  keepAs,
}: JobParts): ListWorkService {
  const failed = (error: unknown) => logger.error({ err: error }, 'work on a list failed; it is tried again');
  const operators =
    store.engine === 'postgres'
      ? createListOperators({ clock, leases: store.operatorLeases, node: randomToken(22), failed })
      : ALL_OPERATORS;
  const verifier = createListVerifier({
    engine,
    operators,
    matchFilters: (account, keys) => store.filters.matchMany(account, keys),
    outcomes: outcomeMemory,
    keepAs,
    singleCalls: () => context.verify.calls,
  });
  const onResult = ({ test }: RunningList, record: VerificationRecord) => {
    if (!test) countVerdict(metrics, record);
  };
  return createListWork({ clock, lists: store.lists, verifier, operators, onResult, failed });
}

function runnersOf({ options, storeClock, store, context, ...parts }: JobParts): JobRunners {
  return createRunners({
    ...parts,
    signIn: context.signIn,
    seekAlerts: createSeekAlerts({ store, egressHealth: parts.engine.egressHealth }),
    purge: createPurge({ ...options, store, storeClock }),
    removeAccount: createAccountRemoval(store),
    removeList: createListRemoval(store),
    wakeWebhooks: (signal) => store.webhooks.wake(signal),
    learnsHosts: options.listsLearnHosts,
    updatesDaily: options.listsUpdate === 'daily',
  });
}
