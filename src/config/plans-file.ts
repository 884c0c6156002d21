/** MAILVET_PLANS_FILE is a YAML mapping with an entry for each plan. */
import { isMap, isScalar, isSeq, type Pair, stringify } from 'yaml';
import { PLAN_NAME_LENGTH, PLAN_NUMBERS, PLANS_MAX, type PlanNumber } from '../kernel/facts/limits.ts';
import {
  DEFAULT_LEVEL,
  isUnlimited,
  LEVELS,
  type Level,
  type Plans,
  type PlanTerms,
  PRICED,
  type Priced,
  plansOf,
  UNLIMITED_CREDITS,
} from '../kernel/facts/plans.ts';
import { grouped } from '../kernel/format.ts';
import { quoted, YamlFile, type YamlValue } from './yaml-file.ts';

type ReadPlans =
  | { readonly ok: true; readonly plans: Plans }
  | { readonly ok: false; readonly problems: readonly string[] };

const PLAN_NAME = /^[a-z0-9][a-z0-9_-]*$/;
const PLAN_KEYS = [
  'requests_per_window',
  'levels',
  'prices',
  'monthly_credits',
  'carry_over',
  'filters',
  'mailboxes',
  'list_bytes',
] as const;
type PlanKey = (typeof PLAN_KEYS)[number];

type PlanFields<K extends string> = ReadonlyMap<K, YamlValue>;

/** All mistakes at once, each with its line, its field and what to write instead. */
export function parsePlansFile(text: string, path: string): ReadPlans {
  return new PlansFile(path).read(text);
}

class PlansFile {
  readonly #file: YamlFile;

  constructor(path: string) {
    this.#file = new YamlFile(path);
  }

  read(text: string): ReadPlans {
    const plans = this.#plans(text);
    const { problems } = this.#file;
    return problems.length > 0 ? { ok: false, problems } : { ok: true, plans: plansOf(plans) };
  }

  #plans(text: string): PlanTerms[] {
    const whole = this.#file.parse(text);
    if (whole === undefined) return [];
    if (!isMap(whole) || whole.items.length === 0) {
      this.#file.say(1, 'give a mapping with an entry for each plan, such as "starter: {requests_per_window: 60}".');
      return [];
    }
    if (whole.items.length > PLANS_MAX) this.#file.say(1, `at most ${PLANS_MAX} plans.`);
    return whole.items.slice(0, PLANS_MAX).flatMap((pair) => this.#plan(pair) ?? []);
  }

