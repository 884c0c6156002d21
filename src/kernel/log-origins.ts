/** Where a verification was asked for. */
export const LOG_ORIGINS = ['api', 'dashboard'] as const;
export type LogOrigin = (typeof LOG_ORIGINS)[number];

/** The key ID under which verifications in the dashboard are recorded. */
export const DASHBOARD_KEY = 'dashboard';
