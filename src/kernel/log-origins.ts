import { COMPAT_VENDORS } from './compat-vendors.ts';
import { HOOK_KINDS } from './facts/hooks.ts';

/**
 * Where a verification was asked for. `api`: our own API; `compat`: another service's; `hook`: an auth server
 * asked; `list`: it is the result of a list, wherever that was uploaded.
 */
export const LOG_ORIGINS = ['api', 'compat', 'mcp', 'hook', 'dashboard', 'list'] as const;
export type LogOrigin = (typeof LOG_ORIGINS)[number];

/** Calls come through these contracts beside our own. */
export const VIAS = ['mcp', ...COMPAT_VENDORS, ...HOOK_KINDS] as const;
export type Via = (typeof VIAS)[number];

/** The key ID under which verifications in the dashboard are recorded. */
export const DASHBOARD_KEY = 'dashboard';

/** Stands for mail operators without a name: servers of the domains themselves. */
export const NO_OPERATOR = 'none';
