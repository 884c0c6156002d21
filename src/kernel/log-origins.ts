/** Where a verification was asked for; `list`: it is the result of a list, wherever that was uploaded. */
export const LOG_ORIGINS = ['api', 'dashboard', 'list'] as const;
export type LogOrigin = (typeof LOG_ORIGINS)[number];

/** The key ID under which verifications in the dashboard are recorded. */
export const DASHBOARD_KEY = 'dashboard';

/** Stands for mail operators without a name: servers of the domains themselves. */
export const NO_OPERATOR = 'none';
