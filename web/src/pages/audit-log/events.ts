import type { AuditLog } from '../../api/schema.ts';
import { formatDateTime, formatNumber, pluralize } from '../../parts/format.ts';
import { planLabel } from '../../parts/plans.ts';

// Formatting of the details of audit log entries. Old entries may have another shape, so every value is checked.

type Detail = AuditLog['entries'][number]['detail'];

const isNumber = (value: unknown): value is number => typeof value === 'number';
const isNegative = (value: unknown): boolean => isNumber(value) && value < 0;
const text = (value: unknown): string => (typeof value === 'string' ? value : '?');
const numeral = (value: unknown): string => (isNumber(value) ? formatNumber(value) : '?');
const quoted = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? `“${value}”` : null);
const asRole = (role: unknown): string | null => (typeof role === 'string' ? `as ${role}` : null);
const creditsOf = (value: unknown): string | null => (isNumber(value) ? pluralize(value, 'credit') : null);
const ending = (lastFour: unknown): string | null => (typeof lastFour === 'string' ? `ending in ${lastFour}` : null);
const joinParts = (parts: readonly (string | null)[]): string | null =>
  parts.filter((part) => part !== null).join(', ') || null;

const planName = (plan: unknown): string => planLabel(text(plan));
function retention(days: unknown): string {
  return isNumber(days) ? pluralize(days, 'day') : 'the server default';
}
function trusted(days: unknown): string {
  return isNumber(days) ? pluralize(days, 'day') : 'not at all';
}
function rateLimit(requests: unknown): string {
  return isNumber(requests) ? pluralize(requests, 'request') : 'the plan default';
}
function granted({ credits, note }: Detail): string | null {
  return joinParts([isNumber(credits) ? pluralize(Math.abs(credits), 'credit') : null, quoted(note)]);
}
function allowlist(ips: unknown): string {
  return Array.isArray(ips) && ips.length > 0 ? ips.map(text).join(', ') : 'any IP address';
}
function grace(seconds: unknown, of: 'key' | 'secret' = 'key'): string | null {
  if (!isNumber(seconds)) return null;
  if (seconds === 0) return `old ${of} revoked immediately`;
  const [size, unit] =
    seconds % 86_400 === 0
      ? ([86_400, 'day'] as const)
      : seconds % 3600 === 0
        ? ([3600, 'hour'] as const)
        : ([60, 'minute'] as const);
  return `old ${of} valid for ${pluralize(Math.round(seconds / size), `more ${unit}`)}`;
}
const expiry = (at: unknown): string => (isNumber(at) ? formatDateTime(new Date(at).toISOString()) : 'never');
const scopeNames = (scopes: unknown): string => (Array.isArray(scopes) ? scopes.map(text).join(', ') : '?');
const monthly = (credits: unknown): string => creditsOf(credits) ?? 'unlimited';
const labelled = (label: string, part: string | null): string | null => (part === null ? null : `${label} ${part}`);

/** What a new key is limited to, beside its addresses. */
const keyLimits = ({ expires_at, scopes, monthly_credits }: Detail): (string | null)[] => [
  isNumber(expires_at) ? `expires ${expiry(expires_at)}` : null,
  Array.isArray(scopes) ? `scopes ${scopeNames(scopes)}` : null,
  isNumber(monthly_credits) ? `${monthly(monthly_credits)} a month` : null,
];
function keyChange({ name, allow_ips, expires_at, scopes, monthly_credits }: Detail): string | null {
  return joinParts([
    change((value) => `“${text(value)}”`)(name),
    labelled('allowed', change(allowlist)(allow_ips)),
    labelled('expiry', change(expiry)(expires_at)),
    labelled('scopes', change(scopeNames)(scopes)),
    labelled('monthly budget', change(monthly)(monthly_credits)),
  ]);
}

const onOff = (enabled: unknown): string => (enabled === true ? 'enabled' : 'disabled');
function webhookChange({ url, events, description, enabled }: Detail): string | null {
  return joinParts([
    labelled('URL', change(text)(url)),
    labelled('events', change(scopeNames)(events)),
    labelled('description', change((value) => quoted(value) ?? 'none')(description)),
    change(onOff)(enabled),
  ]);
}

