import type { Logger } from '../kernel/log.ts';
import { every } from './every.ts';

const EVERY_MS = 30_000;

/** Looks every 30 s for accounts that fell below their line, until stopped: soon enough for people. */
export const startLowBalance = (round: () => Promise<void>, logger: Logger): { stop(): Promise<void> } =>
  // What was not told yet is told in the next round.
  every(EVERY_MS, round, (error) => logger.error({ err: error }, 'mails of low balances were not sent'));
