import type { AuditLog } from '../../api/schema.ts';
import { humanize, pluralize } from '../../parts/format.ts';
import {
  allowlist,
  asRole,
  change,
  creditsOf,
  type Detail,
  ending,
  grace,
  granted,
  howAndWhere,
  isNegative,
  isNumber,
  joinParts,
  keyChange,
  keyLimits,
  numeral,
  passkeyAndDevice,
  planName,
  quoted,
  rateLimit,
  repeated,
  retention,
  text,
  webhookChange,
} from './event-details.ts';

export type Entry = AuditLog['entries'][number];
type Action = Entry['action'];

interface EventCopy {
  readonly title: string | ((entry: Entry) => string);
  readonly details?: (detail: Detail) => string | null;
}

const EVENTS: Readonly<Record<Action, EventCopy>> = {
  'account.created': {
    title: 'Created the account',
    details: ({ plan, credits }) => joinParts([planName(plan), creditsOf(credits)]),
  },
  'account.renamed': { title: 'Renamed the account', details: change((name) => `“${text(name)}”`) },
  'account.retention_set': { title: 'Changed the retention period', details: change(retention) },
  'account.low_balance_set': {
    title: 'Changed the low-balance threshold',
    details: change((credits) => creditsOf(credits) ?? 'none'),
  },
  'account.plan_set': { title: 'Changed the plan', details: change(planName) },
  'account.rate_limit_set': { title: 'Changed the rate limit', details: change(rateLimit) },
  'account.suspended': { title: 'Suspended the account' },
  'account.resumed': { title: 'Resumed the account' },
  'account.second_factor_required': { title: 'Required a second factor of all members' },
  'account.second_factor_optional': { title: 'Made the second factor optional' },
  'credits.granted': {
    title: ({ detail: { credits } }) => (isNegative(credits) ? 'Deducted credits' : 'Granted credits'),
    details: granted,
  },
  'key.created': {
    title: 'Created an API key',
    details: (detail) =>
      joinParts([ending(detail.last_four), `allowed from ${allowlist(detail.allow_ips)}`, ...keyLimits(detail)]),
  },
  'key.changed': { title: 'Edited an API key', details: keyChange },
  'key.revoked': { title: 'Revoked an API key' },
  'key.rolled': { title: 'Rolled an API key', details: ({ grace_seconds }) => grace(grace_seconds) },
  'filter.added': { title: 'Added a filter', details: ({ reason }) => quoted(reason) },
  'filter.removed': { title: 'Removed a filter', details: ({ reason }) => quoted(reason) },
  'filters.imported': {
    title: 'Imported filters',
    details: ({ added, given }) => `${numeral(added)} of ${numeral(given)} lines added`,
  },
  'webhook.created': { title: 'Created a webhook' },
  'webhook.changed': { title: 'Edited a webhook', details: webhookChange },
  'webhook.secret_rotated': { title: 'Rotated the secret of a webhook' },
  'webhook.disabled': {
    title: 'Disabled a webhook',
    details: ({ reason }) => (reason === 'gone' ? 'it answered 410 (Gone)' : 'every attempt failed for days'),
  },
  'webhook.deleted': { title: 'Deleted a webhook' },
  'log.erased': {
    title: 'Erased an address from the log',
    details: ({ erased }) => (isNumber(erased) ? pluralize(erased, 'record') : null),
  },
  'list.created': {
    title: 'Uploaded a list',
    details: ({ addresses }) => (isNumber(addresses) ? pluralize(addresses, 'address', 'addresses') : null),
  },
  'list.started': { title: 'Started a list' },
  'list.paused': { title: 'Paused a list' },
  'list.resumed': { title: 'Resumed a list' },
  'list.cancelled': { title: 'Canceled a list' },
  'list.deleted': { title: 'Deleted a list' },
  'member.added': {
    title: ({ detail: { invited } }) => (invited === true ? 'Joined by invitation' : 'Added a member'),
    details: ({ role }) => asRole(role),
  },
  'member.role_changed': { title: 'Changed a role', details: change(text) },
  'member.removed': {
    title: ({ actor, target }) => (actor.name === target ? 'Left the account' : 'Removed a member'),
    details: ({ role }) => asRole(role),
  },
  'member.invited': { title: 'Invited a member', details: ({ role }) => asRole(role) },
  'invitation.withdrawn': { title: 'Revoked an invitation', details: ({ role }) => asRole(role) },
  'user.signed_in': { title: 'Signed in', details: howAndWhere },
  'user.signed_out': {
    title: ({ detail: { everywhere, others } }) => {
      if (typeof others === 'number') return `Ended ${pluralize(others, 'other session')}`;
      return everywhere === true ? 'Signed out everywhere' : 'Signed out';
    },
    details: howAndWhere,
  },
  'user.authentication_failed': {
    title: ({ actor }) => (actor.kind === 'user' ? 'Failed to confirm their identity' : 'Failed sign-in attempt'),
    details: howAndWhere,
  },
  'user.authentication_blocked': { title: 'Too many attempts: blocked', details: howAndWhere },
  'user.unlocked': { title: 'Lifted the sign-in limits' },
  'user.password_changed': { title: 'Changed the password', details: howAndWhere },
  'user.password_reset': { title: 'Reset the password', details: howAndWhere },
  'user.password_link_created': { title: 'Created a password reset link' },
  'user.second_factor_enabled': { title: 'Turned on two-factor authentication', details: howAndWhere },
  'user.second_factor_disabled': { title: 'Turned off two-factor authentication', details: howAndWhere },
  'user.passkey_added': { title: 'Added a passkey', details: passkeyAndDevice },
  'user.passkey_removed': { title: 'Removed a passkey', details: passkeyAndDevice },
  'user.operator_granted': { title: 'Granted operator rights' },
  'user.operator_withdrawn': { title: 'Withdrew operator rights' },
};

/** An audit log entry as text; `details` is null if there is nothing to add. */
export function describeEvent(entry: Entry): { title: string; details: string | null } {
  const { action, detail } = entry;
  // A page that was loaded before an upgrade may meet an action that it does not know.
  if (!Object.hasOwn(EVENTS, action)) return { title: humanize(action.replace('.', ' ')), details: null };
  const { title, details } = EVENTS[action];
  return {
    title: typeof title === 'string' ? title : title(entry),
    details: joinParts([details?.(detail) ?? null, repeated(entry)]),
  };
}

const ACTORS: Readonly<Record<Entry['actor']['kind'], (name: string) => string>> = {
  user: (name) => name,
  operator: (name) => `${name} (operator)`,
  key: (name) => `API key ${name}`,
  command: (name) => `Command line (${name})`,
  service: () => 'System',
  anonymous: () => 'Not signed in',
};

export const describeActor = ({ actor: { kind, name } }: Entry): string => ACTORS[kind](name);
