import type { Logger } from '../kernel/log.ts';
import type { HostLearning } from '../service/host-learning.ts';
import type { SharedLists } from '../service/shared-lists.ts';
import type { JobRunner } from './runner.ts';

/** One step; the next one is another run of the job, so that a stopped process loses no more than one. */
export const learnHostsJob =
  (learning: HostLearning, shared: SharedLists, logger: Logger): JobRunner<'learn_hosts'> =>
  async (_job, signal) => {
    const outcome = await learning.step(signal);
    if (outcome === 'more') return { againMs: 1 };
    if (outcome === 'unsure') logger.warn('no mail hosts were learned: too few known good domains could be looked up');
    if (outcome === 'done') await shared.exchange();
    return undefined;
  };
