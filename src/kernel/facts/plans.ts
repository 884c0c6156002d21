/** Levels, plans and prices: what an account may request, how often, at what price, and what it is given each month. */
export const LEVELS = ['mx', 'smtp'] as const;
export type Level = (typeof LEVELS)[number];
export const DEFAULT_LEVEL: Level = 'mx';

/** What has a price: an answer of a level, and a check that ended without one (`deliverability` is then `unknown`). */
export const PRICED = [...LEVELS, 'unknown'] as const;
export type Priced = (typeof PRICED)[number];
export type Prices = Readonly<Record<Priced, number>>;

/**
 * What `monthly_credits: unlimited` gives each month. No account can spend it in a month, and sums of it stay exact in
 * a double.
 */
export const UNLIMITED_CREDITS = 10 ** 15;

export interface PlanTerms {
  readonly name: string;
  /** Accounts may have another limit of their own. */
  readonly requestsPerWindow: number;
  readonly levels: readonly Level[];
  readonly prices: Prices;
  /** UNLIMITED_CREDITS: as many as are needed. */
  readonly monthlyCredits: number;
  /** How much of a month's allowance the next month takes over at most; Infinity: all of it. */
  readonly carryOver: number;
  /** Filters that an account can have. */
  readonly filters: number;
  /** Mailboxes that an account can remember, in each scope of its own. */
  readonly mailboxes: number;
  /** Bytes that the lists of an account can take in the store, with LIST_RESULT_BYTES for each of their addresses. */
  readonly listBytes: number;
}

/** The key is the name; there is at least one plan. New accounts get the first one. */
export type Plans = ReadonlyMap<string, PlanTerms>;

export const plansOf = (plans: readonly PlanTerms[]): Plans => new Map(plans.map((plan) => [plan.name, plan]));

const GIB = 2 ** 30;
const COMMON = { prices: { mx: 1, smtp: 10, unknown: 1 }, monthlyCredits: 0, carryOver: 0 } as const;

/** Where there is no plans file. */
export const DEFAULT_PLANS: Plans = plansOf([
  {
    ...COMMON,
    name: 'starter',
    requestsPerWindow: 60,
    levels: ['mx'],
    filters: 10_000,
    mailboxes: 100_000,
    listBytes: 4 * GIB,
  },
  {
    ...COMMON,
    name: 'premium',
    requestsPerWindow: 300,
    levels: ['mx', 'smtp'],
    filters: 100_000,
    mailboxes: 1_000_000,
    listBytes: 20 * GIB,
  },
  {
    ...COMMON,
    name: 'enterprise',
    requestsPerWindow: 3000,
    levels: ['mx', 'smtp'],
    filters: 1_000_000,
    mailboxes: 10_000_000,
    listBytes: 100 * GIB,
  },
  // What the first account of an empty store gets, which is the operator's own.
  {
    ...COMMON,
    name: 'unlimited',
    requestsPerWindow: 100_000,
    levels: ['mx', 'smtp'],
    monthlyCredits: UNLIMITED_CREDITS,
    filters: 1_000_000,
    mailboxes: 10_000_000,
    listBytes: 100 * GIB,
  },
]);
/** Where no account is charged: those of the library, and of examples. */
export const DEFAULT_PRICES: Prices = COMMON.prices;

/** Accounts may have a plan that the file no longer has, and are named by it: nothing is charged. */
const unknownPlan = (name: string): PlanTerms => ({
  ...COMMON,
  name,
  requestsPerWindow: 0,
  levels: [],
  filters: 0,
  mailboxes: 0,
  listBytes: 0,
});
export const termsOf = (plans: Plans, name: string): PlanTerms => plans.get(name) ?? unknownPlan(name);

const firstPlan = (plans: Iterable<PlanTerms>): PlanTerms => {
  for (const plan of plans) return plan;
  throw new RangeError('There is no plan.');
};
/** What an account gets that is created without a plan. */
export const defaultPlan = (plans: Plans): string => firstPlan(plans.values()).name;
/** The first plan that has the level, which is the one to upgrade to; null: none has. */
export const planWithLevel = (plans: Plans, level: Level): string | null =>
  [...plans.values()].find(({ levels }) => levels.includes(level))?.name ?? null;

export const isUnlimited = ({ monthlyCredits }: Pick<PlanTerms, 'monthlyCredits'>): boolean =>
  monthlyCredits === UNLIMITED_CREDITS;

/** The most that a check can cost, which is held for it. Test mode charges nothing. */
export const heldPrice = ({ prices }: Pick<PlanTerms, 'prices'>, level: Level, test: boolean): number =>
  test ? 0 : Math.max(prices.mx, prices.unknown, level === 'smtp' ? prices.smtp : 0);
export const highestPrice = (plans: Iterable<PlanTerms>): number =>
  Math.max(...Array.from(plans, (plan) => heldPrice(plan, 'smtp', false)));

/** Rate windows start at whole multiples of this. */
export const WINDOW_SECONDS = 300;

/** The account created in an empty store. It is the operator's own, so nothing should run into its limits. */
export const FIRST_ACCOUNT = {
  name: 'Default',
  rateLimit: 100_000,
  credits: 10_000_000,
  note: 'First account',
} as const;

/** The plan of the first account: one with unlimited credits, else the one that allows most. */
export function firstAccountPlan(plans: Plans): PlanTerms {
  const all = [...plans.values()];
  const able = all.filter(({ levels }) => levels.includes('smtp'));
  const some = able.length > 0 ? able : all;
  return some.find(isUnlimited) ?? firstPlan(some.toSorted((a, b) => b.requestsPerWindow - a.requestsPerWindow));
}

/** What a test account shows as its balance. Test mode charges nothing, so that it stays. */
export const TEST_CREDITS = 1_000_000;

export const ACCOUNT_STATUSES = ['active', 'suspended'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/** The credits of an account, as replies and events have them. */
export const creditsOf = (account: {
  readonly balance: number;
  readonly locked: number;
  readonly allowance: number;
  readonly terms: PlanTerms;
  readonly testOf: string | null;
}) => {
  const { balance, locked, allowance, terms, testOf } = account;
  const total = balance + locked;
  const parts = { allowance, purchased: total - allowance };
  return { total, locked, remaining: balance, unlimited: isUnlimited(terms) && testOf === null, ...parts };
};

/** What changes a balance. `day`: the sum of a day's entries that were deleted after their time. */
export const LEDGER_KINDS = ['grant', 'allowance', 'hold', 'settlement', 'release', 'day'] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];
