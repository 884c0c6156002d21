import { plural, t } from '@lingui/core/macro';
import { FILTER_ACTIONS } from '../../../../src/kernel/facts/filter-types.ts';
import type { AuditLog } from '../../api/schema.ts';
import { factText } from '../../parts/fact-text.ts';
import { formatDateTime, formatNumber } from '../../parts/format.ts';
import { planLabel } from '../../parts/plans.ts';
import { ACTION_LABELS } from '../filters/types.ts';

// Formatting of the details of audit log entries. Old entries may have another shape, so every value is checked.

type Detail = AuditLog['entries'][number]['detail'];

const isNumber = (value: unknown): value is number => typeof value === 'number';
const isNegative = (value: unknown): boolean => isNumber(value) && value < 0;
const text = (value: unknown): string => (typeof value === 'string' ? value : '?');
const numeral = (value: unknown): string => (isNumber(value) ? formatNumber(value) : '?');
const quoted = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? `“${value}”` : null);
const asRole = (role: unknown): string | null => (typeof role === 'string' ? t`as ${factText(role)}` : null);
const creditsOf = (value: unknown): string | null =>
  isNumber(value) ? plural(value, { one: '# credit', other: '# credits' }) : null;
const ending = (lastFour: unknown): string | null => (typeof lastFour === 'string' ? t`ending in ${lastFour}` : null);
const joinParts = (parts: readonly (string | null)[]): string | null =>
  parts.filter((part) => part !== null).join(', ') || null;

const planName = (plan: unknown): string => planLabel(text(plan));
function retention(days: unknown): string {
  return isNumber(days) ? plural(days, { one: '# day', other: '# days' }) : t`the server default`;
}
function trusted(days: unknown): string {
  return isNumber(days) ? plural(days, { one: '# day', other: '# days' }) : t`not at all`;
}
function rateLimit(requests: unknown): string {
  return isNumber(requests) ? plural(requests, { one: '# request', other: '# requests' }) : t`the plan default`;
}
function granted({ credits, note }: Detail): string | null {
  return joinParts([
    isNumber(credits) ? plural(Math.abs(credits), { one: '# credit', other: '# credits' }) : null,
    quoted(note),
  ]);
}
function allowlist(ips: unknown): string {
  return Array.isArray(ips) && ips.length > 0 ? ips.map(text).join(', ') : t`any IP address`;
}
function grace(seconds: unknown, of: 'key' | 'secret' = 'key'): string | null {
  if (!isNumber(seconds)) return null;
  const isKey = of === 'key';
  if (seconds === 0) return isKey ? t`old key revoked immediately` : t`old secret revoked immediately`;
  const [size, more] =
    seconds % 86_400 === 0
      ? ([86_400, (n: number) => plural(n, { one: '# more day', other: '# more days' })] as const)
      : seconds % 3600 === 0
        ? ([3600, (n: number) => plural(n, { one: '# more hour', other: '# more hours' })] as const)
        : ([60, (n: number) => plural(n, { one: '# more minute', other: '# more minutes' })] as const);
  const time = more(Math.round(seconds / size));
  return isKey ? t`old key valid for ${time}` : t`old secret valid for ${time}`;
}
const expiry = (at: unknown): string => (isNumber(at) ? formatDateTime(new Date(at).toISOString()) : t`never`);
const scopeNames = (scopes: unknown): string => (Array.isArray(scopes) ? scopes.map(text).join(', ') : '?');
const monthly = (credits: unknown): string => creditsOf(credits) ?? 'unlimited';
const labelled = (label: string, part: string | null): string | null => (part === null ? null : `${label} ${part}`);

/** What a new key is limited to, beside its addresses. */
const keyLimits = ({ expires_at, scopes, monthly_credits }: Detail): (string | null)[] => [
  isNumber(expires_at) ? t`expires ${expiry(expires_at)}` : null,
  Array.isArray(scopes) ? t`scopes ${scopeNames(scopes)}` : null,
  isNumber(monthly_credits) ? t`${monthly(monthly_credits)} a month` : null,
];
function keyChange({ name, allow_ips, expires_at, scopes, monthly_credits }: Detail): string | null {
  return joinParts([
    change((value) => `“${text(value)}”`)(name),
    labelled('allowed', change(allowlist)(allow_ips)),
    labelled('expiry', change(expiry)(expires_at)),
    labelled('scopes', change(scopeNames)(scopes)),
    labelled(t`monthly budget`, change(monthly)(monthly_credits)),
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
    labelled(t`time limit`, change((ms) => t`${numeral(ms)} ms`)(timeout_ms)),
    labelled(t`rate limit`, change((calls) => (calls === null ? t`the default` : numeral(calls)))(rate_limit)),
  ]);
}

