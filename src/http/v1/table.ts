import type { Route } from '../route.ts';
import { FILTER_ROUTES } from './filters.ts';
import { LIST_ROUTES } from './lists.ts';
import { POLICY_ROUTES } from './policies.ts';
import { USAGE_ROUTES } from './usage.ts';
import { VERIFY_ROUTES } from './verify.ts';
import { WEBHOOK_ROUTES } from './webhooks.ts';

/** All routes of the public API. */
export const V1_ROUTES: readonly Route[] = [
  ...VERIFY_ROUTES,
  ...LIST_ROUTES,
  ...USAGE_ROUTES,
  ...FILTER_ROUTES,
  ...POLICY_ROUTES,
  ...WEBHOOK_ROUTES,
];
