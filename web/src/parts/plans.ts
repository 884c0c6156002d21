import { PLAN_NAMES, PLANS, WINDOW_SECONDS } from '../../../src/kernel/facts/plans.ts';
import type { Account } from '../api/schema.ts';
import { pluralize } from './format.ts';

export type Plan = Account['plan'];

export const PLAN_LABELS: Readonly<Record<Plan, string>> = {
  starter: 'Starter',
  premium: 'Premium',
  enterprise: 'Enterprise',
};

export const parsePlan = (text: string): Plan | undefined => PLAN_NAMES.find((plan) => plan === text);

/** `Premium and Enterprise` */
export const PLANS_WITH_SMTP: string = new Intl.ListFormat('en').format(
  PLAN_NAMES.filter((plan) => PLANS[plan].smtp).map((plan) => PLAN_LABELS[plan]),
);

/** The window of the rate limit: `5 minutes`. */
export const RATE_WINDOW: string = pluralize(WINDOW_SECONDS / 60, 'minute');