/** Rules by their names: `signals.role from accept to reject`. */
function policyChange({ changes }: Detail): string | null {
  if (typeof changes !== 'object' || changes === null) return null;
  const value = (of: unknown) => (isNumber(of) ? formatNumber(of) : (quoted(of) ?? 'none'));
  return joinParts(Object.entries(changes).map(([name, of]) => labelled(name, change(value)(of))));
}

function hookChange({ name, policy, scope, timeout_ms, rate_limit }: Detail): string | null {
  return joinParts([
    change((value) => `“${text(value)}”`)(name),
    labelled('policy', change(text)(policy)),
    labelled('scope', change((value) => quoted(value) ?? 'none')(scope)),
    labelled('time limit', change((ms) => `${numeral(ms)} ms`)(timeout_ms)),
    labelled('rate limit', change((calls) => (calls === null ? 'the default' : numeral(calls)))(rate_limit)),
  ]);
}

/** Of what does not just block. */
const filterSettings = ({ action, match, expires_at, reason }: Detail): string | null =>
  joinParts([
    action === 'allow' ? 'allows' : null,
    match === 'mailbox' ? 'every spelling of the mailbox' : null,
    isNumber(expires_at) ? `expires ${expiry(expires_at)}` : null,
    quoted(reason),
  ]);
function filterChange({ action, match, value, expires_at, reason }: Detail): string | null {
  return joinParts([
    labelled('action', change(text)(action)),
    labelled('match', change(text)(match)),
    labelled('value', change(text)(value)),
    labelled('expiry', change(expiry)(expires_at)),
    labelled('reason', change((note) => quoted(note) ?? 'none')(reason)),
  ]);
}

const FACTORS: Readonly<Record<string, string>> = {
  password: 'with a password',
  code: 'with a code',
  recovery_code: 'with a recovery code',
  passkey: 'with a passkey',
  link: 'by a link',
  oidc: 'with the OpenID provider',
};
const factor = (name: unknown): string | null => FACTORS[typeof name === 'string' ? name : ''] ?? null;
const device = (name: unknown): string | null => (typeof name === 'string' ? name : null);

/** How users proved who they are, and where. `more`: of many different ones. */
function howAndWhere(detail: Detail): string | null {
  return joinParts([
    factor(detail.factor),
    typeof detail.reason === 'string' ? detail.reason : null,
    device(detail.device),
    detail.more === true ? 'from further addresses' : null,
  ]);
}
const passkeyAndDevice = (detail: Detail): string | null => joinParts([quoted(detail.passkey), device(detail.device)]);
/** Of events that share an entry. */
const repeated = ({ count, last_at }: AuditLog['entries'][number]): string | null =>
  count > 1 ? `${formatNumber(count)} times, the last at ${formatDateTime(last_at)}` : null;

