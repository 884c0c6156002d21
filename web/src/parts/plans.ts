import { plural, t } from '@lingui/core/macro';
import { WINDOW_SECONDS } from '../../../src/kernel/facts/plans.ts';
import { formatNumber } from './format.ts';

/** `premium` → `Premium`, `big-team` → `Big team` */
export const planLabel = (plan: string): string => {
  const words = plan.replaceAll(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** ` Available with Premium.`; `plan`: null where none has what is missing. */
export const availableWith = (plan: string | null): string =>
  plan === null ? '' : t` Available with ${planLabel(plan)}.`;

/** What is spent first, and the rest. */
export const creditParts = ({ allowance, purchased }: { allowance: number; purchased: number }): string =>
  t`${formatNumber(allowance)} of this month’s allowance, which is spent first, and ${formatNumber(purchased)} purchased.`;

/** The window of the rate limit: `5 minutes`. */
export const RATE_WINDOW: string = plural(WINDOW_SECONDS / 60, { one: '# minute', other: '# minutes' });
