import type { LowBalanceAlerts } from '../service/low-balance.ts';
import type { JobRunner } from './runner.ts';

/**
 * One round. The mails are jobs added in the transaction that marks the alert as sent, so that none is lost or
 * repeated.
 */
export const lowBalanceJob =
  (alert: LowBalanceAlerts): JobRunner<'low_balance'> =>
  async (_job, signal) => {
    await alert(signal);
    signal.throwIfAborted();
    return undefined;
  };
