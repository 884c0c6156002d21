/** Plans, levels and prices: what an account may request, how often, and at what price. */
export const PLAN_NAMES = ['starter', 'premium', 'enterprise'] as const;
export type Plan = (typeof PLAN_NAMES)[number];
export const DEFAULT_PLAN: Plan = 'starter';

interface PlanTerms {
  /** Of enterprise, the default: it is set per account. */
  readonly requestsPerWindow: number;
  readonly smtp: boolean;
  /** Filters that an account can have. */
  readonly filters: number;
  /** Mailboxes that an account can remember, in each scope of its own. */
  readonly mailboxes: number;
  /** Bytes that the lists of an account can take in the store, with LIST_RESULT_BYTES for each of their addresses. */
  readonly listBytes: number;
}
const GIB = 2 ** 30;

export const PLANS: Readonly<Record<Plan, PlanTerms>> = {
  starter: { requestsPerWindow: 60, smtp: false, filters: 10_000, mailboxes: 100_000, listBytes: 4 * GIB },
  premium: { requestsPerWindow: 300, smtp: true, filters: 100_000, mailboxes: 1_000_000, listBytes: 20 * GIB },
  enterprise: { requestsPerWindow: 3000, smtp: true, filters: 1_000_000, mailboxes: 10_000_000, listBytes: 100 * GIB },
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
