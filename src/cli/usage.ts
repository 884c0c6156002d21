import type { Command } from 'commander';
import type { Usage } from '../../sdk/src/index.ts';
import { counted, grouped } from '../kernel/format.ts';
import { command, printResult } from './command.ts';
import { withServer } from './server-error.ts';

export const usageCommand = (): Command =>
  command('usage', 'Plan, credits and rate limit of the account of MAILVET_KEY, on a server.', 'usage').action(
    async (flags: { json?: boolean }) => {
      await withServer(flags, 'usage', async (mailvet) => {
        const usage = await mailvet.usage();
        printResult(flags, usage, usageText(usage));
      });
    },
  );

function usageText({ plan, period, credits, rate_limit: rate, totals, validation_types: levels }: Usage): string {
  const prices = Object.entries(levels).map(([level, { credits: price, available }]) =>
    available ? `${level} for ${counted(price, 'credit')}` : `${level} not in this plan`,
  );
  return [
    `Plan ${plan}: ${prices.join(', ')}`,
    `${counted(credits.remaining, 'credit')} left, ${grouped(credits.locked)} held, ${grouped(credits.used)} used since ${period.start.slice(0, 10)}`,
    `${grouped(rate.remaining)} of ${counted(rate.limit, 'request')} left in this window of ${grouped(rate.window_seconds)} seconds`,
    `${counted(totals.requests, 'verification')} since ${period.start.slice(0, 10)}: ${grouped(totals.good)} good, ${grouped(totals.bad)} bad`,
  ].join('\n');
}