/** `from A to B`, each formatted. */
function change(format: (value: unknown) => string): (detail: unknown) => string | null {
  return (detail) => {
    if (typeof detail !== 'object' || detail === null) return null;
    const { from, to } = { from: undefined, to: undefined, ...detail };
    return `from ${format(from)} to ${format(to)}`;
  };
}

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
  'account.trust_bounces_set': { title: 'Changed for how long bounces are trusted', details: change(trusted) },
  'account.low_balance_set': {
    title: 'Changed the low-balance threshold',
    details: change((credits) => creditsOf(credits) ?? 'none'),
  },
  'alerts.changed': {
    title: 'Changed the alerts by mail',
    details: ({ paused }) => (paused === true ? 'paused' : null),
  },
  'account.plan_set': { title: 'Changed the plan', details: change(planName) },
  'account.rate_limit_set': { title: 'Changed the rate limit', details: change(rateLimit) },
  'account.suspended': { title: 'Suspended the account' },
  'account.resumed': { title: 'Resumed the account' },
  'account.second_factor_required': { title: 'Required a second factor of all members' },
  'account.second_factor_optional': { title: 'Made the second factor optional' },
  'account.operator_events_on': { title: 'Sent its webhooks the events of all accounts' },
  'account.operator_events_off': { title: 'Sent its webhooks only its own events' },
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
  'filter.added': { title: 'Added a filter', details: filterSettings },
  'filter.changed': { title: 'Edited a filter', details: filterChange },
  'filter.removed': { title: 'Removed a filter', details: filterSettings },
  'filters.imported': {
    title: 'Imported filters',
    details: ({ added, given }) => `${numeral(added)} of ${numeral(given)} lines added`,
  },
  'policy.created': { title: 'Created a policy', details: policyChange },
  'policy.changed': { title: 'Changed a policy', details: policyChange },
  'policy.deleted': { title: 'Deleted a policy' },
  'webhook.created': { title: 'Created a webhook' },
  'webhook.changed': { title: 'Edited a webhook', details: webhookChange },
  'webhook.secret_rotated': { title: 'Rotated the secret of a webhook' },
  'webhook.disabled': {
    title: 'Disabled a webhook',
    details: ({ reason }) => (reason === 'gone' ? 'it answered 410 (Gone)' : 'every attempt failed for days'),
  },
  'webhook.deleted': { title: 'Deleted a webhook' },
  'hook.created': { title: 'Created an auth hook', details: ({ policy }) => labelled('policy', text(policy)) },
  'hook.changed': { title: 'Edited an auth hook', details: hookChange },
  'hook.secret_rolled': {
    title: 'Rolled the secret of an auth hook',
    details: ({ grace_seconds }) => grace(grace_seconds, 'secret'),
  },
  'hook.deleted': { title: 'Deleted an auth hook' },
  'outcome_source.created': {
    title: 'Connected a provider',
    details: ({ provider }) => labelled('provider', text(provider)),
  },
  'outcome_source.secret_rolled': {
    title: 'Entered or rolled the secret of a provider',
    details: ({ grace_seconds }) => grace(grace_seconds, 'secret'),
  },
  'outcome_source.deleted': { title: 'Disconnected a provider' },
  'scope.forgotten': {
    title: 'Forgot the mailboxes seen in a scope',
    details: ({ forgotten }) => (isNumber(forgotten) ? pluralize(forgotten, 'mailbox', 'mailboxes') : null),
  },
  'log.erased': {
    title: 'Erased an address from the log',
    details: ({ erased }) => (isNumber(erased) ? pluralize(erased, 'record') : null),
  },
  'privacy.exported': { title: 'Exported what is held about an address' },
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
  'user.sign_in_link_created': { title: 'Created a sign-in link' },
  'user.oidc_linked': { title: 'Linked to a person at the OpenID provider', details: howAndWhere },
  'user.oidc_unlinked': { title: 'Removed the link to the OpenID provider' },
  'user.password_link_created': { title: 'Created a password reset link' },
  'user.second_factor_enabled': { title: 'Turned on two-factor authentication', details: howAndWhere },
  'user.second_factor_disabled': { title: 'Turned off two-factor authentication', details: howAndWhere },
  'user.passkey_added': { title: 'Added a passkey', details: passkeyAndDevice },
  'user.passkey_removed': { title: 'Removed a passkey', details: passkeyAndDevice },
  'user.operator_granted': { title: 'Granted operator rights' },
  'user.operator_withdrawn': { title: 'Withdrew operator rights' },
  'operator_key.created': {
    title: 'Created an operator key',
    details: ({ last_four, allow_ips }) => joinParts([ending(last_four), `allowed from ${allowlist(allow_ips)}`]),
  },
  'operator_key.revoked': { title: 'Revoked an operator key' },
  'account.deleted': { title: 'Deleted an account' },
};

/** An audit log entry as text; `details` is null if there is nothing to add. */
export function describeEvent(entry: Entry): { title: string; details: string | null } {
  const { action, detail } = entry;
  // A page that was loaded before an upgrade may meet an action that it does not know.
  if (!Object.hasOwn(EVENTS, action)) return { title: action, details: null };
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
  operator_key: (name) => `Operator key ${name}`,
  command: (name) => `Command line (${name})`,
  service: () => 'System',
  anonymous: () => 'Not signed in',
};

export const describeActor = ({ actor: { kind, name } }: Entry): string => ACTORS[kind](name);
