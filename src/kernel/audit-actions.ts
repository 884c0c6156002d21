/** The events of the audit log, as `<noun>.<verb>`. Stored and part of the API: never rename one. */
export const AUDIT_ACTIONS = [
  'account.created',
  'account.renamed',
  'account.retention_set',
  'account.low_balance_set',
  'account.plan_set',
  'account.rate_limit_set',
  'account.suspended',
  'account.resumed',
  'account.second_factor_required',
  'account.second_factor_optional',
  'credits.granted',
  'key.created',
  'key.changed',
  'key.revoked',
  'key.rolled',
  'filter.added',
  'filter.removed',
  'filters.imported',
  'log.erased',
  'member.added',
  'member.role_changed',
  'member.removed',
  'member.invited',
  'invitation.withdrawn',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who acted: a user, an operator, an API key, the command line or the service itself. */
export const ACTOR_KINDS = ['user', 'operator', 'key', 'command', 'service'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];