function actionOf(value: unknown): string | null {
  const action = FILTER_ACTIONS.find((one) => one === value);
  return action === undefined || action === 'block' ? null : ACTION_LABELS[action].does;
}
/** Of what does not just block. */
const filterSettings = ({ action, match, expires_at, reason }: Detail): string | null =>
  joinParts([
    actionOf(action),
    match === 'mailbox' ? t`every spelling of the mailbox` : null,
    isNumber(expires_at) ? t`expires ${expiry(expires_at)}` : null,
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
  password: t`with a password`,
  code: t`with a code`,
  recovery_code: t`with a recovery code`,
  passkey: t`with a passkey`,
  link: t`by a link`,
  oidc: t`with the OpenID provider`,
};
const factor = (name: unknown): string | null => FACTORS[typeof name === 'string' ? name : ''] ?? null;
const device = (name: unknown): string | null => (typeof name === 'string' ? name : null);

/** How users proved who they are, and where. `more`: of many different ones. */
function howAndWhere(detail: Detail): string | null {
  return joinParts([
    factor(detail.factor),
    typeof detail.reason === 'string' ? detail.reason : null,
    device(detail.device),
    detail.more === true ? t`from further addresses` : null,
  ]);
}
const passkeyAndDevice = (detail: Detail): string | null => joinParts([quoted(detail.passkey), device(detail.device)]);
/** Of events that share an entry. */
const repeated = ({ count, last_at }: AuditLog['entries'][number]): string | null =>
  count > 1 ? t`${formatNumber(count)} times, the last at ${formatDateTime(last_at)}` : null;

/** `from A to B`, each formatted. */
function change(format: (value: unknown) => string): (detail: unknown) => string | null {
  return (detail) => {
    if (typeof detail !== 'object' || detail === null) return null;
    const { from, to } = { from: undefined, to: undefined, ...detail };
    return t`from ${format(from)} to ${format(to)}`;
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
    title: t`Created the account`,
    details: ({ plan, credits }) => joinParts([planName(plan), creditsOf(credits)]),
  },
  'account.renamed': { title: t`Renamed the account`, details: change((name) => `“${text(name)}”`) },
  'account.retention_set': { title: t`Changed the retention period`, details: change(retention) },
  'account.trust_bounces_set': { title: t`Changed for how long bounces are trusted`, details: change(trusted) },
  'account.low_balance_set': {
    title: t`Changed the low-balance threshold`,
    details: change((credits) => creditsOf(credits) ?? 'none'),
  },
  'alerts.changed': {
    title: t`Changed the alerts by mail`,
    details: ({ paused }) => (paused === true ? 'paused' : null),
  },
  'account.plan_set': { title: t`Changed the plan`, details: change(planName) },
  'account.rate_limit_set': { title: t`Changed the rate limit`, details: change(rateLimit) },
  'account.suspended': { title: t`Suspended the account` },
  'account.resumed': { title: t`Resumed the account` },
  'account.second_factor_required': { title: t`Required a second factor of all members` },
  'account.second_factor_optional': { title: t`Made the second factor optional` },
  'account.operator_events_on': { title: t`Sent its webhooks the events of all accounts` },
  'account.operator_events_off': { title: t`Sent its webhooks only its own events` },
  'credits.granted': {
    title: ({ detail: { credits } }) => (isNegative(credits) ? t`Deducted credits` : t`Granted credits`),
    details: granted,
  },
  'key.created': {
    title: t`Created an API key`,
    details: (detail) =>
      joinParts([ending(detail.last_four), t`allowed from ${allowlist(detail.allow_ips)}`, ...keyLimits(detail)]),
  },
  'key.changed': { title: t`Edited an API key`, details: keyChange },
  'key.revoked': { title: t`Revoked an API key` },
  'key.rolled': { title: t`Rolled an API key`, details: ({ grace_seconds }) => grace(grace_seconds) },
  'filter.added': { title: t`Added a filter`, details: filterSettings },
  'filter.changed': { title: t`Edited a filter`, details: filterChange },
  'filter.removed': { title: t`Removed a filter`, details: filterSettings },
  'filters.imported': {
    title: t`Imported filters`,
    details: ({ added, given }) => t`${numeral(added)} of ${numeral(given)} lines added`,
  },
  'policy.created': { title: t`Created a policy`, details: policyChange },
  'policy.changed': { title: t`Changed a policy`, details: policyChange },
  'policy.deleted': { title: t`Deleted a policy` },
  'webhook.created': { title: t`Created a webhook` },
  'webhook.changed': { title: t`Edited a webhook`, details: webhookChange },
  'webhook.secret_rotated': { title: t`Rotated the secret of a webhook` },
  'webhook.disabled': {
    title: t`Disabled a webhook`,
    details: ({ reason }) => (reason === 'gone' ? t`it answered 410 (Gone)` : t`every attempt failed for days`),
  },
  'webhook.deleted': { title: t`Deleted a webhook` },
  'hook.created': { title: t`Created an auth hook`, details: ({ policy }) => labelled('policy', text(policy)) },
  'hook.changed': { title: t`Edited an auth hook`, details: hookChange },
  'hook.secret_rolled': {
    title: t`Rolled the secret of an auth hook`,
    details: ({ grace_seconds }) => grace(grace_seconds, 'secret'),
  },
  'hook.deleted': { title: t`Deleted an auth hook` },
  'outcome_source.created': {
    title: t`Connected a provider`,
    details: ({ provider }) => labelled('provider', text(provider)),
  },
  'outcome_source.secret_rolled': {
    title: t`Entered or rolled the secret of a provider`,
    details: ({ grace_seconds }) => grace(grace_seconds, 'secret'),
  },
  'outcome_source.deleted': { title: t`Disconnected a provider` },
  'scope.forgotten': {
    title: t`Forgot the mailboxes seen in a scope`,
    details: ({ forgotten }) =>
      isNumber(forgotten) ? plural(forgotten, { one: '# mailbox', other: '# mailboxes' }) : null,
  },
  'log.erased': {
    title: t`Erased an address from the log`,
    details: ({ erased }) => (isNumber(erased) ? plural(erased, { one: '# record', other: '# records' }) : null),
  },
  'privacy.exported': { title: t`Exported what is held about an address` },
  'list.created': {
    title: t`Uploaded a list`,
    details: ({ addresses }) =>
      isNumber(addresses) ? plural(addresses, { one: '# address', other: '# addresses' }) : null,
  },
  'list.started': { title: t`Started a list` },
  'list.paused': { title: t`Paused a list` },
  'list.resumed': { title: t`Resumed a list` },
  'list.cancelled': { title: t`Canceled a list` },
  'list.deleted': { title: t`Deleted a list` },
  'member.added': {
    title: ({ detail: { invited } }) => (invited === true ? t`Joined by invitation` : t`Added a member`),
    details: ({ role }) => asRole(role),
  },
  'member.role_changed': { title: t`Changed a role`, details: change(text) },
  'member.removed': {
    title: ({ actor, target }) => (actor.name === target ? t`Left the account` : t`Removed a member`),
    details: ({ role }) => asRole(role),
  },
  'member.invited': { title: t`Invited a member`, details: ({ role }) => asRole(role) },
  'invitation.withdrawn': { title: t`Revoked an invitation`, details: ({ role }) => asRole(role) },
  'user.signed_in': { title: t`Signed in`, details: howAndWhere },
  'user.signed_out': {
    title: ({ detail: { everywhere, others } }) => {
      if (typeof others === 'number')
        return t`Ended ${plural(others, { one: '# other session', other: '# other sessions' })}`;
      return everywhere === true ? t`Signed out everywhere` : t`Signed out`;
    },
    details: howAndWhere,
  },
  'user.authentication_failed': {
    title: ({ actor }) => (actor.kind === 'user' ? t`Failed to confirm their identity` : t`Failed sign-in attempt`),
    details: howAndWhere,
  },
  'user.authentication_blocked': { title: t`Too many attempts: blocked`, details: howAndWhere },
  'user.unlocked': { title: t`Lifted the sign-in limits` },
  'user.password_changed': { title: t`Changed the password`, details: howAndWhere },
  'user.password_reset': { title: t`Reset the password`, details: howAndWhere },
  'user.sign_in_link_created': { title: t`Created a sign-in link` },
  'user.oidc_linked': { title: t`Linked to a person at the OpenID provider`, details: howAndWhere },
  'user.oidc_unlinked': { title: t`Removed the link to the OpenID provider` },
  'user.password_link_created': { title: t`Created a password reset link` },
  'user.second_factor_enabled': { title: t`Turned on two-factor authentication`, details: howAndWhere },
  'user.second_factor_disabled': { title: t`Turned off two-factor authentication`, details: howAndWhere },
  'user.passkey_added': { title: t`Added a passkey`, details: passkeyAndDevice },
  'user.passkey_removed': { title: t`Removed a passkey`, details: passkeyAndDevice },
  'user.operator_granted': { title: t`Granted operator rights` },
  'user.operator_withdrawn': { title: t`Withdrew operator rights` },
  'operator_key.created': {
    title: t`Created an operator key`,
    details: ({ last_four, allow_ips }) => joinParts([ending(last_four), t`allowed from ${allowlist(allow_ips)}`]),
  },
  'operator_key.revoked': { title: t`Revoked an operator key` },
  'account.deleted': { title: t`Deleted an account` },
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
  key: (name) => t`API key ${name}`,
  operator_key: (name) => t`Operator key ${name}`,
  command: (name) => t`Command line (${name})`,
  service: () => t`System`,
  anonymous: () => t`Not signed in`,
};

export const describeActor = ({ actor: { kind, name } }: Entry): string => ACTORS[kind](name);
