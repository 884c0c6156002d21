/** Plans, levels and prices: what an account may request, how often, and at what price. */
export const PLAN_NAMES = ['starter', 'premium', 'enterprise'] as const;
export type Plan = (typeof PLAN_NAMES)[number];
export const DEFAULT_PLAN: Plan = 'starter';

export const PLANS: Readonly<Record<Plan, { requestsPerWindow: number; smtp: boolean }>> = {
  starter: { requestsPerWindow: 60, smtp: false },
  premium: { requestsPerWindow: 300, smtp: true },
  // Set per account; this is the default.
  enterprise: { requestsPerWindow: 3000, smtp: true },
};
/** The cheapest plan with the smtp level. */
export const PLAN_WITH_SMTP: Plan = PLAN_NAMES.find((plan) => PLANS[plan].smtp) ?? 'enterprise';

/** Rate windows start at whole multiples of this. */
export const WINDOW_SECONDS = 300;

export const LEVELS = ['mx', 'smtp'] as const;
export type Level = (typeof LEVELS)[number];
export const DEFAULT_LEVEL: Level = 'mx';
/** Credits charged for the level that produced the verdict. A matched filter is free: nothing was checked. */
export const PRICE: Readonly<Record<Level, number>> = { mx: 1, smtp: 10 };
export const HIGHEST_PRICE = Math.max(...Object.values(PRICE));

/** What is held for each address of a list: the most that its result can cost. */
export const listPrice = (level: Level, test: boolean): number => (test ? 0 : PRICE[level]);

/** The account created in an empty store. It is the operator's own, so nothing should run into its limits. */
export const FIRST_ACCOUNT = {
  name: 'Default',
  plan: 'enterprise',
  rateLimit: 100_000,
  credits: 10_000_000,
  note: 'First account',
} as const;

/** What a test account shows as its balance. Test mode charges nothing, so that it stays. */
export const TEST_CREDITS = 1_000_000;

export const ACCOUNT_STATUSES = ['active', 'suspended'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];
