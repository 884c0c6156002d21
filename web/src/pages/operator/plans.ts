import { PLAN_NAMES } from '../../../../src/kernel/facts/plans.ts';
import { PLAN_LABELS } from '../../parts/plans.ts';

export const PLAN_OPTIONS = PLAN_NAMES.map((plan) => ({ value: plan, label: PLAN_LABELS[plan] }));
