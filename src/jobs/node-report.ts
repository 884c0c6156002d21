import type { Logger } from '../kernel/log.ts';
import { every } from './every.ts';

const EVERY_MS = 10_000;

/** Says every 10 s that this process runs, for the page about the service; that it lives is proved by a lock. */
export const startNodeReport = (report: () => Promise<void>, logger: Logger): { stop(): Promise<void> } =>
  every(EVERY_MS, report, (error) => logger.warn({ err: error }, 'this process could not be reported as running'));
