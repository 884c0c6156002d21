import type { Route } from '../route.ts';
import { ACCOUNT_ROUTES } from './account.ts';
import { ALERT_ROUTES } from './alerts.ts';
import { AUDIT_LOG_ROUTES } from './audit-log.ts';
import { DASHBOARD_FILTER_ROUTES } from './filters.ts';
import { HOOK_ROUTES } from './hooks.ts';
import { KEY_ROUTES } from './keys.ts';
import { DASHBOARD_LIST_ROUTES } from './lists.ts';
import { LOG_EXPORT_ROUTES, LOG_ROUTES, VIEW_ROUTES } from './log.ts';
import { JOB_ROUTES, OPERATOR_KEY_ROUTES, OPERATOR_ROUTES, SERVICE_ROUTES } from './operator.ts';
import { DASHBOARD_OUTCOME_ROUTES } from './outcomes.ts';
import { DASHBOARD_POLICY_ROUTES } from './policies.ts';
import { REPLY_ROUTES } from './replies.ts';
import { SIGN_IN_ROUTES } from './sign-in.ts';
import { DASHBOARD_USAGE_ROUTES } from './usage.ts';
import { DASHBOARD_WEBHOOK_ROUTES } from './webhooks.ts';

export const DASHBOARD_ROUTES: readonly Route[] = [
  ...SIGN_IN_ROUTES,
  ...DASHBOARD_USAGE_ROUTES,
  ...LOG_ROUTES,
  ...LOG_EXPORT_ROUTES,
  ...VIEW_ROUTES,
  ...DASHBOARD_LIST_ROUTES,
  ...KEY_ROUTES,
  ...DASHBOARD_FILTER_ROUTES,
  ...DASHBOARD_POLICY_ROUTES,
  ...DASHBOARD_WEBHOOK_ROUTES,
  ...ALERT_ROUTES,
  ...HOOK_ROUTES,
  ...DASHBOARD_OUTCOME_ROUTES,
  ...ACCOUNT_ROUTES,
  ...AUDIT_LOG_ROUTES,
  ...OPERATOR_ROUTES,
  ...OPERATOR_KEY_ROUTES,
  ...SERVICE_ROUTES,
  ...JOB_ROUTES,
  ...REPLY_ROUTES,
];
