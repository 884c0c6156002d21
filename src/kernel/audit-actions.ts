/** What happens to an account, as `<noun>.<verb>`. Stored and part of the API: never rename one. */
const ACCOUNT_ACTIONS = [
  'account.created',
  'account.renamed',
  'account.retention_set',
  'account.trust_bounces_set',
  'account.low_balance_set',
  'alerts.changed',
  'account.plan_set',
  'account.rate_limit_set',
  'account.suspended',
  'account.resumed',
  'account.second_factor_required',
  'account.second_factor_optional',
  'account.operator_events_on',
  'account.operator_events_off',
  'credits.granted',
  'key.created',
  'key.changed',
  'key.revoked',
  'key.rolled',
  'filter.added',
  'filter.changed',
  'filter.removed',
  'filters.imported',
  'policy.created',
  'policy.changed',
  'policy.deleted',
  'webhook.created',
  'webhook.changed',
  'webhook.secret_rotated',
  /** The service does this after 410 or days of failures. */
  'webhook.disabled',
  'webhook.deleted',
  'hook.created',
  'hook.changed',
  'hook.secret_rolled',
  'hook.deleted',
  'outcome_source.created',
  'outcome_source.secret_rolled',
  'outcome_source.deleted',
  'log.erased',
  'privacy.exported',
  'scope.forgotten',
  'list.created',
  'list.started',
  'list.paused',
  'list.resumed',
  'list.cancelled',
  'list.deleted',
  'member.added',
  'member.role_changed',
  'member.removed',
  'member.invited',
  'invitation.withdrawn',
] as const;

/** What happens to a user, whatever their accounts: in the log of each account that they are a member of. Likewise. */
export const USER_ACTIONS = [
  'user.signed_in',
  'user.signed_out',
  /** The password, code or passkey was wrong. */
  'user.authentication_failed',
  /** There were too many of them: it was refused without a look at the password or code. */
  'user.authentication_blocked',
  /** The action links a person to the OpenID provider, and the next one unlinks them. */
  'user.oidc_linked',
  'user.oidc_unlinked',
  'user.unlocked',
  'user.password_changed',
  /** A link or the operator has reset it. */
  'user.password_reset',
  'user.password_link_created',
  'user.sign_in_link_created',
  'user.second_factor_enabled',
  'user.second_factor_disabled',
  'user.passkey_added',
  'user.passkey_removed',
  'user.operator_granted',
  'user.operator_withdrawn',
] as const;
export type UserAction = (typeof USER_ACTIONS)[number];

/** What happens to the service itself, in the log of its operators. Likewise. */
export const SERVICE_ACTIONS = ['operator_key.created', 'operator_key.revoked', 'account.deleted'] as const;

export const AUDIT_ACTIONS = [...ACCOUNT_ACTIONS, ...USER_ACTIONS, ...SERVICE_ACTIONS] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What an entry is about. */
export const AUDIT_SUBJECTS = ['account', 'user'] as const;
export type AuditSubject = (typeof AUDIT_SUBJECTS)[number];

/**
 * Who acted: a user, an operator, an API key, an operator key, the command line, the service itself, or someone who is
 * not signed in.
 */
export const ACTOR_KINDS = ['user', 'operator', 'key', 'operator_key', 'command', 'service', 'anonymous'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** How users prove who they are. */
export type Factor = 'password' | 'code' | 'recovery_code' | 'passkey' | 'link' | 'oidc';

/** What a session alone is not enough for: users also prove that it is they who are there. */
export const CONFIRMED_ACTIONS = ['set_up_totp', 'remove_totp', 'add_passkey', 'delete_account'] as const;
export type ConfirmedAction = (typeof CONFIRMED_ACTIONS)[number];
