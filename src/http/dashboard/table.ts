import { ACCOUNT_ROWS } from './account.ts';
import { FILTER_ROWS } from './filters.ts';
import { KEY_ROWS } from './keys.ts';
import { LOG_ROWS } from './log.ts';
import { OPERATOR_ROWS } from './operator.ts';
import type { DashboardRow } from './row.ts';
import { SIGN_IN_ROWS } from './sign-in.ts';
import { USAGE_ROWS } from './usage.ts';

/** All routes of the dashboard's private API. */
export const DASHBOARD_ROWS: readonly DashboardRow[] = [
  ...SIGN_IN_ROWS,
  ...USAGE_ROWS,
  ...LOG_ROWS,
  ...KEY_ROWS,
  ...FILTER_ROWS,
  ...ACCOUNT_ROWS,
  ...OPERATOR_ROWS,
];
