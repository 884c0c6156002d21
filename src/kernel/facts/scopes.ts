/** What an API key may be used for (RFC 6749 §3.3). Stored and part of the API: never rename one. */
export const KEY_SCOPES = [
  'verify',
  'lists',
  'filters',
  'usage',
  'webhooks',
  'policies',
  'outcomes',
  'log',
  'privacy',
] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** A key has these only where they were chosen for it. */
const CHOSEN_SCOPES: readonly KeyScope[] = ['privacy'];
/** A key for which none were chosen has these. */
export const DEFAULT_SCOPES = KEY_SCOPES.filter((scope) => !CHOSEN_SCOPES.includes(scope));

/** What an operator key may be used for. Likewise. */
export const OPERATOR_SCOPES = ['accounts:read', 'accounts:write', 'credits', 'usage'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** What has become of an API key. `expiring`: it was rolled, and is valid until `revoked_at`. */
export const KEY_CONDITIONS = ['active', 'expiring', 'expired', 'revoked'] as const;
export type KeyCondition = (typeof KEY_CONDITIONS)[number];
