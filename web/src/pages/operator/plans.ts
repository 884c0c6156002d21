import type { OperatorAccount } from '../../api/schema.ts';
import { PLAN_NAMES } from '../../parts/words.ts';

export type Plan = OperatorAccount['plan'];

const PLANS: readonly Plan[] = ['starter', 'premium', 'enterprise'];
export const PLAN_CHOICES = PLANS.map((plan) => ({ value: plan, label: PLAN_NAMES[plan] ?? plan }));
export const toPlan = (text: string): Plan => PLANS.find((plan) => plan === text) ?? 'starter';