  #plan({ key, value }: Pair): PlanTerms | null {
    const line = this.#file.lineOf(key, 1);
    const name = isScalar(key) ? String(key.value) : '';
    if (!PLAN_NAME.test(name) || name.length > PLAN_NAME_LENGTH.max) {
      const form = `up to ${PLAN_NAME_LENGTH.max} lower-case letters, digits, hyphens and underscores`;
      this.#file.say(line, `${quoted(name)} is no name of a plan: give ${form}.`);
    }
    const fields = this.#file.fields({ node: value, line: this.#file.lineOf(value, line) }, PLAN_KEYS, name);
    if (fields === null) return null;
    const numbers = this.#numbers(fields, name);
    const monthlyCredits = this.#monthly(fields, name);
    const carryOver = this.#carryOver(fields, name, monthlyCredits);
    const levels = this.#levels(fields, name);
    const prices = this.#prices(fields, name);
    if (!fields.has('requests_per_window'))
      this.#file.say(line, `${name}: requests_per_window is missing: give a number.`);
    return { name, levels, prices, monthlyCredits, carryOver, ...numbers };
  }

  #numbers(fields: PlanFields<PlanKey>, plan: string) {
    const number = (key: PlanNumber & PlanKey) => {
      const { min, max, default: otherwise } = PLAN_NUMBERS[key];
      return this.#whole(fields.get(key), `${plan}: ${key}`, { min, max }) ?? otherwise;
    };
    return {
      requestsPerWindow: number('requests_per_window'),
      filters: number('filters'),
      mailboxes: number('mailboxes'),
      listBytes: number('list_bytes'),
    };
  }

  /** Null: it is not there, or a mistake, which has been reported. */
  #whole(
    value: YamlValue | undefined,
    field: string,
    { min, max, or = '' }: { readonly min: number; readonly max: number; readonly or?: string },
  ): number | null {
    if (value === undefined) return null;
    const found = isScalar(value.node) ? value.node.value : null;
    if (typeof found === 'number' && Number.isSafeInteger(found) && found >= min && found <= max) return found;
    return this.#file.say(value.line, `${field}: give a whole number from ${grouped(min)} to ${grouped(max)}${or}.`);
  }

  #levels(fields: PlanFields<PlanKey>, plan: string): readonly Level[] {
    const value = fields.get('levels');
    if (value === undefined) return LEVELS;
    const items = isSeq(value.node) ? value.node.items : [];
    const named = items.map((item) => LEVELS.find((level) => isScalar(item) && item.value === level));
    if (!named.includes(DEFAULT_LEVEL) || named.includes(undefined) || new Set(named).size < named.length)
      this.#file.say(value.line, `${plan}: levels: give [mx] or [mx, smtp].`);
    return LEVELS.filter((level) => named.includes(level));
  }

  #prices(fields: PlanFields<PlanKey>, plan: string): PlanTerms['prices'] {
    const value = fields.get('prices');
    const given = value === undefined ? null : this.#file.fields(value, PRICED, `${plan}: prices`);
    const price = (priced: Priced) => {
      const { min, max, default: otherwise } = PLAN_NUMBERS[`price_${priced}`];
      return this.#whole(given?.get(priced), `${plan}: prices: ${priced}`, { min, max }) ?? otherwise;
    };
    return { mx: price('mx'), smtp: price('smtp'), unknown: price('unknown') };
  }

  #monthly(fields: PlanFields<PlanKey>, plan: string): number {
    const value = fields.get('monthly_credits');
    if (value !== undefined && isScalar(value.node) && value.node.value === 'unlimited') return UNLIMITED_CREDITS;
    const { min, max, default: otherwise } = PLAN_NUMBERS.monthly_credits;
    return this.#whole(value, `${plan}: monthly_credits`, { min, max, or: ', or unlimited' }) ?? otherwise;
  }

  #carryOver(fields: PlanFields<PlanKey>, plan: string, monthlyCredits: number): number {
    const value = fields.get('carry_over');
    if (value === undefined) return 0;
    if (isUnlimited({ monthlyCredits })) {
      this.#file.say(
        value.line,
        `${plan}: carry_over: leave it out, as there is nothing to carry over of unlimited credits.`,
      );
      return 0;
    }
    const word = isScalar(value.node) ? value.node.value : null;
    if (word === 'none') return 0;
    if (word === 'all') return Number.POSITIVE_INFINITY;
    const { min, max } = PLAN_NUMBERS.monthly_credits;
    return this.#whole(value, `${plan}: carry_over`, { min, max, or: ', none or all' }) ?? 0;
  }
}

/** What a file has to say for its plans to be these. */
export const plansFileEntries = (plans: Plans): Record<string, unknown> =>
  Object.fromEntries(Array.from(plans.values(), (plan) => [plan.name, planEntry(plan)]));
export const plansFileText = (plans: Plans): string =>
  stringify(plansFileEntries(plans), { aliasDuplicateObjects: false });

const planEntry = (plan: PlanTerms): Partial<Record<PlanKey, unknown>> => ({
  requests_per_window: plan.requestsPerWindow,
  levels: plan.levels,
  prices: plan.prices,
  monthly_credits: isUnlimited(plan) ? 'unlimited' : plan.monthlyCredits,
  ...(isUnlimited(plan) ? {} : { carry_over: carryOverText(plan) }),
  filters: plan.filters,
  mailboxes: plan.mailboxes,
  list_bytes: plan.listBytes,
});

function carryOverText({ carryOver }: PlanTerms): number | 'none' | 'all' {
  if (carryOver === 0) return 'none';
  return carryOver === Number.POSITIVE_INFINITY ? 'all' : carryOver;
}
