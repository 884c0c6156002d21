/** The plans: what an account may ask for and how often. */
export type Plan = 'starter' | 'premium' | 'enterprise';
export const PLANS: Readonly<Record<Plan, { requestsPerWindow: number; smtp: boolean }>> = {
  starter: { requestsPerWindow: 60, smtp: false },
  premium: { requestsPerWindow: 300, smtp: true },
  // Enterprise is set per account; this is what it has until somebody does.
  enterprise: { requestsPerWindow: 3000, smtp: true },
};
export const PLAN_NAMES = Object.keys(PLANS) as readonly Plan[];

/** Rate windows start at whole multiples of five minutes. */
export const WINDOW_SECONDS = 300;

export type Level = 'mx' | 'smtp';
/** Credits that a level costs when it gave the answer. A matched filter costs nothing: nothing was checked. */
export const PRICE: Readonly<Record<Level, number>> = { mx: 1, smtp: 10 };
